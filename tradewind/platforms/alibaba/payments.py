"""Payments and refunds at 1688."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tradewind.platforms.alibaba.orders import refund_status
from tradewind.platforms.alibaba.values import (
    Json,
    as_number,
    encode,
    entries,
    entry,
    fen,
    flag,
    need,
    text,
)
from tradewind.platforms.failures import UnreadableResponse
from tradewind.platforms.model import (
    Item,
    Payment,
    PaymentState,
    PlatformOrder,
    PlatformOrderStatus,
    Refund,
    RefundKind,
    RefundRequest,
    RefundState,
)

IN_PROGRESS, PAID = "1", "3"
_QUERIES: Mapping[str, RefundState] = {
    IN_PROGRESS: RefundState.REQUESTED,
    PAID: RefundState.SUCCEEDED,
}
REFUND_STATES: Mapping[str, RefundState] = {
    "waitselleragree": RefundState.REQUESTED,
    "waitbuyermodify": RefundState.REFUSED,
    "waitbuyersend": RefundState.APPROVED,
    "waitsellerreceive": RefundState.APPROVED,
    "refundsuccess": RefundState.SUCCEEDED,
    "refundclose": RefundState.CLOSED,
    "refundclosed": RefundState.CLOSED,
}
# What an order shows about a payment. UNPAID: the same operation id may be sent again, since it
# never debits twice.
PAYMENTS_OF_ORDERS: Mapping[PaymentState, PaymentState] = {
    PaymentState.PAID: PaymentState.PAID,
    PaymentState.PARTIALLY_REFUNDED: PaymentState.PAID,
    PaymentState.REFUNDED: PaymentState.PAID,
    PaymentState.UNPAID: PaymentState.UNPAID,
    PaymentState.CLOSED: PaymentState.FAILED,
}
_SHORTEST_NOTE, _LONGEST_NOTE = 2, 150
_OTHER_REASON = "其他"


def pay_params(order_id: str, amount_fen: int, operation_id: str, channel: str) -> dict[str, str]:
    params = {
        "orderId": as_number(order_id),
        "payChannel": channel,
        "payAmount": amount_fen,
        "opRequestId": operation_id,
    }
    return {"tradeWithholdPreparePayParam": encode(params)}


def payment(response: Json) -> Payment:
    """Read the result of a debit. `paySuccess: false` may still have debited."""
    outer = entry(response.get("result"))
    inner = entry(outer.get("result"))
    if flag(outer.get("success")) is True and flag(inner.get("paySuccess")) is True:
        return Payment(PaymentState.PAID)
    return Payment(
        PaymentState.PROCESSING,
        text(outer.get("code")) or "pay_not_confirmed",
        text(outer.get("message")) or "The marketplace did not confirm the debit.",
    )


def payment_of_order(order: PlatformOrder) -> Payment:
    """Return what an order shows about a payment whose outcome was unknown."""
    state = PAYMENTS_OF_ORDERS.get(order.payment, PaymentState.PROCESSING)
    if state is PaymentState.FAILED:
        return Payment(state, "order_closed", "The order was closed before it was paid.")
    return Payment(state)


def pay_url(response: Json) -> str:
    url = need(response.get("payUrl"), "payUrl")
    if not url.startswith(("https://", "http://")):
        raise UnreadableResponse("payUrl is not a URL.")
    return url


def unpayable(response: Json) -> list[str]:
    """Return the orders that a payment page leaves out."""
    listed = response.get("payFailureOrderList")
    ids = [text(element) for element in listed] if isinstance(listed, list) else []
    return [order_id for order_id in ids if order_id is not None]


def goods_status(order: PlatformOrder, items: Sequence[Item], kind: RefundKind) -> str | None:
    """Return the state of the goods, as a refund request names it; None: not refundable."""
    if order.status is PlatformOrderStatus.COMPLETED:
        return "aftersaleBuyerReceived"
    if order.status is PlatformOrderStatus.RECEIVED:
        return "refundBuyerReceived"
    shipped = order.status is PlatformOrderStatus.SHIPPED or (
        order.status is PlatformOrderStatus.PARTIALLY_SHIPPED
        and any(item.shipped for item in items)
    )
    if shipped:
        returned = kind is RefundKind.RETURN_AND_REFUND
        return "refundBuyerReceived" if returned else "refundWaitBuyerReceive"
    if order.status in (PlatformOrderStatus.PAID, PlatformOrderStatus.PARTIALLY_SHIPPED):
        return "refundWaitSellerSend"
    return None


@dataclass(frozen=True, slots=True)
class RefundReason:
    """A reason that 1688 offers for refunding an order."""

    id: str
    name: str
    needs_voucher: bool


def refund_reasons(response: Json) -> list[RefundReason]:
    listed = entries(entry(entry(response.get("result")).get("result")).get("reasons"))
    return [
        RefundReason(
            id=need(reason.get("id"), "id"),
            name=text(reason.get("name")) or "",
            needs_voucher=flag(reason.get("needVoucher")) is True,
        )
        for reason in listed
    ]


def choose_reason(wanted: str, reasons: Sequence[RefundReason]) -> RefundReason | None:
    """Choose by id or name; else `其他`, else the first that requires no pictures."""
    named = [reason for reason in reasons if wanted.strip() in (reason.id, reason.name)]
    easy = [reason for reason in reasons if not reason.needs_voucher]
    others = [reason for reason in easy if reason.name.startswith(_OTHER_REASON)]
    return next(iter([*named, *others, *easy]), None)


def reasons_params(order_id: str, items: Sequence[Item], goods: str) -> dict[str, str]:
    entry_ids = encode([as_number(item.id) for item in items])
    return {"orderId": order_id, "orderEntryIds": entry_ids, "goodsStatus": goods}


def refund_params(
    request: RefundRequest, items: Sequence[Item], goods: str, reason: RefundReason
) -> dict[str, str]:
    returned = request.kind is RefundKind.RETURN_AND_REFUND
    return {
        **reasons_params(request.order_id, items, goods),
        "disputeRequest": "returnRefund" if returned else "refund",
        "applyPayment": str(request.goods_fen),
        "applyCarriage": str(request.freight_fen),
        "applyReasonId": reason.id,
        "description": _description(request, reason),
    }


def _description(request: RefundRequest, reason: RefundReason) -> str:
    """Write 2 to 150 characters: the note, else the caller's reason, else the marketplace's."""
    texts = [(request.note or "").strip(), request.reason.strip(), reason.name]
    long_enough = (text for text in texts if len(text) >= _SHORTEST_NOTE)
    return next(long_enough, _OTHER_REASON)[:_LONGEST_NOTE]


def refund_id(response: Json) -> str:
    outer = entry(response.get("result"))
    inner = entry(outer.get("result"))
    return text(inner.get("refundId")) or need(outer.get("refundId"), "refundId")


def refunds(response: Json, order_id: str, query: str) -> list[Refund]:
    """Read the refunds of a query; an unknown status counts as the one that was queried."""
    result = response.get("result")
    listed = entry(result).get("opOrderRefundModels", [] if result == {} else None)
    if not isinstance(listed, list):
        raise UnreadableResponse("The response has no list of refunds.")
    return [_refund(raw, order_id, _QUERIES[query]) for raw in entries(listed)]


def _refund(raw: Json, order_id: str, default: RefundState) -> Refund:
    state = REFUND_STATES.get(refund_status(raw.get("status")), default)
    refunded = _sum(raw, "refundPayment", "refundCarriage")
    requested = _sum(raw, "applyPayment", "applyCarriage")
    return Refund(
        id=text(raw.get("refundId")) or need(raw.get("id"), "refundId"),
        order_id=order_id,
        state=state,
        amount_fen=(refunded or requested) if state is RefundState.SUCCEEDED else requested,
        raw_status=text(raw.get("status")) or "",
    )


def _sum(raw: Json, *names: str) -> int:
    return sum(fen(raw.get(name), name) or 0 for name in names)
