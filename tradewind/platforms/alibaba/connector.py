"""Implements the connector contract for 1688."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from time import time
from typing import TypeVar

from tradewind.observability.logs import log
from tradewind.platforms import model
from tradewind.platforms.access import GetAccess
from tradewind.platforms.alibaba import (
    baskets,
    errors,
    gateway,
    notices,
    orders,
    payments,
    products,
)
from tradewind.platforms.alibaba.baskets import BasketPreview
from tradewind.platforms.alibaba.gateway import AlibabaGateway
from tradewind.platforms.alibaba.values import (
    Json,
    as_number,
    encode,
    entries,
    entry,
    show_moment,
    text,
    whole,
)
from tradewind.platforms.contract import Traits
from tradewind.platforms.failures import (
    ErrorResponse,
    OutcomeUnknown,
    PlatformFailure,
    Reason,
    Rejected,
    Unavailable,
    UnreadableResponse,
)
from tradewind.platforms.paced_client import PacedClient

T = TypeVar("T")

_WEBSITE, _FLOW, _PAY_CHANNEL = "1688", "general", "alipay"
_PAGE_SIZE = 20
_MOST_PAGES = 5
_CANCEL_REASON = "buyerCancel"
_HAS_PARCELS = frozenset(
    {
        model.PlatformOrderStatus.PARTIALLY_SHIPPED,
        model.PlatformOrderStatus.SHIPPED,
        model.PlatformOrderStatus.RECEIVED,
        model.PlatformOrderStatus.COMPLETED,
    }
)


class AlibabaConnector:
    """1688, or a marketplace of the same dialect. `now` returns the time in seconds."""

    def __init__(
        self,
        traits: Traits,
        client: PacedClient,
        get_access: GetAccess,
        *,
        now: Callable[[], float] = time,
    ) -> None:
        self.traits = traits
        self._gateway = AlibabaGateway(client, get_access, now)

    async def search(self, query: model.Query) -> model.SearchPage:
        read = partial(products.search_page, query=query)
        return await self._gateway.call(gateway.SEARCH, products.search_params(query), read)

    async def upload_image(self, image: bytes) -> str:
        params = products.upload_params(image)
        return await self._gateway.call(gateway.UPLOAD_IMAGE, params, products.uploaded_image)

    async def search_by_image(self, query: model.Query) -> model.SearchPage:
        read = partial(products.search_page, query=query)
        return await self._gateway.call(gateway.IMAGE_SEARCH, products.search_params(query), read)

    async def detail(self, product_id: str, lang: str) -> model.Product:
        number = baskets.offer_id(product_id)
        if number is None:
            raise self._no_product(product_id)
        params = products.detail_params(number, lang)
        product = await self._gateway.call(gateway.DETAIL, params, products.product)
        if product is None:
            raise self._no_product(product_id)
        return product

    async def preview(self, lines: Sequence[model.Line], address: model.Address) -> model.Preview:
        return await BasketPreview(self._gateway, _FLOW, address).preview(lines)

    async def create(self, request: model.OrderRequest) -> model.Placed:
        """Place the order. A response without an order raises OutcomeUnknown."""
        for line in request.lines:
            if baskets.offer_id(line.product_id) is None:
                raise self._no_product(line.product_id)
        params = baskets.create_params(request, _FLOW)
        read = partial(self._placed, request)
        return await self._gateway.call_raw(gateway.CREATE, params, read)

    def _placed(self, request: model.OrderRequest, response: Json) -> model.Placed:
        placed = baskets.placed(response)
        failed = baskets.failed_offers(response)
        if placed is None:
            raise self._not_placed(request, response, failed)
        if failed:
            log.warning(
                "platform.order_incomplete",
                platform=self._gateway.platform,
                reference=request.reference,
                order_ids=placed.order_ids,
                failed=sorted(failed),
            )
        return placed

    def _not_placed(
        self, request: model.OrderRequest, response: Json, failed: Mapping[str, ErrorResponse]
    ) -> PlatformFailure:
        product_ids = {line.product_id for line in request.lines}
        error = errors.operation_error(response)
        if error is None and not product_ids <= failed.keys():
            raise UnreadableResponse("The response names no order.")
        reported = [each for each in (*failed.values(), error) if each is not None and each.code]
        failures = [
            errors.operation_failure(self._gateway.platform, each, safe=False)
            for each in reported or [ErrorResponse("", "No reason was given.")]
        ]
        # A single failure with an unknown outcome makes the outcome of the whole unknown.
        unknown = (each for each in failures if isinstance(each, OutcomeUnknown))
        failure = next(unknown, failures[0])
        if failure.code in errors.SEVERAL_SELLERS_OR_NO_SPEC and len(product_ids) == 1:
            # A product has a single seller, so the code means that the variant does not exist.
            return Rejected(
                failure.platform, failure.code, failure.message, reason=Reason.NOT_FOUND
            )
        return failure

    async def read_one(self, order_id: str) -> model.PlatformOrder:
        params = {"webSite": _WEBSITE, "orderId": order_id}

        def read(response: Json) -> model.PlatformOrder:
            return orders.order(entry(response.get("result")))

        return await self._gateway.call(gateway.READ, params, read)

    async def read_many(self, order_ids: Sequence[str]) -> Sequence[model.PlatformOrder]:
        if not order_ids:
            return []
        params = {"orderIds": encode([as_number(order_id) for order_id in order_ids])}
        listed, _ = await self._listed(params, page=1)
        return [order for order in listed if order.id in order_ids]

    async def modified_between(
        self, since: datetime, until: datetime, page: int
    ) -> tuple[Sequence[model.PlatformOrder], bool]:
        params = {"modifyStartTime": show_moment(since), "modifyEndTime": show_moment(until)}
        return await self._listed(params, page=page)

    async def find_by_reference(self, reference: str) -> Sequence[model.PlatformOrder]:
        """Find every order of our reference; Unavailable unless the result is complete.

        An order that is listed without a reference is read again to compare its reference.
        """
        by_id: dict[str, model.PlatformOrder] = {}
        for page in range(1, _MOST_PAGES + 1):
            read = partial(_orders_of_reference, reference=reference, page=page)
            listed, more, total = await self._list({"outOrderId": reference}, page, read)
            by_id.update((order.id, order) for order in listed)
            if not more:
                break
        else:
            raise self._incomplete("There are more orders than a reference can have.")
        if len(by_id) < total:
            raise self._incomplete("The list is shorter than its total.")
        orders_with_reference = [await self._with_reference(order) for order in by_id.values()]
        return [order for order in orders_with_reference if order.reference == reference]

    async def _with_reference(self, order: model.PlatformOrder) -> model.PlatformOrder:
        if order.reference is not None:
            return order
        try:
            return await self.read_one(order.id)
        except Rejected as error:
            message = f"Order {order.id} is listed, but: {error.message}"
            raise self._incomplete(message) from None

    def _incomplete(self, message: str) -> PlatformFailure:
        return Unavailable(self._gateway.platform, "incomplete", message)

    async def _listed(
        self, params: Mapping[str, str], page: int
    ) -> tuple[list[model.PlatformOrder], bool]:
        """Read a page of orders; an unreadable order is logged and left out."""
        page_entries, more = await self._list(params, page, partial(_page, page=page))
        listed = []
        for raw in page_entries:
            try:
                listed.append(await self._with_parcels(orders.order(raw)))
            except UnreadableResponse as error:
                log.warning(
                    "platform.order_unreadable",
                    platform=self._gateway.platform,
                    order_id=text(entry(raw.get("baseInfo")).get("idOfStr")),
                    error=str(error),
                )
        return listed, more

    async def _list(self, params: Mapping[str, str], page: int, read: Callable[[Json], T]) -> T:
        paged = {**params, "page": str(page), "pageSize": str(_PAGE_SIZE)}
        return await self._gateway.call(gateway.LIST, paged, read)

    async def _with_parcels(self, order: model.PlatformOrder) -> model.PlatformOrder:
        """Read a shipped order again: lists hold no parcels, the buyer's view does."""
        if order.shipments or order.status not in _HAS_PARCELS:
            return order
        try:
            return await self.read_one(order.id)
        except Rejected:
            return order

    async def cancel(self, order_id: str) -> model.CancelState:
        params = {
            "webSite": _WEBSITE,
            "tradeID": order_id,
            "cancelReason": _CANCEL_REASON,
        }
        return await self._gateway.call(gateway.CANCEL, params, _cancelled)

    async def pay(self, order_id: str, amount_fen: int, operation_id: str) -> model.Payment:
        """Debit at once. Only a known error code is a failure; any other may have paid."""
        params = payments.pay_params(order_id, amount_fen, operation_id, _PAY_CHANNEL)

        def read(response: Json) -> model.Payment:
            error = errors.operation_error(response)
            if error is not None and errors.reason_of(error) is not None:
                raise errors.operation_failure(self._gateway.platform, error, safe=False)
            return payments.payment(response)

        return await self._gateway.call_raw(gateway.PAY, params, read)

    async def pay_link(self, order_ids: Sequence[str]) -> str:
        """Return a page for all orders, or Rejected: a page for some would look complete."""
        params = {"orderIdList": encode([as_number(order_id) for order_id in order_ids])}

        def read(response: Json) -> str:
            unpayable = payments.unpayable(response)
            if unpayable:
                message = f"These orders cannot be paid: {', '.join(unpayable)}"
                code = errors.read_error(response).code or "pay_failure_orders"
                raise self._rejected(code, message, Reason.WRONG_STATE)
            return payments.pay_url(response)

        return await self._gateway.call(gateway.PAY_LINK, params, read)

    async def find_payment(self, order_id: str, operation_id: str) -> model.Payment:  # noqa: ARG002
        """Look at the order: 1688 has no query for an operation, but an order is paid once."""
        return payments.payment_of_order(await self.read_one(order_id))

    async def refund(self, request: model.RefundRequest) -> str:
        """Request a refund for the given lines, or for all of them."""
        order = await self.read_one(request.order_id)
        item_ids = set(request.item_ids)
        items = [item for item in order.items if not item_ids or item.id in item_ids]
        goods = payments.goods_status(order, items, request.kind)
        if goods is None or not items or (item_ids and len(items) != len(item_ids)):
            message = f"Order {order.id} is {order.raw_status}: these lines cannot be refunded."
            raise self._rejected("not_refundable", message, Reason.WRONG_STATE)
        params = payments.reasons_params(order.id, items, goods)
        reasons = await self._gateway.call(gateway.REFUND_REASONS, params, payments.refund_reasons)
        reason = payments.choose_reason(request.reason, reasons)
        if reason is None:
            message = "Every reason that the marketplace offers requires pictures."
            raise self._rejected("no_reason", message, Reason.NOT_SUPPORTED)
        params = payments.refund_params(request, items, goods, reason)
        return await self._gateway.call(gateway.REFUND, params, payments.refund_id)

    async def refunds(self, order_id: str) -> Sequence[model.Refund]:
        """Read the refunds in progress and those paid; 1688 does not list closed ones."""
        by_id: dict[str, model.Refund] = {}
        for query in (payments.IN_PROGRESS, payments.PAID):
            params = {"orderId": order_id, "queryType": query}
            read = partial(payments.refunds, order_id=order_id, query=query)
            refunds = await self._gateway.call(gateway.REFUNDS, params, read)
            by_id.update({refund.id: refund for refund in refunds})
        return list(by_id.values())

    def read_notice(
        self,
        headers: Mapping[str, str],  # noqa: ARG002 - the signature is in the form
        body: bytes,
        app_key: str,  # noqa: ARG002 - and made with the secret alone
        app_secret: str,
    ) -> model.Notice:
        return notices.read(app_secret, body)

    def _no_product(self, product_id: str) -> Rejected:
        message = f"There is no product {product_id}."
        return self._rejected("no_product", message, Reason.NOT_FOUND)

    def _rejected(self, code: str, message: str, reason: Reason) -> Rejected:
        return Rejected(self._gateway.platform, code, message, reason=reason)


def _page(response: Json, page: int) -> tuple[Sequence[Json], bool]:
    """Return the entries of a page, and whether more pages follow."""
    if not isinstance(response.get("result"), list):
        raise UnreadableResponse("The response has no list of orders.")
    listed = entries(response["result"])
    total = whole(response.get("totalRecord"), "totalRecord")
    return listed, len(listed) == _PAGE_SIZE if total is None else page * _PAGE_SIZE < total


def _orders_of_reference(
    response: Json, reference: str, page: int
) -> tuple[Sequence[model.PlatformOrder], bool, int]:
    """Read a page of a reference's orders, whether more follow, and their total.

    Unlike elsewhere, an entry that is not an order is unreadable, instead of left out.
    """
    page_entries, more = _page(response, page)
    listed = response.get("result")
    if not isinstance(listed, list) or len(page_entries) != len(listed):
        raise UnreadableResponse("An entry of the list is not an order.")
    page_orders = [orders.order(raw) for raw in page_entries]
    if any(order.reference not in (reference, None) for order in page_orders):
        raise UnreadableResponse("The list has orders of other references.")
    return page_orders, more, whole(response.get("totalRecord"), "totalRecord") or 0


def _cancelled(response: Json) -> model.CancelState:
    if not errors.succeeded(response):
        raise UnreadableResponse("The response does not report success.")
    return model.CancelState.DONE
