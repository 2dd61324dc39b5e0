"""An order in plain words: what it waits for, and what can be done with it. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tradewind.dashboard.shell import labels
from tradewind.errors import ApiError
from tradewind.orders import lifecycle
from tradewind.orders.errors import InvalidTransition
from tradewind.orders.model import Order, OrderStatus
from tradewind.orders.payments import decide
from tradewind.orders.payments.errors import AmountChanged
from tradewind.orders.payments.lifecycle import Trigger
from tradewind.orders.rollup import unpaid
from tradewind.platforms.model import RefundState
from tradewind.web.idempotency import IdempotencyKeyReused, RequestInFlight

_OVER: Mapping[OrderStatus, str] = {
    OrderStatus.CREATE_FAILED: "Nothing: it could not be placed, and nothing was bought.",
    OrderStatus.RECEIVED: "Nothing: it was received. It is completed when the marketplace says so.",
    OrderStatus.COMPLETED: "Nothing: it is completed.",
    OrderStatus.CANCELLED: "Nothing: it is cancelled.",
    OrderStatus.CLOSED: "Nothing: it is closed.",
    OrderStatus.UNKNOWN: "Nobody knows: the marketplace uses a word that has no meaning here.",
}
_WAITS: Mapping[str, str] = {
    "platform_create": "The marketplace, to take the order.",
    "approval": "Somebody else, to approve the payment.",
    "payment_result": "The marketplace, to say what became of the payment.",
    "seller_shipment": "The seller, to ship.",
    "receipt": "The parcel, to be received.",
}
_SHORT: Mapping[str, str] = {
    "platform_create": "the marketplace",
    "approval": "an approval",
    "payment_result": "the result of the payment",
    "payment": "payment",
    "seller_shipment": "the seller to ship",
    "receipt": "its receipt",
    "none": "—",
}
_MOVES: Mapping[OrderStatus, Sequence[tuple[str, str]]] = {
    OrderStatus.PENDING_PAYMENT: (
        ("paid", "It is paid by hand"),
        ("cancelled", "The seller closes it"),
        ("expired", "The time to pay runs out"),
    ),
    OrderStatus.PAID: (
        ("partially_shipped", "A part is shipped"),
        ("shipped", "It is shipped"),
        ("closed", "The seller closes it"),
    ),
    OrderStatus.PARTIALLY_SHIPPED: (("shipped", "The rest is shipped"),),
    OrderStatus.SHIPPED: (("received", "It is received"), ("completed", "It is completed")),
    OrderStatus.RECEIVED: (("completed", "It is completed"),),
}
_REFUND_MOVES: Mapping[RefundState, Sequence[tuple[str, str]]] = {
    RefundState.REQUESTED: (
        ("refund_agreed", "The seller agrees to the refund"),
        ("refund_refused", "The seller refuses the refund"),
    ),
    RefundState.APPROVED: (("refund_completed", "The refund is paid out"),),
}


@dataclass(frozen=True, slots=True)
class Allowed:
    """What people may do with an order as it stands; amounts in fen."""

    request_fen: int | None
    withdraw: bool
    cancel: bool
    refund_fen: int | None


def waits_for(order: Order) -> str:
    """Whom or what the order waits for, in a sentence."""
    if order.cancel_requested and order.status not in lifecycle.ENDED:
        return "The marketplace, to say that it is cancelled."
    code = lifecycle.waiting_for(order)
    if code != "payment":
        return _WAITS.get(code) or _OVER.get(order.status, "Nothing.")
    if order.payment is not None and order.payment.pay_url:
        return "A person, to pay it by the link below."
    return "Payment: nobody has asked for it yet, or it has to be asked for again."


def waits_for_short(code: str) -> str:
    return _SHORT.get(code, labels.word(code))


def allowed(order: Order) -> Allowed:
    """The actions that a page offers: those that would be refused now are left out."""
    commands = lifecycle.commands(order)
    asks = Trigger.REQUEST.value in commands and order.total_fen is not None
    left = decide.refundable(order)
    return Allowed(
        request_fen=sum(part.total_fen for part in unpaid(order.parts)) if asks else None,
        withdraw=Trigger.WITHDRAW.value in commands,
        cancel="cancel" in commands and not order.cancel_requested,
        refund_fen=left if "refund" in commands and left > 0 else None,
    )


def moves(order: Order) -> Sequence[tuple[str, str]]:
    """What may happen next on a simulated marketplace: a code, and what it means."""
    if not order.order_ids:
        return ()
    single = sum(line.quantity for line in order.lines) == 1
    found = [
        move
        for move in _MOVES.get(order.status, ())
        if not (single and move[0] == "partially_shipped")
    ]
    for refund in order.refunds:
        found += [move for move in _REFUND_MOVES.get(refund.state, ()) if move not in found]
    return found


def plainly(refusal: ApiError) -> str:
    """Why it was refused, to somebody whose page may be older than the order is."""
    if isinstance(refusal, InvalidTransition):
        state = labels.word(refusal.facts["current"])
        return (
            f"That is not possible any more: it is “{state}” by now. Nothing was done; below is "
            "the order as it stands."
        )
    if isinstance(refusal, AmountChanged):
        amount = refusal.facts["current_amount_cny"]
        return (
            f"The amount has changed since you looked: it is ¥{amount:,.2f} now. Nothing was "
            "done; look at it, and ask again if it is right."
        )
    if isinstance(refusal, IdempotencyKeyReused):
        return (
            "This page had asked for something else already, so nothing more was done. Below is "
            "the order as it stands: if you still want this, ask again from here."
        )
    if isinstance(refusal, RequestInFlight):
        return "The very same is under way already; it was not asked for a second time."
    return refusal.detail
