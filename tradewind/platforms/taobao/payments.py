"""Payments and refunds at Taobao Global: what its responses to them mean."""

from tradewind.platforms.failures import UnreadableResponse
from tradewind.platforms.model import Payment, PaymentState, Refund, RefundState
from tradewind.platforms.taobao.errors import is_known
from tradewind.platforms.taobao.values import identity, record, records, text, values, whole

REFUND_DONE = 100
_REFUNDS = {
    10: RefundState.REQUESTED,
    20: RefundState.APPROVED,
    30: RefundState.APPROVED,  # the goods are on their way back
    REFUND_DONE: RefundState.SUCCEEDED,
    -10: RefundState.REFUSED,
    -20: RefundState.CLOSED,
}
DISPUTED = frozenset({10, 20, 30})


def payment(data: object, order_id: str) -> Payment:
    """Read the result: an accepted payment, or an unknown error, may be paid later."""
    raw = record(data)
    for failed in records(raw.get("pay_failed_results")):
        if identity(failed.get("purchase_order_id") or failed.get("gspOrderId")) == order_id:
            code = text(failed.get("errorCode")) or text(failed.get("reason")) or "no_code"
            state = PaymentState.FAILED if is_known(code) else PaymentState.PROCESSING
            return Payment(state, code, text(failed.get("errorMessage")))
    if order_id in map(identity, values(raw.get("pay_failure_purchase_order_ids"))):
        return Payment(PaymentState.PROCESSING, "no_code", None)
    if order_id in map(identity, values(raw.get("will_pay_purchase_order_ids"))):
        return Payment(PaymentState.PROCESSING)
    raise UnreadableResponse("a payment that is neither accepted nor failed")


def refund(data: object, refund_id: str, order_id: str) -> Refund:
    """Read a refund; an unknown state counts as requested."""
    aggregate = record(record(data).get("refund_order_aggregate")) or record(data)
    raw = record(aggregate.get("refund_order"))
    amount, raw_status = whole(raw.get("refund_fee")), text(raw.get("refund_status"))
    if amount is None or raw_status is None:
        raise UnreadableResponse("a refund without its amount or state")
    state = _REFUNDS.get(whole(raw_status) or 0, RefundState.REQUESTED)
    return Refund(refund_id, order_id, state, amount, raw_status)
