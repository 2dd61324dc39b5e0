"""The order object of 1688, yuan beside fen, read into our words."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from tradewind.platforms.alibaba.values import (
    Json,
    entries,
    entry,
    fen,
    moment,
    need,
    text,
    text_or,
    whole,
    whole_or_none,
    yuan,
)
from tradewind.platforms.failures import UnreadableResponse
from tradewind.platforms.model import (
    CloseReason,
    Item,
    PaymentState,
    PlatformOrder,
    Shipment,
    Status,
)

STATUSES: Mapping[str, Status] = {
    "waitbuyerpay": Status.PENDING_PAYMENT,
    "waitsellersend": Status.PAID,
    "waitbuyerreceive": Status.SHIPPED,
    "confirm_goods": Status.RECEIVED,
    "success": Status.COMPLETED,
    "cancel": Status.CANCELLED,
    "terminated": Status.CLOSED,
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
# Without terms of payment, the status still tells: nobody ships what is not paid for.
_PAID_BY_STATUS = frozenset({Status.PAID, Status.SHIPPED, Status.RECEIVED, Status.COMPLETED})
_OVER = frozenset({Status.CANCELLED, Status.CLOSED})
_GOT_MONEY = frozenset({PaymentState.PAID, PaymentState.REFUNDED})

SHIPPED, RECEIVED, RETURNED, PARTLY_SHIPPED = "2", "3", "4", "5"
_ON_ITS_WAY = frozenset({SHIPPED, RECEIVED, PARTLY_SHIPPED})
_WHOLLY_SHIPPED = frozenset({SHIPPED, RECEIVED, RETURNED})

# Both spellings, `waitselleragree` of an order and `WAIT_SELLER_AGREE` of a line.
_DISPUTES = frozenset({"waitselleragree", "waitbuyermodify", "waitbuyersend", "waitsellerreceive"})


def order(shown: Json) -> PlatformOrder:
    """`result` of the buyer's view, or an entry of the list; Unreadable if it lacks the essence."""
    base = entry(shown.get("baseInfo"))
    lines = entries(shown.get("productItems"))
    raw = need(base.get("status"), "status")
    created = moment(base.get("createTime"))
    total = _amount(yuan(base.get("totalAmount"), "totalAmount"), "totalAmount")
    freight = yuan(base.get("shippingFee"), "shippingFee") or 0
    # `discount` is below zero where the price fell; above zero the seller raised it, and that
    # is part of what the goods cost.
    discount = max(0, -(fen(base.get("discount"), "discount") or 0))
    pay_states = _pay_states(shown, base, raw)
    refunded = _refunded(base, total, pay_states)
    status = _status(raw, pay_states, lines)
    return PlatformOrder(
        id=order_id(base),
        reference=text(base.get("outOrderId")),
        status=status,
        raw_status=raw,
        payment=_payment(pay_states, total, refunded),
        total_fen=total,
        # The goods before the discount: the total is what is paid, freight in and discount off,
        # so goods + freight - discount = total holds by construction. The lines' `itemAmount`
        # are after the discount, and sum up to total - freight.
        goods_fen=total - freight + discount,
        freight_fen=freight,
        discount_fen=discount,
        refunded_fen=refunded,
        items=[_item(line) for line in lines],
        shipments=shipments(shown),
        close_reason=_close_reason(base) if status in _OVER else None,
        pay_before=_pay_before(base, created) if status is Status.PENDING_PAYMENT else None,
        created_at=created,
        paid_at=moment(base.get("payTime")),
        modified_at=moment(base.get("modifyTime")),
        dispute=_in_dispute(base, lines),
    )


def order_id(base: Json) -> str:
    """From the string. The number beside it is exact here as well, since no float reads it."""
    return text(base.get("idOfStr")) or need(base.get("id"), "id")


def _amount(found: int | None, name: str) -> int:
    if found is None or found < 0:
        raise UnreadableResponse(f"The order has no {name}.")
    return found


def _status(raw: str, pay_states: Sequence[PaymentState], lines: Sequence[Json]) -> Status | None:
    """Where the order stands; None for a word that we do not know."""
    status = STATUSES.get(raw)
    if status is Status.CANCELLED and any(state in _GOT_MONEY for state in pay_states):
        # `cancel` is for unpaid orders. When the money says otherwise, believe the money.
        return Status.CLOSED
    if status is Status.PAID and any(_logistics(line) in _ON_ITS_WAY for line in lines):
        return Status.PARTIALLY_SHIPPED
    return status


def _logistics(line: Json) -> str:
    return text_or(line.get("logisticsStatus"), "")


def _pay_states(shown: Json, base: Json, raw: str) -> list[PaymentState]:
    """One for each payment that the order has; a step order has several."""
    told = [text(term.get("payStatus")) for term in entries(shown.get("tradeTerms"))]
    states = [PAY_STATES.get(word, PaymentState.UNKNOWN) for word in told if word is not None]
    if states:
        return states
    status = STATUSES.get(raw)
    if moment(base.get("payTime")) is not None or status in _PAID_BY_STATUS:
        return [PaymentState.PAID]
    if status is Status.PENDING_PAYMENT:
        return [PaymentState.UNPAID]
    return [PaymentState.CLOSED if status is Status.CANCELLED else PaymentState.UNKNOWN]


def _refunded(base: Json, total: int, pay_states: Sequence[PaymentState]) -> int:
    """`refund` is in yuan, `refundPayment` the same in fen; fully refunded needs neither."""
    told = yuan(base.get("refund"), "refund")
    if told is None:
        told = fen(base.get("refundPayment"), "refundPayment")
    if not told and all(state is PaymentState.REFUNDED for state in pay_states):
        return total
    return max(0, told or 0)


def _payment(states: Sequence[PaymentState], total: int, refunded: int) -> PaymentState:
    if all(state is PaymentState.REFUNDED for state in states) or refunded >= total > 0:
        return PaymentState.REFUNDED
    if refunded > 0:
        return PaymentState.PARTIALLY_REFUNDED
    kinds = set(states)
    if kinds & _GOT_MONEY:
        return PaymentState.PAID if kinds <= _GOT_MONEY else PaymentState.PARTIALLY_PAID
    if PaymentState.PROCESSING in kinds:
        return PaymentState.PROCESSING
    return kinds.pop() if len(kinds) == 1 else PaymentState.UNKNOWN


def _item(line: Json) -> Item:
    return Item(
        id=text(line.get("subItemIDString")) or need(line.get("subItemID"), "subItemID"),
        product_id=text(line.get("productID")),
        sku_id=text(line.get("specId")),
        quantity=whole(line.get("quantity"), "quantity") or 0,
        amount_fen=yuan(line.get("itemAmount"), "itemAmount") or 0,
        shipped=_logistics(line) in _WHOLLY_SHIPPED,
    )


def shipments(shown: Json) -> list[Shipment]:
    parcels = entries(entry(shown.get("nativeLogistics")).get("logisticsItems"))
    return [
        Shipment(
            carrier=text(parcel.get("logisticsCompanyName")),
            tracking_number=text(parcel.get("logisticsBillNo")),
            shipped_at=moment(parcel.get("deliveredTime")),
            item_ids=_item_ids(parcel.get("subItemIds")),
        )
        for parcel in parcels
    ]


def _item_ids(value: Any) -> list[str]:
    """`1,2`, `[1, 2]` or a single number."""
    listed = value if isinstance(value, list) else (text(value) or "").split(",")
    found = [text(one) for one in listed]
    return [one for one in found if one is not None]


def _close_reason(base: Json) -> CloseReason:
    """Who closed it says more than the reason they chose from a list of three."""
    by = CLOSED_BY.get(text_or(base.get("closeOperateType"), ""))
    return by or CLOSED_BY.get(text_or(base.get("closeReason"), ""), CloseReason.OTHER)


def _pay_before(base: Json, created: datetime | None) -> datetime | None:
    seconds = whole_or_none(base.get("payTimeout"))
    if created is None or not seconds:
        return None
    try:
        return created + timedelta(seconds=seconds)
    except OverflowError:
        return None


def _in_dispute(base: Json, lines: Sequence[Json]) -> bool:
    words = [base.get("refundStatus"), base.get("refundStatusForAs")]
    words += [line.get("refundStatus") for line in lines]
    return any(plain(word) in _DISPUTES for word in words)


def plain(word: Any) -> str:
    """A refund's status in one spelling: `WAIT_SELLER_AGREE` is `waitselleragree`."""
    return text_or(word, "").replace("_", "").lower()
