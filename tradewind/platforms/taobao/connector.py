"""Implements the connector contract for Taobao Global."""

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from time import time
from typing import NoReturn, TypeVar

from tradewind import money
from tradewind.platforms import model
from tradewind.platforms.access import GetAccess
from tradewind.platforms.contract import Traits
from tradewind.platforms.failures import PlatformFailure, Reason, Rejected, Unavailable
from tradewind.platforms.fan_out import fan_out
from tradewind.platforms.paced_client import PacedClient
from tradewind.platforms.taobao import baskets, gateway, notices, payments, products
from tradewind.platforms.taobao.errors import PLATFORM, reason_of
from tradewind.platforms.taobao.gateway import Now, TaobaoGateway
from tradewind.platforms.taobao.orders import OrderReader
from tradewind.platforms.taobao.products import ITEM_PAGE, Hits, ItemListing

T = TypeVar("T")

_BUILDING_SECONDS = 2.0
_CANCEL_REASON = "cancelled by the buyer"
_ID = re.compile(r"[1-9][0-9]{0,18}")


class TaobaoConnector:
    """Taobao Global. `item_page` is the URL of a product's page without its id."""

    def __init__(
        self,
        traits: Traits,
        client: PacedClient,
        get_access: GetAccess,
        *,
        now: Now = time,
        item_page: str = ITEM_PAGE,
    ) -> None:
        self.traits = traits
        self._gateway = TaobaoGateway(client, get_access, now)
        self._orders = OrderReader(self._gateway)
        self._item_page = item_page

    async def search(self, query: model.Query) -> model.SearchPage:
        """Read a page of any size.

        The marketplace states no total. On a page with products, `total` is a lower bound. On an
        empty page it is exact: the last page with products is searched for.
        """
        span = products.span_of(query.page, query.size)
        numbers = range(span.first, span.last + 1)
        pages = await fan_out(partial(self._hits, query, no, span.page_size) for no in numbers)
        parts = [page.offers for page in pages]
        hits, more = products.join_pages(parts, span, query.size)
        total = pages[0].total
        if total is None and hits:
            # One more than were read while more may follow, so that there is a next page.
            total = (query.page - 1) * query.size + len(hits) + more
        elif total is None:
            total = await self._count_before(query, span.first, span.page_size, len(parts[0]))
        offers = tuple(offer for offer in hits if offer is not None)
        return model.SearchPage(offers, total, query.page, query.size)

    async def _count_before(
        self, query: model.Query, page_no: int, page_size: int, on_this_page: int
    ) -> int:
        """Count all results of a search that ends at this page or before it.

        This takes one call if the page before it has results, otherwise a binary search.
        """
        if on_this_page:
            return (page_no - 1) * page_size + on_this_page
        full, empty = 0, page_no  # the last page that is full, the first that is empty
        probe = page_no - 1
        while empty - full > 1:
            number = len((await self._hits(query, probe, page_size)).offers)
            if 0 < number < page_size:
                return (probe - 1) * page_size + number
            full, empty = (probe, empty) if number else (full, probe)
            probe = (full + empty) // 2
        return full * page_size

    async def _hits(self, query: model.Query, page_no: int, page_size: int) -> Hits:
        params = products.search_params(query, page_no, page_size)
        read = partial(products.hits, item_page=self._item_page)
        return await self._gateway.call(gateway.SEARCH, params, read)

    async def upload_image(self, image: bytes) -> str:
        params = products.upload_params(image)
        return await self._gateway.call(gateway.UPLOAD_IMAGE, params, products.uploaded_image)

    async def search_by_image(self, query: model.Query) -> model.SearchPage:
        params = products.image_search_params(query)
        read = partial(products.similar_hits, item_page=self._item_page)
        similar = await self._gateway.call(gateway.IMAGE_SEARCH, params, read)
        return products.image_search_page(similar, query)

    async def detail(self, product_id: str, lang: str) -> model.Product:
        """Read the translated product; another operation has its minimum quantity."""
        if not _is_id(product_id):
            raise _no_product(product_id)
        params = {"item_resource": "taobao", "item_id": product_id, **products.language(lang)}
        read = partial(products.product, product_id=product_id, item_page=self._item_page)
        detail = self._gateway.call(gateway.DETAIL, params, _existing(read))
        product, minimum = await asyncio.gather(detail, self._min_order_quantity(product_id))
        if minimum is None:
            return product
        return replace(product, offer=replace(product.offer, min_order_quantity=minimum))

    async def _min_order_quantity(self, product_id: str) -> int | None:
        """Return None when it cannot be read: the product is useful without it."""
        try:
            listing = await self._listing(product_id)
        except PlatformFailure:
            return None
        return listing.min_order_quantity if isinstance(listing, ItemListing) else None

    async def _listing(self, product_id: str) -> ItemListing | Rejected:
        """Read the ids that orders use for a product, or why it cannot be ordered."""
        if not _is_id(product_id):
            return _no_product(product_id)
        try:
            read = _existing(partial(products.listing, product_id=product_id))
            return await self._gateway.call(gateway.LISTING, {"item_id": product_id}, read)
        except Rejected as error:
            return error

    async def _listings(
        self, lines: Sequence[model.Line]
    ) -> tuple[Mapping[str, ItemListing], Mapping[str, Rejected]]:
        ids = list(dict.fromkeys(line.product_id for line in lines))
        results = await fan_out(partial(self._listing, product_id) for product_id in ids)
        pairs = list(zip(ids, results, strict=True))
        listings = {id_: result for id_, result in pairs if isinstance(result, ItemListing)}
        return listings, {id_: result for id_, result in pairs if isinstance(result, Rejected)}

    async def preview(self, lines: Sequence[model.Line], address: model.Address) -> model.Preview:
        """Price the lines that can be bought, and list the others with their reasons."""
        listings, rejected = await self._listings(lines)
        return await self._render(lines, address, listings, rejected)

    async def _render(
        self,
        lines: Sequence[model.Line],
        address: model.Address,
        listings: Mapping[str, ItemListing],
        rejected: Mapping[str, Rejected],
    ) -> model.Preview:
        missing = [
            model.UnavailableLine(line.product_id, line.sku_id, _reason(rejected[line.product_id]))
            for line in lines
            if line.product_id in rejected
        ]
        listed = [line for line in lines if line.product_id in listings]
        orderable = [line for line in listed if baskets.has_sku(line, listings[line.product_id])]
        missing += [
            model.UnavailableLine(line.product_id, line.sku_id, Reason.NOT_FOUND)
            for line in listed
            if line not in orderable
        ]
        if not orderable:
            return model.Preview((), 0, tuple(missing))
        params = baskets.render_params(orderable, address, listings)
        read = partial(baskets.preview, lines=orderable, listings=listings, missing=missing)
        return await self._gateway.call(gateway.PREVIEW, params, read)

    async def create(self, request: model.OrderRequest) -> model.Placed:
        """Place the order for at most its expected total, or for at most what it costs now.

        The marketplace creates a reference's orders once, however often the call is made. We do
        not rely on that: an unknown outcome is OutcomeUnknown all the same.
        """
        for line in request.lines:
            if not _is_id(line.product_id):
                raise _no_product(line.product_id)
        listings, rejected = await self._listings(request.lines)
        for error in rejected.values():
            raise Rejected(PLATFORM, error.code, error.message, reason=_reason(error))
        for line in request.lines:
            if not baskets.has_sku(line, listings[line.product_id]):
                message = f"Product {line.product_id} has no variant {line.sku_id}."
                raise Rejected(PLATFORM, "SKU_NOT_FOUND", message, reason=Reason.NOT_FOUND)
        limit = request.expected_total_fen
        if limit is None:
            limit = await self._cost(request, listings)
        params = baskets.create_params(request, listings, limit)
        try:
            return await self._gateway.call(gateway.CREATE, params, baskets.placed)
        except Rejected as rejection:
            if rejection.reason is Reason.PRICE_CHANGED:  # the marketplace's message is in fen
                message = f"The order costs more than {money.text(limit)} now."
                raise Rejected(PLATFORM, rejection.code, message, reason=rejection.reason) from None
            raise

    async def _cost(self, request: model.OrderRequest, listings: Mapping[str, ItemListing]) -> int:
        preview = await self._render(request.lines, request.address, listings, {})
        for line in preview.unavailable:
            message = f"Product {line.product_id} cannot be bought."
            raise Rejected(PLATFORM, "unavailable", message, reason=line.reason)
        return preview.total_fen

    async def read_one(self, order_id: str) -> model.PlatformOrder:
        (order,) = await self._orders.with_refunds([await self._orders.by_id(order_id)])
        return order

    async def read_many(self, order_ids: Sequence[str]) -> Sequence[model.PlatformOrder]:
        return await self._orders.with_refunds(await self._orders.by_ids(order_ids))

    async def modified_between(
        self, since: datetime, until: datetime, page: int
    ) -> tuple[Sequence[model.PlatformOrder], bool]:
        """Read the orders, the oldest change first.

        An order that changes between two reads moves to the end, and the next order moves to the
        page before, where it is missed. So windows must overlap or restart at the last change.
        """
        listed, more = await self._orders.changed(since, until, page)
        return await self._orders.with_refunds(listed), more

    async def find_by_reference(self, reference: str) -> Sequence[model.PlatformOrder]:
        return await self._orders.with_refunds(await self._orders.by_reference(reference))

    async def refunds(self, order_id: str) -> Sequence[model.Refund]:
        """Read the refunds that the order names: the latest of each of its lines."""
        return await self._orders.refunds(await self._orders.by_id(order_id))

    async def cancel(self, order_id: str) -> model.CancelState:
        """Request the cancellation; only the order shows whether it was carried out."""
        params = {"purchase_id": order_id, "cancel_reason": _CANCEL_REASON}
        return await self._gateway.call(
            gateway.CANCEL, params, lambda _: model.CancelState.REQUESTED
        )

    async def pay(self, order_id: str, amount_fen: int, operation_id: str) -> model.Payment:
        """Pay the order from the buyer's balance.

        The marketplace takes neither an amount nor an operation id. So the order is read first,
        and paid only if it costs `amount_fen`; the marketplace debits an order once.
        """
        current = await self._orders.by_id(order_id)
        if current.payment.state is model.PaymentState.PAID:
            return current.payment
        if current.order.status is model.PlatformOrderStatus.CREATING:
            message = "The order is still being created."
            raise Unavailable(
                PLATFORM, current.order.raw_status, message, retry_after=_BUILDING_SECONDS
            )
        if current.order.payment is model.PaymentState.CLOSED:
            message = "The order was closed unpaid."
            raise Rejected(PLATFORM, current.order.raw_status, message, reason=Reason.WRONG_STATE)
        if current.order.total_fen != amount_fen:
            total = money.text(current.order.total_fen)
            message = f"The order costs {total}, not {money.text(amount_fen)}."
            raise Rejected(PLATFORM, "amount_changed", message, reason=Reason.PRICE_CHANGED)
        params = {"purchaseOrderIdList": f"[{order_id}]"}
        read = partial(payments.payment, order_id=order_id)
        paid = await self._gateway.call(gateway.PAY, params, read)
        if paid.code == "ORDER_ALREADY_PAID":
            return await self.find_payment(order_id, operation_id)
        if paid.state is model.PaymentState.FAILED:
            code = paid.code or "no_code"
            message = paid.message or "The marketplace rejected the payment and gave no reason."
            raise Rejected(PLATFORM, code, message, reason=reason_of(code, message))
        return paid

    async def pay_link(self, order_ids: Sequence[str]) -> str:  # noqa: ARG002
        _not_offered("A payment page is only shown when an order is created.")

    async def find_payment(self, order_id: str, operation_id: str) -> model.Payment:  # noqa: ARG002
        """Look at the order: it has at most one payment."""
        return (await self._orders.by_id(order_id)).payment

    async def refund(self, request: model.RefundRequest) -> str:  # noqa: ARG002
        _not_offered("Refunds are requested on the marketplace's own pages.")

    def read_notice(
        self, headers: Mapping[str, str], body: bytes, app_key: str, app_secret: str
    ) -> model.Notice:
        return notices.read(app_key, app_secret, headers, body)


def _existing(read: Callable[[object], T]) -> Callable[[object], T]:
    """Wrap `read`: a successful response without data means that there is no product."""

    def read_existing(data: object) -> T:
        if data is None:
            raise _no_product("of this id")
        return read(data)

    return read_existing


def _is_id(product_id: str) -> bool:
    """Whether this can be an id: others are rejected as bad parameters."""
    return _ID.fullmatch(product_id) is not None


def _no_product(product_id: str) -> Rejected:
    message = f"There is no product {product_id}."
    return Rejected(PLATFORM, "ITEM_NOT_FOUND", message, reason=Reason.NOT_FOUND)


def _reason(error: Rejected) -> Reason:
    """Return why a line cannot be bought: a product that does not exist is not for sale."""
    return Reason.NOT_FOR_SALE if error.reason is Reason.NOT_FOUND else error.reason


def _not_offered(message: str) -> NoReturn:
    raise Rejected(PLATFORM, "not_supported", message, reason=Reason.NOT_SUPPORTED)
