"""The connector: every operation of the contract, spoken to Taobao Global."""

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from time import time
from typing import Any, NoReturn, TypeVar

from tradewind import money
from tradewind.platforms.access import GetAccess
from tradewind.platforms.contract import Traits
from tradewind.platforms.failures import PlatformFailure, Reason, Rejected, Unavailable
from tradewind.platforms.model import (
    Address,
    CancelState,
    Line,
    Notice,
    OrderRequest,
    Payment,
    PaymentState,
    Placed,
    PlatformOrder,
    Preview,
    Product,
    Query,
    Refund,
    RefundRequest,
    SearchPage,
    Status,
    UnavailableLine,
)
from tradewind.platforms.paced_client import PacedClient
from tradewind.platforms.taobao import baskets, notices, payments, products
from tradewind.platforms.taobao.errors import PLATFORM, reason_of
from tradewind.platforms.taobao.gateway import Now, TaobaoGateway, together
from tradewind.platforms.taobao.orders import OrderReader
from tradewind.platforms.taobao.products import ITEM_PAGE, Hits, ItemListing

T = TypeVar("T")

_BUILDING_SECONDS = 2.0
_CANCEL_REASON = "cancelled by the buyer"
_ID = re.compile(r"[1-9][0-9]{0,18}")


class TaobaoConnector:
    """Taobao Global. `app_key` and `app_secret` are what pushes are signed with."""

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

    async def search(self, query: Query) -> SearchPage:
        """Read a page of any size.

        The marketplace states no total. On a page with products, `total` is a lower bound. On an
        empty page it is exact: the last page that has products is looked for.
        """
        where = products.cut(query.page, query.size)
        wanted = range(where.first, where.last + 1)
        found = await together(partial(self._hits, query, no, where.page_size) for no in wanted)
        parts = [hits.offers for hits in found]
        here = products.joined(parts, where, query.size)
        more = products.may_follow(parts, where, query.size)
        total = found[0].total
        if total is None and here:
            total = products.least_total(query.page, query.size, len(here), more=more)
        elif total is None:
            total = await self._count_before(query, where.first, where.page_size, len(parts[0]))
        offers = tuple(offer for offer in here if offer is not None)
        return SearchPage(offers, total, query.page, query.size)

    async def _count_before(
        self, query: Query, page_no: int, page_size: int, on_this_page: int
    ) -> int:
        """Count all results, given a page with which they are known to have ended.

        One call if the page before it has results, otherwise a binary search.
        """
        if on_this_page:
            return (page_no - 1) * page_size + on_this_page
        full, empty = 0, page_no  # the last page known to be full, the first known to be empty
        probe = page_no - 1
        while empty - full > 1:
            number = len((await self._hits(query, probe, page_size)).offers)
            if 0 < number < page_size:
                return (probe - 1) * page_size + number
            full, empty = (probe, empty) if number else (full, probe)
            probe = (full + empty) // 2
        return full * page_size

    async def _hits(self, query: Query, page_no: int, page_size: int) -> Hits:
        return await self._gateway.call(
            "search",
            "/traffic/item/search",
            products.search_params(query, page_no, page_size),
            partial(products.hits, item_page=self._item_page),
            safe=True,
        )

    async def detail(self, product_id: str, lang: str) -> Product:
        """The translated product; the smallest quantity is told by another operation only."""
        if not _is_id(product_id):
            raise _no_product(product_id)
        shown = self._gateway.call(
            "detail",
            "/traffic/item/get",
            {"item_resource": "taobao", "item_id": product_id, **products.language(lang)},
            _existing(partial(products.product, product_id=product_id, item_page=self._item_page)),
            safe=True,
        )
        product, least = await asyncio.gather(shown, self._least_quantity(product_id))
        if least is None:
            return product
        return replace(product, offer=replace(product.offer, min_order_quantity=least))

    async def _least_quantity(self, product_id: str) -> int | None:
        """None when it is not told; the product is worth showing all the same."""
        try:
            found = await self._listing(product_id)
        except PlatformFailure:
            return None
        return found.min_order_quantity if isinstance(found, ItemListing) else None

    async def _listing(self, product_id: str) -> ItemListing | Rejected:
        """How a product is ordered, or why it cannot be."""
        if not _is_id(product_id):
            return _no_product(product_id)
        try:
            return await self._gateway.call(
                "listing",
                "/product/get",
                {"item_id": product_id},
                _existing(partial(products.listing, product_id=product_id)),
                safe=True,
            )
        except Rejected as never:
            return never

    async def _listings(
        self, lines: Sequence[Line]
    ) -> tuple[Mapping[str, ItemListing], Mapping[str, Rejected]]:
        ids = list(dict.fromkeys(line.product_id for line in lines))
        asked = await together(partial(self._listing, one) for one in ids)
        pairs = list(zip(ids, asked, strict=True))
        listings = {one: found for one, found in pairs if isinstance(found, ItemListing)}
        return listings, {one: found for one, found in pairs if isinstance(found, Rejected)}

    async def preview(self, lines: Sequence[Line], address: Address) -> Preview:
        """What can be had is priced; what cannot be is listed with its reason."""
        listings, refused = await self._listings(lines)
        return await self._render(lines, address, listings, refused)

    async def _render(
        self,
        lines: Sequence[Line],
        address: Address,
        listings: Mapping[str, ItemListing],
        refused: Mapping[str, Rejected],
    ) -> Preview:
        gone = [
            UnavailableLine(line.product_id, line.sku_id, _reason(refused[line.product_id]))
            for line in lines
            if line.product_id in refused
        ]
        left = [line for line in lines if line.product_id in listings]
        if not left:
            return Preview((), 0, tuple(gone))
        return await self._gateway.call(
            "preview",
            "/purchase/order/render",
            baskets.render_params(left, address, listings),
            partial(baskets.preview, lines=left, listings=listings, gone=gone),
            safe=True,
        )

    async def create(self, draft: OrderRequest) -> Placed:
        """Place it at most for what it is expected to cost, or, unsaid, for what it costs now.

        The marketplace makes one set of orders for each reference, however often it is asked.
        We rely on that for nothing: an outcome that is not known is OutcomeUnknown all the same.
        """
        for line in draft.lines:
            if not _is_id(line.product_id):
                raise _no_product(line.product_id)
        listings, refused = await self._listings(draft.lines)
        for never in refused.values():
            raise Rejected(PLATFORM, never.code, never.message, reason=_reason(never))
        limit = draft.expected_total_fen
        if limit is None:
            limit = await self._cost(draft, listings)
        try:
            return await self._gateway.call(
                "create",
                "/purchase/order/create",
                baskets.create_params(draft, listings, limit),
                baskets.placed,
                safe=False,
            )
        except Rejected as never:
            if never.reason is Reason.PRICE_CHANGED:  # the marketplace's message is in fen
                message = f"The order costs more than {money.text(limit)} now."
                raise Rejected(PLATFORM, never.code, message, reason=never.reason) from None
            raise

    async def _cost(self, draft: OrderRequest, listings: Mapping[str, ItemListing]) -> int:
        now = await self._render(draft.lines, draft.address, listings, {})
        for one in now.unavailable:
            message = f"Product {one.product_id} cannot be had."
            raise Rejected(PLATFORM, "unavailable", message, reason=one.reason)
        return now.total_fen

    async def read_one(self, order_id: str) -> PlatformOrder:
        (order,) = await self._orders.with_refunds([await self._orders.one(order_id)])
        return order

    async def read_many(self, order_ids: Sequence[str]) -> Sequence[PlatformOrder]:
        return await self._orders.with_refunds(await self._orders.by_ids(order_ids))

    async def modified_between(
        self, since: datetime, until: datetime, page: int
    ) -> tuple[Sequence[PlatformOrder], bool]:
        """Oldest change first.

        An order that changes between two pages leaves its place, and the next one moves up past
        the page's end unseen. So windows have to overlap, or begin anew at the last change seen.
        """
        found, more = await self._orders.changed(since, until, page)
        return await self._orders.with_refunds(found), more

    async def find_by_reference(self, reference: str) -> Sequence[PlatformOrder]:
        return await self._orders.with_refunds(await self._orders.by_reference(reference))

    async def refunds(self, order_id: str) -> Sequence[Refund]:
        """The refunds that the order names: the latest one of each of its lines."""
        return await self._orders.refunds(await self._orders.one(order_id))

    async def cancel(self, order_id: str) -> CancelState:
        """Request the cancellation; only the order shows whether it was carried out."""
        params = {"purchase_id": order_id, "cancel_reason": _CANCEL_REASON}
        path = "/purchase/order/asyn/cancel"
        await self._gateway.call("cancel", path, params, lambda _: None, safe=False)
        return CancelState.REQUESTED

    async def pay(self, order_id: str, amount_fen: int, operation_id: str) -> Payment:
        """Have the order paid from the buyer's balance.

        The marketplace takes neither an amount nor an operation id. So the order is read first,
        and paid only at `amount_fen`; and an order's money is taken once, whoever asks again.
        """
        now = await self._orders.one(order_id)
        if now.payment.state is PaymentState.PAID:
            return now.payment
        if now.order.status is Status.CREATING:
            message = "The order is still being made."
            raise Unavailable(
                PLATFORM, now.order.raw_status, message, retry_after=_BUILDING_SECONDS
            )
        if now.order.payment is PaymentState.CLOSED:
            message = "The order was closed unpaid."
            raise Rejected(PLATFORM, now.order.raw_status, message, reason=Reason.WRONG_STATE)
        if now.order.total_fen != amount_fen:
            message = (
                f"The order costs {money.text(now.order.total_fen)}, not {money.text(amount_fen)}."
            )
            raise Rejected(PLATFORM, "amount_changed", message, reason=Reason.PRICE_CHANGED)
        paid = await self._gateway.call(
            "pay",
            "/purchase/order/batch/pay",
            {"purchaseOrderIdList": f"[{order_id}]"},
            partial(payments.payment, order_id=order_id),
            safe=False,
        )
        if paid.code == "ORDER_ALREADY_PAID":
            return await self.find_payment(order_id, operation_id)
        if paid.state is PaymentState.FAILED:
            code = paid.code or "no_code"
            message = paid.message or "The marketplace refused the payment and gave no reason."
            raise Rejected(PLATFORM, code, message, reason=reason_of(code, message))
        return paid

    async def pay_link(self, order_ids: Sequence[str]) -> str:  # noqa: ARG002
        _not_offered("A payment page is only shown when an order is created.")

    async def find_payment(self, order_id: str, operation_id: str) -> Payment:  # noqa: ARG002
        """By the order: there is one payment of it at most."""
        return (await self._orders.one(order_id)).payment

    async def refund(self, request: RefundRequest) -> str:  # noqa: ARG002
        _not_offered("Refunds are asked for on the marketplace's own pages.")

    def read_notice(
        self, headers: Mapping[str, str], body: bytes, app_key: str, app_secret: str
    ) -> Notice:
        return notices.read(app_key, app_secret, headers, body)


def _existing(read: Callable[[Any], T]) -> Callable[[Any], T]:
    """Read a product; a good answer without one means that there is none."""

    def reading(data: Any) -> T:
        if data is None:
            raise _no_product("of this id")
        return read(data)

    return reading


def _is_id(product_id: str) -> bool:
    """Ids are numbers there; what is none is no product, and would be called a bad parameter."""
    return _ID.fullmatch(product_id) is not None


def _no_product(product_id: str) -> Rejected:
    message = f"There is no product {product_id}."
    return Rejected(PLATFORM, "ITEM_NOT_FOUND", message, reason=Reason.NOT_FOUND)


def _reason(never: Rejected) -> Reason:
    """Why a line cannot be bought: a product that is not there is not for sale."""
    return Reason.NOT_FOR_SALE if never.reason is Reason.NOT_FOUND else never.reason


def _not_offered(message: str) -> NoReturn:
    raise Rejected(PLATFORM, "not_supported", message, reason=Reason.NOT_SUPPORTED)
