"""Combines the marketplace orders of a split order into one state. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from tradewind.orders.model import OrderStatus
from tradewind.platforms.model import (
    CloseReason,
    PaymentState,
    PlatformOrder,
    PlatformOrderStatus,
)

GOT_MONEY = frozenset({PaymentState.PAID, PaymentState.PARTIALLY_REFUNDED, PaymentState.REFUNDED})
OVER = frozenset({PlatformOrderStatus.CANCELLED, PlatformOrderStatus.CLOSED})
_PROGRESS = [
    PlatformOrderStatus.CREATING,
    PlatformOrderStatus.PENDING_PAYMENT,
    PlatformOrderStatus.PAID,
    PlatformOrderStatus.PARTIALLY_SHIPPED,
    PlatformOrderStatus.SHIPPED,
    PlatformOrderStatus.RECEIVED,
    PlatformOrderStatus.COMPLETED,
]
_UNSHIPPED = frozenset({PlatformOrderStatus.PAID, PlatformOrderStatus.PARTIALLY_SHIPPED})


@dataclass(frozen=True, slots=True)
class PlatformState:
    """What the marketplace says of an order as a whole. A status of None is unmapped."""

    status: OrderStatus | None
    raw_status: str
    payment: PaymentState
    goods_fen: int
    freight_fen: int
    discount_fen: int
    total_fen: int
    paid_fen: int
    refunded_fen: int
    close_reason: CloseReason | None
    pay_before: datetime | None
    dispute: bool


def unpaid(parts: Sequence[PlatformOrder]) -> Sequence[PlatformOrder]:
    """List the parts that wait for money."""
    return [
        part
        for part in parts
        if part.payment not in GOT_MONEY and part.status is PlatformOrderStatus.PENDING_PAYMENT
    ]


def roll_up(parts: Sequence[PlatformOrder]) -> PlatformState:
    """Combine at least one part. A part that was cancelled unpaid costs nothing any more."""
    live = [part for part in parts if part.status is not PlatformOrderStatus.CANCELLED] or list(
        parts
    )
    paid = [part for part in live if part.payment in GOT_MONEY]
    paid_fen = sum(part.total_fen for part in paid)
    refunded_fen = sum(min(part.refunded_fen, part.total_fen) for part in paid)
    status = _status(parts)
    over = status in (OrderStatus.CANCELLED, OrderStatus.CLOSED)
    return PlatformState(
        status=status,
        raw_status=", ".join(dict.fromkeys(part.raw_status for part in live)),
        payment=_payment(live, paid_fen, refunded_fen),
        goods_fen=sum(part.goods_fen for part in live),
        freight_fen=sum(part.freight_fen for part in live),
        discount_fen=sum(part.discount_fen for part in live),
        total_fen=sum(part.total_fen for part in live),
        paid_fen=paid_fen,
        refunded_fen=refunded_fen,
        close_reason=next((p.close_reason for p in parts if p.close_reason), None)
        if over
        else None,
        pay_before=min((p.pay_before for p in live if p.pay_before), default=None),
        dispute=any(part.dispute for part in live),
    )


def _status(parts: Sequence[PlatformOrder]) -> OrderStatus | None:
    """The least progress of the parts that are not over; partially shipped if only some are."""
    states = [part.status for part in parts]
    if all(state in OVER for state in states):
        was_paid = PlatformOrderStatus.CLOSED in states or any(
            p.payment in GOT_MONEY for p in parts
        )
        return OrderStatus.CLOSED if was_paid else OrderStatus.CANCELLED
    open_states = [state for state in states if state not in OVER]
    if None in open_states:
        return None
    if PlatformOrderStatus.UNKNOWN in open_states:
        return OrderStatus.UNKNOWN
    progress = [state for state in _PROGRESS if state in open_states]
    least, most = progress[0], progress[-1]
    if least in _UNSHIPPED and _PROGRESS.index(most) > _PROGRESS.index(PlatformOrderStatus.PAID):
        return OrderStatus.PARTIALLY_SHIPPED
    return OrderStatus(least)


def _payment(live: Sequence[PlatformOrder], paid_fen: int, refunded_fen: int) -> PaymentState:
    states = {part.payment for part in live}
    if states <= GOT_MONEY:
        if states == {PaymentState.REFUNDED} or refunded_fen >= paid_fen > 0:
            return PaymentState.REFUNDED
        return PaymentState.PARTIALLY_REFUNDED if refunded_fen else PaymentState.PAID
    if states & (GOT_MONEY | {PaymentState.PARTIALLY_PAID}):
        return PaymentState.PARTIALLY_PAID
    for state in (PaymentState.FAILED, PaymentState.PROCESSING):
        if state in states:
            return state
    return states.pop() if len(states) == 1 else PaymentState.UNKNOWN
