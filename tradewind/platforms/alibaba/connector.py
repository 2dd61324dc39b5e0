"""The connector of 1688: our contract, spoken in its dialect."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from time import time
from typing import Any, ParamSpec, TypeVar

from tradewind.observability.logs import log
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
from tradewind.platforms.alibaba.gateway import AlibabaGateway, Api
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
    OutcomeUnknown,
    PlatformFailure,
    Reason,
    Rejected,
    UnreadableResponse,
)
from tradewind.platforms.model import (
    Address,
    CancelState,
    Line,
    Notice,
    OrderRequest,
    Payment,
    Placed,
    PlatformOrder,
    Preview,
    Product,
    Query,
    Refund,
    RefundRequest,
    SearchPage,
    Status,
)
from tradewind.platforms.paced_client import PacedClient

T = TypeVar("T")
P = ParamSpec("P")

_PAGE = 20
_MOST_PAGES = 5
_CANCEL_REASON = "buyerCancel"
_HAS_PARCELS = frozenset(
    {Status.PARTIALLY_SHIPPED, Status.SHIPPED, Status.RECEIVED, Status.COMPLETED}
)


class AlibabaConnector:
    """1688, or whatever speaks like it. `now` is the time in seconds, to stamp requests with."""

    def __init__(
        self,
        traits: Traits,
        client: PacedClient,
        get_access: GetAccess,
        *,
        website: str = "1688",
        flow: str = "general",
        pay_channel: str = "alipay",
        now: Callable[[], float] = time,
    ) -> None:
        self.traits = traits
        self._gateway = AlibabaGateway(client, get_access, now)
        self._website = website
        self._flow = flow
        self._pay_channel = pay_channel

    async def search(self, query: Query) -> SearchPage:
        answer = await self._gateway.ask(gateway.SEARCH, products.search_params(query))
        return self._read(gateway.SEARCH, products.found, answer, query)

    async def detail(self, product_id: str, lang: str) -> Product:
        number = baskets.offer_id(product_id)
        if number is None:
            raise self._no_product(product_id)
        answer = await self._gateway.ask(gateway.DETAIL, products.detail_params(number, lang))
        product = self._read(gateway.DETAIL, products.product, answer)
        if product is None:
            raise self._no_product(product_id)
        return product

    async def preview(self, lines: Sequence[Line], address: Address) -> Preview:
        return await BasketPreview(self._gateway, self._flow, address).of(lines)

    async def create(self, draft: OrderRequest) -> Placed:
        """Place the order. An answer without an order raises OutcomeUnknown."""
        for line in draft.lines:
            if baskets.offer_id(line.product_id) is None:
                raise self._no_product(line.product_id)
        params = baskets.create_params(draft, self._flow)
        answer = await self._gateway.hear(gateway.CREATE, params)
        placed = baskets.placed(answer)
        failed = baskets.failed_offers(answer)
        if placed is None:
            raise self._not_placed(draft, answer, failed)
        if failed:
            log.warning(
                "platform.order_incomplete",
                platform=self._gateway.platform,
                reference=draft.reference,
                order_ids=placed.order_ids,
                failed=sorted(failed),
            )
        return placed

    def _not_placed(
        self, draft: OrderRequest, answer: Json, failed: Mapping[str, errors.AlibabaError]
    ) -> PlatformFailure:
        product_ids = {line.product_id for line in draft.lines}
        refusal = errors.of_operation(answer)
        if refusal is None and not product_ids <= failed.keys():
            return self._gateway.unreadable(
                gateway.CREATE, UnreadableResponse("No order is named.")
            )
        told = [one for one in (*failed.values(), refusal) if one is not None and one.code]
        failures = [
            errors.operation_failure(self._gateway.platform, one, safe=False)
            for one in told or [errors.AlibabaError("", "It gave no reason.")]
        ]
        # Whatever is said besides, one word that leaves it open leaves all of it open.
        failure = next((one for one in failures if isinstance(one, OutcomeUnknown)), failures[0])
        if failure.code in errors.SEVERAL_SELLERS_OR_NO_SPEC and len(product_ids) == 1:
            # One product has one seller, so what is meant is a variant that it does not have.
            return Rejected(
                failure.platform, failure.code, failure.message, reason=Reason.NOT_FOUND
            )
        return failure

    async def read_one(self, order_id: str) -> PlatformOrder:
        params = {"webSite": self._website, "orderId": order_id}
        answer = await self._gateway.ask(gateway.READ, params)
        return self._read(gateway.READ, orders.order, entry(answer.get("result")))

    async def read_many(self, order_ids: Sequence[str]) -> Sequence[PlatformOrder]:
        if not order_ids:
            return []
        params = {"orderIds": encode([as_number(one) for one in order_ids])}
        listed, _ = await self._listed(params, page=1)
        return [order for order in listed if order.id in order_ids]

    async def modified_between(
        self, since: datetime, until: datetime, page: int
    ) -> tuple[Sequence[PlatformOrder], bool]:
        params = {"modifyStartTime": show_moment(since), "modifyEndTime": show_moment(until)}
        return await self._listed(params, page=page)

    async def find_by_reference(self, reference: str) -> Sequence[PlatformOrder]:
        """Every order of our reference; Unavailable unless the answer is sure to be the whole one.

        An order that is shown without a reference is read again, and ours only if it has ours.
        """
        found: dict[str, PlatformOrder] = {}
        for page in range(1, _MOST_PAGES + 1):
            answer = await self._asked({"outOrderId": reference}, page)
            shown, more = self._read(gateway.LIST, _whole_page_of, answer, page)
            listed = [self._read(gateway.LIST, orders.order, one) for one in shown]
            if any(one.reference not in (reference, None) for one in listed):
                raise self._doubtful("The orders shown are not only those of our reference.")
            found.update((one.id, one) for one in listed)
            if not more:
                break
        else:
            raise self._doubtful("There are more orders than one reference can have.")
        if len(found) < (whole(answer.get("totalRecord"), "totalRecord") or 0):
            raise self._doubtful("The list is shorter than it says.")
        told = [await self._named(one) for one in found.values()]
        return [one for one in told if one.reference == reference]

    async def _named(self, shown: PlatformOrder) -> PlatformOrder:
        if shown.reference is not None:
            return shown
        try:
            return await self.read_one(shown.id)
        except Rejected as never:
            raise self._doubtful(f"Order {shown.id} is listed, but: {never.message}") from None

    def _doubtful(self, why: str) -> PlatformFailure:
        return self._gateway.unreadable(gateway.LIST, UnreadableResponse(why))

    async def _listed(
        self, params: Mapping[str, str], page: int
    ) -> tuple[list[PlatformOrder], bool]:
        """A page of orders; one that cannot be read is logged, and does not hide the others."""
        shown, more = await self._page(params, page)
        listed = []
        for one in shown:
            try:
                listed.append(await self._with_parcels(orders.order(one)))
            except UnreadableResponse as why:
                log.warning(
                    "platform.order_unreadable",
                    platform=self._gateway.platform,
                    order_id=text(entry(one.get("baseInfo")).get("idOfStr")),
                    error=str(why),
                )
        return listed, more

    async def _page(self, params: Mapping[str, str], page: int) -> tuple[Sequence[Json], bool]:
        answer = await self._asked(params, page)
        return self._read(gateway.LIST, _page_of, answer, page)

    async def _asked(self, params: Mapping[str, str], page: int) -> Json:
        paged = {**params, "page": str(page), "pageSize": str(_PAGE)}
        return await self._gateway.ask(gateway.LIST, paged)

    async def _with_parcels(self, order: PlatformOrder) -> PlatformOrder:
        """Lists show no parcels, the buyer's view does: goods on their way are read again."""
        if order.shipments or order.status not in _HAS_PARCELS:
            return order
        try:
            return await self.read_one(order.id)
        except Rejected:
            return order

    async def cancel(self, order_id: str) -> CancelState:
        params = {
            "webSite": self._website,
            "tradeID": order_id,
            "cancelReason": _CANCEL_REASON,
        }
        answer = await self._gateway.ask(gateway.CANCEL, params)
        self._must_succeed(gateway.CANCEL, answer)
        return CancelState.DONE

    async def pay(self, order_id: str, amount_fen: int, operation_id: str) -> Payment:
        """Debit at once. Only a refusal whose code we know is one; any other may have paid."""
        params = payments.pay_params(order_id, amount_fen, operation_id, self._pay_channel)
        answer = await self._gateway.hear(gateway.PAY, params)
        refusal = errors.of_operation(answer)
        if refusal is not None and errors.reason_of(refusal) is not None:
            raise errors.operation_failure(self._gateway.platform, refusal, safe=False)
        return payments.payment(answer)

    async def pay_link(self, order_ids: Sequence[str]) -> str:
        """A link for all of them, or Rejected: one that leaves some out would look like enough."""
        params = {"orderIdList": encode([as_number(one) for one in order_ids])}
        answer = await self._gateway.ask(gateway.PAY_LINK, params)
        left_out = payments.unpayable(answer)
        if left_out:
            message = f"These orders cannot be paid: {', '.join(left_out)}"
            code = errors.spelled(answer).code or "pay_failure_orders"
            raise Rejected(self._gateway.platform, code, message, reason=Reason.WRONG_STATE)
        return self._read(gateway.PAY_LINK, payments.pay_url, answer)

    async def find_payment(self, order_id: str, operation_id: str) -> Payment:  # noqa: ARG002
        """1688 cannot be asked about an operation, but an order is paid at most once."""
        return payments.found_payment(await self.read_one(order_id))

    async def refund(self, request: RefundRequest) -> str:
        """Ask for money back: for the lines that are named, or for all of them."""
        order = await self.read_one(request.order_id)
        wanted = set(request.item_ids)
        items = [item for item in order.items if not wanted or item.id in wanted]
        goods = payments.goods_status(order, items, request.kind)
        if goods is None or not items or (wanted and len(items) != len(wanted)):
            why = f"Order {order.id} is {order.raw_status}: these lines cannot be refunded."
            raise Rejected(self._gateway.platform, "not_refundable", why, reason=Reason.WRONG_STATE)
        asked = payments.reasons_params(order.id, items, goods)
        answer = await self._gateway.ask(gateway.REFUND_REASONS, asked)
        reasons = self._read(gateway.REFUND_REASONS, payments.refund_reasons, answer)
        reason = payments.choose_reason(request.reason, reasons)
        if reason is None:
            why = "The platform offers no reason that needs no pictures."
            raise Rejected(self._gateway.platform, "no_reason", why, reason=Reason.NOT_SUPPORTED)
        params = payments.refund_params(request, items, goods, reason)
        answer = await self._gateway.ask(gateway.REFUND, params)
        return self._read(gateway.REFUND, payments.refund_id, answer)

    async def refunds(self, order_id: str) -> Sequence[Refund]:
        """Those under way and those paid back; 1688 does not list what was closed."""
        found: dict[str, Refund] = {}
        for query in (payments.UNDER_WAY, payments.PAID_BACK):
            params = {"orderId": order_id, "queryType": query}
            answer = await self._gateway.ask(gateway.REFUNDS, params)
            shown = self._read(gateway.REFUNDS, payments.refunds, answer, order_id, query)
            found.update({refund.id: refund for refund in shown})
        return list(found.values())

    def read_notice(
        self,
        headers: Mapping[str, str],  # noqa: ARG002 - the signature is in the form
        body: bytes,
        app_key: str,  # noqa: ARG002 - and made with the secret alone
        app_secret: str,
    ) -> Notice:
        return notices.read(app_secret, body)

    def _read(self, api: Api, read: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What an answer says; one that nobody can read is no crash, but one more failure."""
        try:
            return read(*args, **kwargs)
        except UnreadableResponse as why:
            raise self._gateway.unreadable(api, why) from None

    def _must_succeed(self, api: Api, answer: dict[str, Any]) -> None:
        if not errors.succeeded(answer):
            raise self._gateway.unreadable(
                api, UnreadableResponse("The answer does not say success.")
            )

    def _no_product(self, product_id: str) -> Rejected:
        why = f"There is no product {product_id}."
        return Rejected(self._gateway.platform, "no_product", why, reason=Reason.NOT_FOUND)


def _page_of(answer: Json, page: int) -> tuple[Sequence[Json], bool]:
    """The orders of a page, and whether more follow."""
    if not isinstance(answer.get("result"), list):
        raise UnreadableResponse("The answer has no list of orders.")
    shown = entries(answer["result"])
    total = whole(answer.get("totalRecord"), "totalRecord")
    return shown, len(shown) == _PAGE if total is None else page * _PAGE < total


def _whole_page_of(answer: Json, page: int) -> tuple[Sequence[Json], bool]:
    """As `_page_of`, for who must miss none."""
    shown, more = _page_of(answer, page)
    if len(shown) != len(answer["result"]):
        raise UnreadableResponse("An entry of the list is no order.")
    return shown, more
