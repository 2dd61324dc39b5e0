"""Orders at Taobao Global: read by id, by our reference, or by time of change."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from tradewind.platforms.failures import Reason, Rejected, Unavailable, UnreadableResponse
from tradewind.platforms.fan_out import fan_out
from tradewind.platforms.goods import ordered_goods
from tradewind.platforms.model import (
    CloseReason,
    Goods,
    Item,
    Payment,
    PaymentState,
    PlatformOrder,
    PlatformOrderStatus,
    Refund,
    Shipment,
)
from tradewind.platforms.taobao import gateway, payments
from tradewind.platforms.taobao.errors import PLATFORM
from tradewind.platforms.taobao.gateway import TaobaoGateway
from tradewind.platforms.taobao.values import (
    Json,
    identity,
    moment,
    picture_url,
    record,
    records,
    text,
    values,
    whole,
)

ORDERS_A_PAGE = 20
_MOST_PAGES = 20

_UNPAID = "WAIT_BUYER_P"
_TO_SEND = "WAIT_SELLER_SEND_GOODS"
_SENT = "WAIT_BUYER_CONFIRM_GOODS"
_FINISHED = "TRADE_FINISHED"
_CLOSED = "TRADE_CLOSED"

_STATUSES = {
    "BULIDING": PlatformOrderStatus.CREATING,  # spelled like this
    _UNPAID: PlatformOrderStatus.PENDING_PAYMENT,
    _TO_SEND: PlatformOrderStatus.PAID,
    _SENT: PlatformOrderStatus.SHIPPED,
    _FINISHED: PlatformOrderStatus.COMPLETED,
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
    """An order without the amounts of its refunds, which it only names.

    `refunds` are the ids of all refunds, `refunded` of those that succeeded.
    """

    order: PlatformOrder
    payment: Payment
    paid_fen: int
    refunds: Sequence[str]
    refunded: Sequence[str]


@dataclass(frozen=True, slots=True)
class OrderPage:
    """A page of orders; the marketplace may return fewer than the requested size."""

    orders: Sequence[ListedOrder]
    total: int | None
    size: int | None


def read_page(data: object) -> OrderPage:
    raw = record(data)
    if "purchase_orders" not in raw:
        raise UnreadableResponse("no list of orders")
    listed, total = raw["purchase_orders"], whole(raw.get("results_total"))
    elements = values(listed)
    if not elements and total != 0 and listed not in ([], "[]"):
        raise UnreadableResponse("a list of orders that is not a list")
    if not all(isinstance(element, Mapping) for element in elements):
        raise UnreadableResponse("an order that is not an object")
    return OrderPage(tuple(map(listed_order, records(listed))), total, whole(raw.get("page_size")))


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
        items=tuple(_item(sub, raw) for sub in subs),
        shipments=_shipments(subs),
        close_reason=_close_reason(subs) if raw_status == _CLOSED else None,
        pay_before=moment(raw.get("next_close_time_without_payment")),
        created_at=moment(raw.get("created_time")),
        paid_at=moment(raw.get("pay_time")) or _first_paid(subs),
        modified_at=moment(raw.get("modify_time")),
        dispute=any(code in payments.DISPUTED for code in codes),
    )
    refunds = [
        (refund, code)
        for sub, code in zip(subs, codes, strict=True)
        if (refund := identity(sub.get("refund_id"))) and code != 0
    ]
    refunded = (refund for refund, code in refunds if code == payments.REFUND_DONE)
    return ListedOrder(
        order=order,
        payment=_payment(order, subs),
        paid_fen=whole(raw.get("pay_amount")) or total,
        refunds=tuple(dict.fromkeys(refund for refund, _ in refunds)),
        refunded=tuple(dict.fromkeys(refunded)),
    )


def add_refunds(listed: ListedOrder, amounts: Mapping[str, int]) -> PlatformOrder:
    """Return the order with its refunded amount; a refund of unknown amount does not count."""
    refunded_fen = sum(amounts.get(refund, 0) for refund in listed.refunded)
    if not refunded_fen or listed.order.payment is not PaymentState.PAID:
        return listed.order
    fully = refunded_fen >= listed.paid_fen
    state = PaymentState.REFUNDED if fully else PaymentState.PARTIALLY_REFUNDED
    return replace(listed.order, refunded_fen=refunded_fen, payment=state)


def _goods(raw: Json, total: int, freight: int) -> int:
    """Return the cost of the goods before discounts.

    `purchase_amount` is the total with freight, `product_amount` the cost of the goods; goods and
    freight less the total are the discount. If the cost of the goods is missing, or too small for
    the total (a seller raised the price), it is the total without freight, with no discount.
    """
    return max(whole(raw.get("product_amount")) or 0, total - freight)


def _pay_time(raw: Json) -> str | None:
    return identity(raw.get("pay_time"))


def _first_paid(subs: Sequence[Json]) -> datetime | None:
    return min((at for sub in subs if (at := moment(sub.get("pay_time")))), default=None)


def _payment_state(raw: Json, subs: Sequence[Json], status: str) -> PaymentState:
    """Return the payment state; a time of payment counts even if it is unreadable."""
    if _pay_time(raw) or status in _AFTER_PAYMENT:
        return PaymentState.PAID
    paid = [bool(_pay_time(sub)) for sub in subs]
    if any(paid):
        fully = all(paid) or status == _CLOSED
        return PaymentState.PAID if fully else PaymentState.PARTIALLY_PAID
    if status == _CLOSED:
        return PaymentState.CLOSED
    return PaymentState.UNPAID if status in _STATUSES else PaymentState.UNKNOWN


def _payment(order: PlatformOrder, subs: Sequence[Json]) -> Payment:
    """Return the state of a payment, as the order shows it.

    A line keeps the code of a payment that failed while another may be in progress: only an order
    that was closed unpaid proves that no payment was made.
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


def _status(raw: str, subs: Sequence[Json], *, paid: bool) -> PlatformOrderStatus | None:
    if raw == _CLOSED:
        return PlatformOrderStatus.CLOSED if paid else PlatformOrderStatus.CANCELLED
    if raw not in (_TO_SEND, _SENT):
        return _STATUSES.get(raw)
    open_subs = [sub for sub in subs if text(sub.get("status")) != _CLOSED]
    if open_subs and all(_is_shipped(sub) for sub in open_subs):
        return PlatformOrderStatus.SHIPPED
    if any(_is_shipped(sub) or _parcels(sub) for sub in open_subs):
        return PlatformOrderStatus.PARTIALLY_SHIPPED
    return _STATUSES[raw]


def _is_shipped(sub: Json) -> bool:
    return text(sub.get("status")) in (_SENT, _FINISHED)


def _item(sub: Json, raw: Json) -> Item:
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
        shipped=_is_shipped(sub) or (closed and bool(_parcels(sub))),
        goods=_line_goods(sub, raw, price, quantity),
    )


def _line_goods(sub: Json, raw: Json, amount_fen: int, quantity: int | None) -> Goods | None:
    """Return what a line buys. An order has amounts of lines only, so a price may be unknown."""
    sku, shop = record(sub.get("sku_info")), record(sub.get("option_fields"))
    properties = record(sku.get("skuPv"))
    attributes = record(properties.get("en")) or record(properties.get("zh"))
    named = {name: text(value) for name, value in attributes.items()}
    is_whole = bool(quantity) and amount_fen > 0 and amount_fen % (quantity or 1) == 0
    return ordered_goods(
        title=text(sub.get("title")),
        image_url=picture_url(sku.get("skuImgUrl")),
        attributes={name: value for name, value in named.items() if value}
        if named or identity(sub.get("sku_id")) is None
        else None,
        unit_price_fen=amount_fen // (quantity or 1) if is_whole else None,
        seller_name=text(shop.get("shopName")) or text(raw.get("supplier_nick")),
    )


def _parcels(sub: Json) -> list[Json]:
    """Return the parcels of a line; in an older format, the line itself holds its only parcel."""
    listed = records(sub.get("logistic_orders"))
    parcels = listed or [sub]
    return [parcel for parcel in parcels if text(parcel.get("logistic_number"))]


def _shipments(subs: Sequence[Json]) -> tuple[Shipment, ...]:
    """Merge the parcels of all lines: a parcel with several lines is listed by each."""
    by_number: dict[tuple[str | None, str | None], Shipment] = {}
    for sub in subs:
        line = identity(sub.get("sub_purchase_order_id"))
        for parcel in _parcels(sub):
            carrier = text(parcel.get("logistic_company_name"))
            number = text(parcel.get("logistic_number"))
            shipment = by_number.get((carrier, number)) or Shipment(
                carrier, number, moment(parcel.get("rts_time")), ()
            )
            lines = dict.fromkeys((*shipment.item_ids, *([line] if line else [])))
            by_number[carrier, number] = replace(shipment, item_ids=tuple(lines))
    return tuple(by_number.values())


def _close_reason(subs: Sequence[Json]) -> CloseReason:
    raw_reason = next(filter(None, (text(sub.get("close_reason")) for sub in subs)), "").upper()
    for words, reason in _CLOSERS:
        if any(word in raw_reason for word in words):
            return reason
    return CloseReason.OTHER


class OrderReader:
    """Reads the orders of our buyer."""

    def __init__(self, taobao_gateway: TaobaoGateway) -> None:
        self._gateway = taobao_gateway

    async def by_id(self, order_id: str) -> ListedOrder:
        for listed in await self.by_ids([order_id]):
            return listed
        message = f"There is no order {order_id}."
        raise Rejected(PLATFORM, "ORDER_NOT_EXIST", message, reason=Reason.NOT_FOUND)

    async def by_ids(self, order_ids: Sequence[str]) -> list[ListedOrder]:
        """Read orders by their ids. Other texts than numbers would make the whole call fail."""
        ids = [id_ for id_ in dict.fromkeys(order_ids) if id_.isascii() and id_.isdigit()]
        parts = [ids[at : at + ORDERS_A_PAGE] for at in range(0, len(ids), ORDERS_A_PAGE)]
        queries = ({"purchase_ids": f"[{','.join(part)}]"} for part in parts)
        results = await fan_out(partial(self._all, params) for params in queries)
        return [listed for result in results for listed in result if listed.order.id in ids]

    async def by_reference(self, reference: str) -> list[ListedOrder]:
        """Find every order of our reference; one without a reference is read again."""
        results = await self._all({"outer_purchase_id": reference})
        complete = [await self._with_reference(listed) for listed in results]
        return [listed for listed in complete if listed.order.reference == reference]

    async def _with_reference(self, listed: ListedOrder) -> ListedOrder:
        if listed.order.reference is not None:
            return listed
        try:
            return await self.by_id(listed.order.id)
        except Rejected as error:
            raise Unavailable(PLATFORM, error.code, error.message) from None

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
        return page.orders, _has_next(page, page_no)

    async def with_refunds(self, orders: Sequence[ListedOrder]) -> list[PlatformOrder]:
        """Read the amount of every refund that succeeded; orders name refunds without amounts."""
        ids = [(listed.order.id, refund_id) for listed in orders for refund_id in listed.refunded]
        refunds = await fan_out(partial(self._refund, *pair) for pair in ids)
        amounts = {refund.id: refund.amount_fen for refund in refunds if refund is not None}
        return [add_refunds(listed, amounts) for listed in orders]

    async def refunds(self, listed: ListedOrder) -> list[Refund]:
        order_id = listed.order.id
        refunds = await fan_out(partial(self._refund, order_id, id_) for id_ in listed.refunds)
        return [refund for refund in refunds if refund is not None]

    async def _refund(self, order_id: str, refund_id: str) -> Refund | None:
        """Read a refund; None if it does not exist: its order is readable without it."""
        try:
            read = partial(payments.refund, refund_id=refund_id, order_id=order_id)
            return await self._gateway.call(gateway.REFUNDS, {"refundId": refund_id}, read)
        except Rejected:
            return None

    async def _all(self, params: Mapping[str, str]) -> list[ListedOrder]:
        """Read every page of a query; Unavailable unless the result is complete."""
        by_id: dict[str, ListedOrder] = {}
        for page_no in range(1, _MOST_PAGES + 1):
            page = await self._page(params, page_no)
            by_id.update((listed.order.id, listed) for listed in page.orders)
            if not _has_next(page, page_no):
                if page.total is not None and len(by_id) < page.total:
                    message = f"Of {page.total} orders, {len(by_id)} were listed."
                    raise Unavailable(PLATFORM, "incomplete", message)
                return list(by_id.values())
        raise Unavailable(PLATFORM, "too_many", "The response has more orders than were requested.")

    async def _page(self, params: Mapping[str, str], page_no: int) -> OrderPage:
        paged = {**params, "page_no": str(page_no), "page_size": str(ORDERS_A_PAGE)}
        return await self._gateway.call(gateway.READ, paged, read_page)


def _has_next(page: OrderPage, page_no: int) -> bool:
    """Whether more pages follow, by the total, or by whether the page is full."""
    size = page.size or ORDERS_A_PAGE
    if not page.orders:
        return False
    return len(page.orders) >= size if page.total is None else page_no * size < page.total
