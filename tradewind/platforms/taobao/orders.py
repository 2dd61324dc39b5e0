"""Orders of Taobao Global: reading them by id, by our reference, or by time of change."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any

from tradewind.platforms.failures import Reason, Rejected, Unavailable, UnreadableResponse
from tradewind.platforms.model import (
    CloseReason,
    Item,
    Payment,
    PaymentState,
    PlatformOrder,
    Refund,
    Shipment,
    Status,
)
from tradewind.platforms.taobao import payments
from tradewind.platforms.taobao.errors import PLATFORM
from tradewind.platforms.taobao.gateway import TaobaoGateway, together
from tradewind.platforms.taobao.values import (
    Json,
    identity,
    moment,
    record,
    records,
    text,
    values,
    whole,
)

_UNPAID = "WAIT_BUYER_P"
_TO_SEND = "WAIT_SELLER_SEND_GOODS"
_SENT = "WAIT_BUYER_CONFIRM_GOODS"
_FINISHED = "TRADE_FINISHED"
_CLOSED = "TRADE_CLOSED"

_STATUSES = {
    "BULIDING": Status.CREATING,  # spelled like this
    _UNPAID: Status.PENDING_PAYMENT,
    _TO_SEND: Status.PAID,
    _SENT: Status.SHIPPED,
    _FINISHED: Status.COMPLETED,
}
_AFTER_PAYMENT = frozenset({_TO_SEND, _SENT, _FINISHED})

_CLOSERS = (
    (("TIMEOUT", "TIME_OUT", "超时"), CloseReason.TIMEOUT),
    (("BUYER", "买家"), CloseReason.BUYER),
    (("SELLER", "SUPPLIER", "卖家"), CloseReason.SELLER),
    (("PLATFORM", "SYSTEM", "平台", "系统"), CloseReason.PLATFORM),
)


@dataclass(frozen=True, slots=True)
class ListedOrder:
    """An order, but for its refunds: it names them, and how much each was must be asked.

    `refunds` are all that it names, `refunded` those that succeeded.
    """

    order: PlatformOrder
    payment: Payment
    paid_fen: int
    refunds: Sequence[str]
    refunded: Sequence[str]


@dataclass(frozen=True, slots=True)
class OrderPage:
    """A page of orders; the marketplace may have made it smaller than we asked."""

    orders: Sequence[ListedOrder]
    total: int | None
    size: int | None


def read_page(data: Any) -> OrderPage:
    raw = record(data)
    if "purchase_orders" not in raw:
        raise UnreadableResponse("no list of orders")
    listed, total = raw["purchase_orders"], whole(raw.get("results_total"))
    shown = values(listed)
    if not shown and total != 0 and listed not in ([], "[]"):
        raise UnreadableResponse("a list of orders that is none")
    if not all(isinstance(one, Mapping) for one in shown):
        raise UnreadableResponse("an order that is no object")
    return OrderPage(tuple(listed_order(one) for one in shown), total, whole(raw.get("page_size")))


def listed_order(raw: Json) -> ListedOrder:
    order_id, total = identity(raw.get("purchase_id")), whole(raw.get("purchase_amount"))
    if order_id is None or total is None:
        raise UnreadableResponse("an order without its id or amount")
    subs = records(raw.get("sub_purchase_orders"))
    raw_status = text(raw.get("status")) or ""
    payment = _payment_state(raw, subs, raw_status)
    freight = whole(raw.get("domestic_post_fee")) or 0
    goods = _goods(raw, total, freight)
    codes = [whole(sub.get("refund_status")) for sub in subs]
    order = PlatformOrder(
        id=order_id,
        reference=text(raw.get("outer_purchase_id")),
        status=_status(raw_status, subs, paid=payment is PaymentState.PAID),
        raw_status=raw_status,
        payment=payment,
        total_fen=total,
        goods_fen=goods,
        freight_fen=freight,
        discount_fen=goods + freight - total,
        refunded_fen=0,
        items=tuple(_item(sub) for sub in subs),
        shipments=_shipments(subs),
        close_reason=_close_reason(subs) if raw_status == _CLOSED else None,
        pay_before=moment(raw.get("next_close_time_without_payment")),
        created_at=moment(raw.get("created_time")),
        paid_at=moment(raw.get("pay_time")) or _first_paid(subs),
        modified_at=moment(raw.get("modify_time")),
        dispute=any(code in payments.DISPUTED for code in codes),
    )
    named = [
        (refund, code)
        for sub, code in zip(subs, codes, strict=True)
        if (refund := identity(sub.get("refund_id"))) and code != 0
    ]
    done = (refund for refund, code in named if code == payments.REFUND_DONE)
    return ListedOrder(
        order=order,
        payment=_payment(order, subs),
        paid_fen=whole(raw.get("pay_amount")) or total,
        refunds=tuple(dict.fromkeys(refund for refund, _ in named)),
        refunded=tuple(dict.fromkeys(done)),
    )


def add_refunds(one: ListedOrder, amounts: Mapping[str, int]) -> PlatformOrder:
    """The order with what went back of its money; a refund of unknown amount does not count."""
    back = sum(amounts.get(refund, 0) for refund in one.refunded)
    if not back or one.order.payment is not PaymentState.PAID:
        return one.order
    whole_sum = back >= one.paid_fen
    state = PaymentState.REFUNDED if whole_sum else PaymentState.PARTIALLY_REFUNDED
    return replace(one.order, refunded_fen=back, payment=state)


def _goods(raw: Json, total: int, freight: int) -> int:
    """What the goods cost before discounts.

    `purchase_amount` is what the order costs, freight included, and `product_amount` what its
    goods do. What the two and the freight leave over is the discount. Goods that are missing, or
    too cheap for the total (a seller who raised the price), are taken to cost what the total
    leaves, with no discount.
    """
    return max(whole(raw.get("product_amount")) or 0, total - freight)


def _pay_time(raw: Json) -> str | None:
    return identity(raw.get("pay_time"))


def _first_paid(subs: Sequence[Json]) -> datetime | None:
    return min((at for sub in subs if (at := moment(sub.get("pay_time")))), default=None)


def _payment_state(raw: Json, subs: Sequence[Json], status: str) -> PaymentState:
    """That there is a time of payment tells, even one that we cannot read."""
    if _pay_time(raw) or status in _AFTER_PAYMENT:
        return PaymentState.PAID
    paid = [bool(_pay_time(sub)) for sub in subs]
    if any(paid):
        whole_order = all(paid) or status == _CLOSED
        return PaymentState.PAID if whole_order else PaymentState.PARTIALLY_PAID
    if status == _CLOSED:
        return PaymentState.CLOSED
    return PaymentState.UNPAID if status in _STATUSES else PaymentState.UNKNOWN


def _payment(order: PlatformOrder, subs: Sequence[Json]) -> Payment:
    """What became of a payment that was asked for, by the order alone.

    A line keeps the code of an earlier payment that failed, while another may be under way: only
    an order that was closed unpaid says that none came to be.
    """
    if order.payment is PaymentState.PAID:
        return Payment(PaymentState.PAID)
    if order.payment is PaymentState.CLOSED:
        return Payment(PaymentState.FAILED, order.raw_status, "The order was closed unpaid.")
    for sub in subs:
        code = text(sub.get("error_code"))
        if order.raw_status == _UNPAID and code not in (None, "0"):
            return Payment(PaymentState.PROCESSING, code, text(sub.get("error_message")))
    return Payment(PaymentState.PROCESSING)


def _status(raw: str, subs: Sequence[Json], *, paid: bool) -> Status | None:
    if raw == _CLOSED:
        return Status.CLOSED if paid else Status.CANCELLED
    if raw not in (_TO_SEND, _SENT):
        return _STATUSES.get(raw)
    open_subs = [sub for sub in subs if text(sub.get("status")) != _CLOSED]
    if open_subs and all(_is_sent(sub) for sub in open_subs):
        return Status.SHIPPED
    if any(_is_sent(sub) or _parcels(sub) for sub in open_subs):
        return Status.PARTIALLY_SHIPPED
    return _STATUSES[raw]


def _is_sent(sub: Json) -> bool:
    return text(sub.get("status")) in (_SENT, _FINISHED)


def _item(sub: Json) -> Item:
    quantity, price = whole(sub.get("quantity")), whole(sub.get("product_amount"))
    if price is None:
        cost = whole(sub.get("purchase_amount")) or 0
        price = cost - (whole(sub.get("domestic_post_fee")) or 0)
    closed = text(sub.get("status")) == _CLOSED
    return Item(
        id=identity(sub.get("sub_purchase_order_id")) or "",
        product_id=identity(sub.get("item_id")),
        sku_id=identity(sub.get("sku_id")),
        quantity=1 if quantity is None else quantity,
        amount_fen=price,
        shipped=_is_sent(sub) or (closed and bool(_parcels(sub))),
    )


def _parcels(sub: Json) -> list[Json]:
    """Parcels of a line; an older form has the only one in the line itself."""
    listed = records(sub.get("logistic_orders"))
    parcels = listed or [sub]
    return [one for one in parcels if text(one.get("logistic_number"))]


def _shipments(subs: Sequence[Json]) -> tuple[Shipment, ...]:
    """A parcel that holds several lines is told of by each of them."""
    found: dict[tuple[str | None, str | None], Shipment] = {}
    for sub in subs:
        line = identity(sub.get("sub_purchase_order_id"))
        for parcel in _parcels(sub):
            carrier = text(parcel.get("logistic_company_name"))
            number = text(parcel.get("logistic_number"))
            known = found.get((carrier, number)) or Shipment(
                carrier, number, moment(parcel.get("rts_time")), ()
            )
            lines = dict.fromkeys((*known.item_ids, *([line] if line else [])))
            found[carrier, number] = replace(known, item_ids=tuple(lines))
    return tuple(found.values())


def _close_reason(subs: Sequence[Json]) -> CloseReason:
    said = next((told for sub in subs if (told := text(sub.get("close_reason")))), "").upper()
    for words, reason in _CLOSERS:
        if any(word in said for word in words):
            return reason
    return CloseReason.OTHER


ORDERS_A_PAGE = 20
_MOST_PAGES = 20


class OrderReader:
    """The orders of our buyer."""

    def __init__(self, gateway: TaobaoGateway) -> None:
        self._gateway = gateway

    async def one(self, order_id: str) -> ListedOrder:
        for found in await self.by_ids([order_id]):
            return found
        message = f"There is no order {order_id}."
        raise Rejected(PLATFORM, "ORDER_NOT_EXIST", message, reason=Reason.NOT_FOUND)

    async def by_ids(self, order_ids: Sequence[str]) -> list[ListedOrder]:
        """Ids are numbers there; what is none cannot exist, and would spoil the whole list."""
        ids = [one for one in dict.fromkeys(order_ids) if one.isascii() and one.isdigit()]
        parts = [ids[at : at + ORDERS_A_PAGE] for at in range(0, len(ids), ORDERS_A_PAGE)]
        asked = ({"purchase_ids": f"[{','.join(part)}]"} for part in parts)
        answered = await together(partial(self._all, params) for params in asked)
        return [found for part in answered for found in part if found.order.id in ids]

    async def by_reference(self, reference: str) -> list[ListedOrder]:
        """Every order of our reference; one that is shown without any is read again first."""
        found = await self._all({"outer_purchase_id": reference})
        told = [await self._named(one) for one in found]
        return [one for one in told if one.order.reference == reference]

    async def _named(self, shown: ListedOrder) -> ListedOrder:
        if shown.order.reference is not None:
            return shown
        try:
            return await self.one(shown.order.id)
        except Rejected as never:
            raise Unavailable(PLATFORM, never.code, never.message) from None

    async def changed(
        self, since: datetime, until: datetime, page_no: int
    ) -> tuple[Sequence[ListedOrder], bool]:
        params = {
            "modify_time_start": str(int(since.timestamp() * 1000)),
            "modify_time_end": str(int(until.timestamp() * 1000)),
            "sort_field": "modify_time",
            "sort_type": "ASC",
        }
        page = await self._page(params, page_no)
        return page.orders, _goes_on(page, page_no)

    async def with_refunds(self, found: Sequence[ListedOrder]) -> list[PlatformOrder]:
        """Orders name their refunds without amounts, so each that succeeded is asked about."""
        ids = [(one.order.id, refund_id) for one in found for refund_id in one.refunded]
        asked = await together(partial(self._refund, *pair) for pair in ids)
        amounts = {refund.id: refund.amount_fen for refund in asked if refund is not None}
        return [add_refunds(one, amounts) for one in found]

    async def refunds(self, of: ListedOrder) -> list[Refund]:
        asked = await together(partial(self._refund, of.order.id, one) for one in of.refunds)
        return [refund for refund in asked if refund is not None]

    async def _refund(self, order_id: str, refund_id: str) -> Refund | None:
        """None when the marketplace knows no such refund: its order is worth reading anyway."""
        try:
            return await self._gateway.call(
                "refunds",
                "/order/refund/query",
                {"refundId": refund_id},
                partial(payments.refund, refund_id=refund_id, order_id=order_id),
                safe=True,
            )
        except Rejected:
            return None

    async def _all(self, params: Mapping[str, str]) -> list[ListedOrder]:
        """Read every page of a query that has few; raise Unavailable unless it is complete."""
        found: dict[str, ListedOrder] = {}
        for page_no in range(1, _MOST_PAGES + 1):
            page = await self._page(params, page_no)
            found.update((one.order.id, one) for one in page.orders)
            if not _goes_on(page, page_no):
                if page.total is not None and len(found) < page.total:
                    message = f"Of {page.total} orders, {len(found)} were shown."
                    raise Unavailable(PLATFORM, "incomplete", message)
                return list(found.values())
        raise Unavailable(PLATFORM, "too_many", "The answer has more orders than were asked for.")

    async def _page(self, params: Mapping[str, str], page_no: int) -> OrderPage:
        paged = {**params, "page_no": str(page_no), "page_size": str(ORDERS_A_PAGE)}
        path = "/purchase/orders/query"
        return await self._gateway.call("read", path, paged, read_page, safe=True)


def _goes_on(page: OrderPage, page_no: int) -> bool:
    """By the number of all results, or, unsaid, by whether the page is full."""
    size = page.size or ORDERS_A_PAGE
    if not page.orders:
        return False
    return len(page.orders) >= size if page.total is None else page_no * size < page.total
