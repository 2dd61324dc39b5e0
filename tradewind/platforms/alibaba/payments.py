"""Paying and refunding at 1688: what we ask, and what its answers mean."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tradewind.platforms.alibaba.orders import plain
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
    text_or,
)
from tradewind.platforms.failures import UnreadableResponse
from tradewind.platforms.model import (
    Item,
    Payment,
    PaymentState,
    PlatformOrder,
    Refund,
    RefundKind,
    RefundRequest,
    RefundState,
    Status,
)

UNDER_WAY, PAID_BACK = "1", "3"
_QUERIES: Mapping[str, RefundState] = {
    UNDER_WAY: RefundState.REQUESTED,
    PAID_BACK: RefundState.SUCCEEDED,
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
# What an order that is read again says about a payment of it. Nothing to be seen is UNPAID: the
# same operation id may be sent again, it never debits twice.
SEEN: Mapping[PaymentState, PaymentState] = {
    PaymentState.PAID: PaymentState.PAID,
    PaymentState.PARTIALLY_REFUNDED: PaymentState.PAID,
    PaymentState.REFUNDED: PaymentState.PAID,
    PaymentState.UNPAID: PaymentState.UNPAID,
    PaymentState.CLOSED: PaymentState.FAILED,
}
_SHORTEST_NOTE, _LONGEST_NOTE = 2, 150
_OTHER_REASON = "其他"


def pay_params(order_id: str, amount_fen: int, operation_id: str, channel: str) -> dict[str, str]:
    asked = {
        "orderId": as_number(order_id),
        "payChannel": channel,
        "payAmount": amount_fen,
        "opRequestId": operation_id,
    }
    return {"tradeWithholdPreparePayParam": encode(asked)}


def payment(answer: Json) -> Payment:
    """What a debit came to. `paySuccess: false` is no failure: the money may have moved."""
    outer = entry(answer.get("result"))
    inner = entry(outer.get("result"))
    if flag(outer.get("success")) is True and flag(inner.get("paySuccess")) is True:
        return Payment(PaymentState.PAID)
    return Payment(
        PaymentState.PROCESSING,
        text(outer.get("code")) or "pay_not_confirmed",
        text(outer.get("message")) or "The platform did not confirm the debit.",
    )


def found_payment(order: PlatformOrder) -> Payment:
    """What the order itself says of a payment whose outcome was not known."""
    state = SEEN.get(order.payment, PaymentState.PROCESSING)
    if state is PaymentState.FAILED:
        return Payment(state, "order_closed", "The order was closed before it was paid.")
    return Payment(state)


def pay_url(answer: Json) -> str:
    url = need(answer.get("payUrl"), "payUrl")
    if not url.startswith(("https://", "http://")):
        raise UnreadableResponse("payUrl is no address.")
    return url


def unpayable(answer: Json) -> list[str]:
    """Orders that a payment link leaves out."""
    listed = answer.get("payFailureOrderList")
    found = [text(one) for one in listed] if isinstance(listed, list) else []
    return [one for one in found if one is not None]


def goods_status(order: PlatformOrder, items: Sequence[Item], kind: RefundKind) -> str | None:
    """Where the goods are, in the word that 1688 wants with a refund; None: not refundable."""
    if order.status is Status.COMPLETED:
        return "aftersaleBuyerReceived"
    if order.status is Status.RECEIVED:
        return "refundBuyerReceived"
    sent = order.status is Status.SHIPPED or (
        order.status is Status.PARTIALLY_SHIPPED and any(item.shipped for item in items)
    )
    if sent:
        returned = kind is RefundKind.RETURN_AND_REFUND
        return "refundBuyerReceived" if returned else "refundWaitBuyerReceive"
    if order.status in (Status.PAID, Status.PARTIALLY_SHIPPED):
        return "refundWaitSellerSend"
    return None


@dataclass(frozen=True, slots=True)
class RefundReason:
    """One of the reasons that 1688 offers for an order."""

    id: str
    name: str
    needs_voucher: bool


def refund_reasons(answer: Json) -> list[RefundReason]:
    listed = entries(entry(entry(answer.get("result")).get("result")).get("reasons"))
    return [
        RefundReason(
            id=need(one.get("id"), "id"),
            name=text_or(one.get("name"), ""),
            needs_voucher=flag(one.get("needVoucher")) is True,
        )
        for one in listed
    ]


def choose_reason(said: str, reasons: Sequence[RefundReason]) -> RefundReason | None:
    """The one that was named by id or name; else `其他`, else the first that asks no pictures."""
    easy = [one for one in reasons if not one.needs_voucher]
    wanted = [one for one in reasons if said.strip() in (one.id, one.name)]
    others = [one for one in easy if one.name.startswith(_OTHER_REASON)]
    return next(iter([*wanted, *others, *easy]), None)


def reasons_params(order_id: str, items: Sequence[Item], goods: str) -> dict[str, str]:
    return {"orderId": order_id, "orderEntryIds": _entry_ids(items), "goodsStatus": goods}


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


def _entry_ids(items: Sequence[Item]) -> str:
    return encode([as_number(item.id) for item in items])


def _description(request: RefundRequest, reason: RefundReason) -> str:
    """2 to 150 letters: the note, or the reason in the caller's words, or in the platform's."""
    words = [(request.note or "").strip(), request.reason.strip(), reason.name]
    fits = (one for one in words if len(one) >= _SHORTEST_NOTE)
    return next(fits, _OTHER_REASON)[:_LONGEST_NOTE]


def refund_id(answer: Json) -> str:
    outer = entry(answer.get("result"))
    inner = entry(outer.get("result"))
    return text(inner.get("refundId")) or need(outer.get("refundId"), "refundId")


def refunds(answer: Json, order_id: str, query: str) -> list[Refund]:
    """Refunds of one query. A status that we do not know counts as what was asked for."""
    result = answer.get("result")
    listed = entry(result).get("opOrderRefundModels", [] if result == {} else None)
    if not isinstance(listed, list):
        raise UnreadableResponse("The answer has no list of refunds.")
    return [_refund(one, order_id, _QUERIES[query]) for one in entries(listed)]


def _refund(shown: Json, order_id: str, default: RefundState) -> Refund:
    state = REFUND_STATES.get(plain(shown.get("status")), default)
    given = _sum(shown, "refundPayment", "refundCarriage")
    asked = _sum(shown, "applyPayment", "applyCarriage")
    return Refund(
        id=text(shown.get("refundId")) or need(shown.get("id"), "refundId"),
        order_id=order_id,
        state=state,
        amount_fen=(given or asked) if state is RefundState.SUCCEEDED else asked,
        raw_status=text_or(shown.get("status"), ""),
    )


def _sum(shown: Json, *names: str) -> int:
    amounts: list[Any] = [fen(shown.get(name), name) or 0 for name in names]
    return sum(amounts)
