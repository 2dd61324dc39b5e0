"""The order object of 1688, which mixes yuan and fen."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from tradewind.platforms.alibaba.values import (
    Json,
    entries,
    entry,
    fen,
    moment,
    need,
    or_none,
    text,
    whole,
    yuan,
)
from tradewind.platforms.failures import UnreadableResponse
from tradewind.platforms.goods import ordered_goods
from tradewind.platforms.model import (
    CloseReason,
    Goods,
    Item,
    PaymentState,
    PlatformOrder,
    PlatformOrderStatus,
    Shipment,
)

STATUSES: Mapping[str, PlatformOrderStatus] = {
    "waitbuyerpay": PlatformOrderStatus.PENDING_PAYMENT,
    "waitsellersend": PlatformOrderStatus.PAID,
    "waitbuyerreceive": PlatformOrderStatus.SHIPPED,
    "confirm_goods": PlatformOrderStatus.RECEIVED,
    "success": PlatformOrderStatus.COMPLETED,
    "cancel": PlatformOrderStatus.CANCELLED,
    "terminated": PlatformOrderStatus.CLOSED,
}
PAY_STATES: Mapping[str, PaymentState] = {
    "1": PaymentState.UNPAID,
    "2": PaymentState.PAID,
    "4": PaymentState.REFUNDED,
    "6": PaymentState.PAID,
    "7": PaymentState.UNPAID,
    "8": PaymentState.CLOSED,
    "9": PaymentState.PROCESSING,
    "12": PaymentState.PROCESSING,
}
CLOSED_BY: Mapping[str, CloseReason] = {
    "CLOSE_TRADE_BY_SELLER": CloseReason.SELLER,
    "CLOSE_TRADE_BY_BOPS": CloseReason.PLATFORM,
    "CLOSE_TRADE_BY_SYSTEM": CloseReason.TIMEOUT,
    "CLOSE_TRADE_BY_BUYER": CloseReason.BUYER,
    "CLOSE_TRADE_BY_CREADIT": CloseReason.PLATFORM,
    "buyerCancel": CloseReason.BUYER,
    "sellerGoodsLack": CloseReason.SELLER,
}
# Without terms of payment, the status decides: an unpaid order is not shipped.
_PAID_BY_STATUS = frozenset(
    {
        PlatformOrderStatus.PAID,
        PlatformOrderStatus.SHIPPED,
        PlatformOrderStatus.RECEIVED,
        PlatformOrderStatus.COMPLETED,
    }
)
_CLOSED = frozenset({PlatformOrderStatus.CANCELLED, PlatformOrderStatus.CLOSED})
_RECEIVED_MONEY = frozenset({PaymentState.PAID, PaymentState.REFUNDED})

SHIPPED, RECEIVED, RETURNED, PARTLY_SHIPPED = "2", "3", "4", "5"
_IN_TRANSIT = frozenset({SHIPPED, RECEIVED, PARTLY_SHIPPED})
_WHOLLY_SHIPPED = frozenset({SHIPPED, RECEIVED, RETURNED})

# Both spellings, `waitselleragree` of an order and `WAIT_SELLER_AGREE` of a line.
_DISPUTES = frozenset({"waitselleragree", "waitbuyermodify", "waitbuyersend", "waitsellerreceive"})


def order(raw: Json) -> PlatformOrder:
    """Read `result` of the buyer's view, or an entry of the list."""
    base = entry(raw.get("baseInfo"))
    lines = entries(raw.get("productItems"))
    raw_status = need(base.get("status"), "status")
    created = moment(base.get("createTime"))
    total = _amount(yuan(base.get("totalAmount"), "totalAmount"), "totalAmount")
    freight = yuan(base.get("shippingFee"), "shippingFee") or 0
    # `discount` is negative where the price fell. Positive, the seller raised the price, which is
    # part of what the goods cost.
    discount = max(0, -(fen(base.get("discount"), "discount") or 0))
    pay_states = _pay_states(raw, base, raw_status)
    refunded = _refunded(base, total, pay_states)
    status = _status(raw_status, pay_states, lines)
    return PlatformOrder(
        id=order_id(base),
        reference=text(base.get("outOrderId")),
        status=status,
        raw_status=raw_status,
        payment=_payment(pay_states, total, refunded),
        total_fen=total,
        # The goods before the discount, so that goods + freight - discount = total. The lines'
        # `itemAmount` are after the discount, and add up to total - freight.
        goods_fen=total - freight + discount,
        freight_fen=freight,
        discount_fen=discount,
        refunded_fen=refunded,
        items=[_item(line, base) for line in lines],
        shipments=shipments(raw),
        close_reason=_close_reason(base) if status in _CLOSED else None,
        pay_before=_pay_before(base, created)
        if status is PlatformOrderStatus.PENDING_PAYMENT
        else None,
        created_at=created,
        paid_at=moment(base.get("payTime")),
        modified_at=moment(base.get("modifyTime")),
        dispute=_in_dispute(base, lines),
    )


def order_id(base: Json) -> str:
    """Return the id, from the text if there is one; the number is exact as well."""
    return text(base.get("idOfStr")) or need(base.get("id"), "id")


def _amount(amount: int | None, name: str) -> int:
    if amount is None or amount < 0:
        raise UnreadableResponse(f"The order has no {name}.")
    return amount


def _status(
    raw_status: str, pay_states: Sequence[PaymentState], lines: Sequence[Json]
) -> PlatformOrderStatus | None:
    """Return the status; None for an unknown one."""
    status = STATUSES.get(raw_status)
    if status is PlatformOrderStatus.CANCELLED and any(
        state in _RECEIVED_MONEY for state in pay_states
    ):
        # `cancel` is for unpaid orders; the payment status has precedence.
        return PlatformOrderStatus.CLOSED
    if status is PlatformOrderStatus.PAID and any(
        _logistics(line) in _IN_TRANSIT for line in lines
    ):
        return PlatformOrderStatus.PARTIALLY_SHIPPED
    return status


def _logistics(line: Json) -> str:
    return text(line.get("logisticsStatus")) or ""


def _pay_states(raw: Json, base: Json, raw_status: str) -> list[PaymentState]:
    """Return the state of each payment; an order paid in steps has several."""
    codes = [text(term.get("payStatus")) for term in entries(raw.get("tradeTerms"))]
    states = [PAY_STATES.get(code, PaymentState.UNKNOWN) for code in codes if code is not None]
    if states:
        return states
    status = STATUSES.get(raw_status)
    if moment(base.get("payTime")) is not None or status in _PAID_BY_STATUS:
        return [PaymentState.PAID]
    if status is PlatformOrderStatus.PENDING_PAYMENT:
        return [PaymentState.UNPAID]
    return [
        PaymentState.CLOSED if status is PlatformOrderStatus.CANCELLED else PaymentState.UNKNOWN
    ]


def _refunded(base: Json, total: int, pay_states: Sequence[PaymentState]) -> int:
    """Return the refunded amount: `refund` is in yuan, `refundPayment` the same in fen."""
    refunded = yuan(base.get("refund"), "refund")
    if refunded is None:
        refunded = fen(base.get("refundPayment"), "refundPayment")
    if not refunded and all(state is PaymentState.REFUNDED for state in pay_states):
        return total
    return max(0, refunded or 0)


def _payment(states: Sequence[PaymentState], total: int, refunded: int) -> PaymentState:
    if all(state is PaymentState.REFUNDED for state in states) or refunded >= total > 0:
        return PaymentState.REFUNDED
    if refunded > 0:
        return PaymentState.PARTIALLY_REFUNDED
    kinds = set(states)
    if kinds & _RECEIVED_MONEY:
        return PaymentState.PAID if kinds <= _RECEIVED_MONEY else PaymentState.PARTIALLY_PAID
    if PaymentState.PROCESSING in kinds:
        return PaymentState.PROCESSING
    return kinds.pop() if len(kinds) == 1 else PaymentState.UNKNOWN


def _item(line: Json, base: Json) -> Item:
    return Item(
        id=text(line.get("subItemIDString")) or need(line.get("subItemID"), "subItemID"),
        product_id=text(line.get("productID")),
        sku_id=text(line.get("specId")),
        quantity=whole(line.get("quantity"), "quantity") or 0,
        amount_fen=yuan(line.get("itemAmount"), "itemAmount") or 0,
        shipped=_logistics(line) in _WHOLLY_SHIPPED,
        goods=_goods(line, base),
    )


def _goods(line: Json, base: Json) -> Goods | None:
    """Return what a line buys; `price` is that of one piece, before discounts."""
    pictures = line.get("productImgUrl")
    seller = entry(base.get("sellerContact"))
    options = entries(line.get("skuInfos"))
    named = {text(option.get("name")): text(option.get("value")) for option in options}
    return ordered_goods(
        title=text(line.get("name")),
        image_url=next((text(url) for url in pictures if text(url)), None)
        if isinstance(pictures, list)
        else text(pictures),
        attributes={name: value for name, value in named.items() if name and value}
        if options or text(line.get("specId")) is None
        else None,
        unit_price_fen=or_none(yuan, line.get("price")),
        seller_name=text(seller.get("companyName")) or text(base.get("sellerLoginId")),
    )


def shipments(raw: Json) -> list[Shipment]:
    parcels = entries(entry(raw.get("nativeLogistics")).get("logisticsItems"))
    return [
        Shipment(
            carrier=text(parcel.get("logisticsCompanyName")),
            tracking_number=text(parcel.get("logisticsBillNo")),
            shipped_at=moment(parcel.get("deliveredTime")),
            item_ids=_item_ids(parcel.get("subItemIds")),
        )
        for parcel in parcels
    ]


def _item_ids(value: object) -> list[str]:
    """Read `1,2`, `[1, 2]` or a single number."""
    listed = value if isinstance(value, list) else (text(value) or "").split(",")
    ids = [text(element) for element in listed]
    return [item_id for item_id in ids if item_id is not None]


def _close_reason(base: Json) -> CloseReason:
    """Return who closed the order, which says more than the reason they selected."""
    by = CLOSED_BY.get(text(base.get("closeOperateType")) or "")
    return by or CLOSED_BY.get(text(base.get("closeReason")) or "", CloseReason.OTHER)


def _pay_before(base: Json, created: datetime | None) -> datetime | None:
    seconds = or_none(whole, base.get("payTimeout"))
    if created is None or not seconds:
        return None
    try:
        return created + timedelta(seconds=seconds)
    except OverflowError:
        return None


def _in_dispute(base: Json, lines: Sequence[Json]) -> bool:
    statuses = [base.get("refundStatus"), base.get("refundStatusForAs")]
    statuses += [line.get("refundStatus") for line in lines]
    return any(refund_status(status) in _DISPUTES for status in statuses)


def refund_status(status: object) -> str:
    """Return a refund's status in one spelling: `WAIT_SELLER_AGREE` is `waitselleragree`."""
    return (text(status) or "").replace("_", "").lower()
