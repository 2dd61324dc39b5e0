"""Applies the state that a marketplace shows to an order: the steps that follow, if any. Pure."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
from msgspec.structs import replace

from tradewind.orders.lifecycle import CANCELLABLE, ENDED, FOLLOWS
from tradewind.orders.model import Order, OrderStatus
from tradewind.orders.payments.lifecycle import MOVES, Trigger
from tradewind.orders.payments.model import (
    OPEN_REQUESTS,
    Failure,
    PaymentRequest,
    PaymentStatus,
    PayMode,
    RequestStatus,
)
from tradewind.orders.rollup import GOT_MONEY, OVER, PlatformState, roll_up, unpaid
from tradewind.platforms.goods import fill_from_items
from tradewind.platforms.model import PaymentState, PlatformOrder


@dataclass(frozen=True, slots=True)
class StateApplied:
    """The steps that follow from a state, and what in the state cannot be true."""

    steps: Sequence[Order]
    contradictions: Sequence[str] = ()


def apply_state(order: Order, shown: Sequence[PlatformOrder]) -> StateApplied:
    """Return the steps to the state that is shown. The same state twice makes no step.

    Each status moves by its own table. What the tables do not allow is stale or wrong: it is
    returned as a contradiction, and the rest of that state is ignored. The exception is money that
    is refunded after the end of an order.
    """
    parts = merged(order.parts, [_without_goods(part) for part in shown])
    if not parts:
        return StateApplied(())
    now = roll_up(parts)
    status = now.status or order.status
    if status is not order.status and status not in FOLLOWS[order.status]:
        if not _part_ended(parts):
            return _contradicted(order, now)
        status = order.status
    if _unpaid_again(order, now):
        return StateApplied((), [f"the platform says {now.payment} of an order that was paid"])
    if order.payment_status is PaymentStatus.CANCELLED and now.payment in GOT_MONEY:
        return StateApplied((), [f"the platform says {now.payment} of an order that was cancelled"])
    updated = replace(
        order,
        lines=fill_from_items(order.lines, [item for part in shown for item in part.items]),
        status=status,
        platform_status=now.raw_status,
        platform_payment_status=now.payment,
        parts=parts,
        order_ids=[part.id for part in parts],
        goods_fen=now.goods_fen,
        freight_fen=now.freight_fen,
        discount_fen=now.discount_fen,
        total_fen=now.total_fen,
        paid_fen=_paid(order, now),
        close_reason=now.close_reason or order.close_reason,
        pay_before=now.pay_before,
        dispute=now.dispute,
        cancel_requested=order.cancel_requested and status in CANCELLABLE,
    )
    return StateApplied(list(_with_money(order, updated, now)))


def _part_ended(parts: Sequence[PlatformOrder]) -> bool:
    """Whether a part of a split order is over: the others may have made less progress."""
    ended = [part for part in parts if part.status in OVER]
    return 0 < len(ended) < len(parts)


def _without_goods(part: PlatformOrder) -> PlatformOrder:
    """A part as it is stored: its goods are stored with our own lines."""
    if all(item.goods is None for item in part.items):
        return part
    items = [dataclasses.replace(item, goods=None) for item in part.items]
    return dataclasses.replace(part, items=items)


def merged(
    stored: Sequence[PlatformOrder], shown: Sequence[PlatformOrder]
) -> Sequence[PlatformOrder]:
    """Return the parts as they are now: of two states of a part, the later. New ones come last."""
    by_id = {part.id: part for part in stored}
    for part in shown:
        before = by_id.get(part.id)
        if before is None:
            by_id[part.id] = part
        elif not _older(part, before):
            # An unmapped status keeps the last one that was mapped.
            after = dataclasses.replace(part, status=part.status or before.status)
            is_same = msgspec.json.encode(after) == msgspec.json.encode(before)
            by_id[part.id] = before if is_same else after
    return list(by_id.values())


def _paid(order: Order, now: PlatformState) -> int:
    """What was paid. It never becomes less, nor more once all of it was refunded."""
    if order.payment_status is PaymentStatus.REFUNDED:
        return order.paid_fen
    return max(order.paid_fen, now.paid_fen)


def _older(part: PlatformOrder, than: PlatformOrder) -> bool:
    return (
        part.modified_at is not None
        and than.modified_at is not None
        and part.modified_at < than.modified_at
    )


def _unpaid_again(order: Order, now: PlatformState) -> bool:
    paid = order.payment_status in (
        PaymentStatus.PAID,
        PaymentStatus.PARTIALLY_REFUNDED,
        PaymentStatus.REFUNDED,
    )
    return paid and now.payment in (
        PaymentState.UNPAID,
        PaymentState.PROCESSING,
        PaymentState.FAILED,
        PaymentState.CLOSED,
    )


def _contradicted(order: Order, now: PlatformState) -> StateApplied:
    reason = f"the platform says {now.status} of an order that is {order.status}"
    is_refunded = now.payment in GOT_MONEY and _refunded(order, now) > order.refunded_fen
    if order.status in ENDED and is_refunded:
        refunded = replace(order, platform_payment_status=now.payment)
        return StateApplied(list(_with_money(order, refunded, now)), [reason])
    return StateApplied((), [reason])


def _with_money(order: Order, updated: Order, now: PlatformState) -> Sequence[Order]:
    """The steps of the payment status that go with an updated order, one at a time."""
    steps: list[Order] = []
    step = updated
    for trigger in _triggers(order, updated, now):
        to = MOVES.get((step.payment_status, trigger))
        if to is None:
            continue
        step = replace(
            step,
            payment_status=to,
            payment=_request_after(step, trigger),
            paid_outside=step.paid_outside
            or (trigger is Trigger.PAID and not _is_ours(step.payment)),
        )
        if trigger in (Trigger.PARTLY_REFUNDED, Trigger.REFUNDED):
            step = replace(step, refunded_fen=_refunded(step, now))
        if step != (steps[-1] if steps else order):
            steps.append(step)
    if not steps and (updated != order or updated.lines is not order.lines):
        steps.append(updated)
    return steps


def _triggers(order: Order, updated: Order, now: PlatformState) -> Sequence[Trigger]:
    triggers = []
    over = updated.status in (OrderStatus.CANCELLED, OrderStatus.CLOSED)
    if (
        now.payment not in GOT_MONEY
        and not over
        and is_another_amount(order.payment, updated.parts)
    ):
        triggers.append(Trigger.AMOUNT_CHANGED)
    if now.payment in GOT_MONEY:
        triggers.append(Trigger.PAID)
        refunded = _refunded(updated, now)
        if refunded > 0:
            all_of_it = refunded >= updated.paid_fen
            triggers.append(Trigger.REFUNDED if all_of_it else Trigger.PARTLY_REFUNDED)
    elif over:
        triggers.append(Trigger.CLOSED)
    return triggers


def is_another_amount(request: PaymentRequest | None, parts: Sequence[PlatformOrder]) -> bool:
    """Whether the amount of a request is no longer what is to be paid.

    A person who pays at the link may pay one part after another: a part that is paid stays in the
    amount of the request.
    """
    if request is None:
        return False
    left = {part.id: part.total_fen for part in unpaid(parts)}
    if request.pay_url is not None:
        paid = {part.id: part.total_fen for part in parts if part.payment in GOT_MONEY}
        left |= {part_id: fen for part_id, fen in paid.items() if part_id in request.sums}
    return left != dict(request.sums)


def _refunded(order: Order, now: PlatformState) -> int:
    """What was refunded so far. It never becomes less: marketplaces drop what is long past."""
    return max(order.refunded_fen, min(now.refunded_fen, order.paid_fen))


def _is_ours(request: PaymentRequest | None) -> bool:
    """Whether a payment that was made is the one that we approved."""
    if request is None:
        return False
    by_link = request.mode is PayMode.LINK and request.pay_url is not None
    return request.status is RequestStatus.PROCESSING or (
        request.status is RequestStatus.APPROVED and by_link
    )


_SUPERSEDED_BY = {
    Trigger.PAID: "paid_outside",
    Trigger.AMOUNT_CHANGED: "amount_changed",
    Trigger.CLOSED: "order_closed",
}
_CLOSED_UNPAID = Failure("order_closed", "The order was closed on the platform, unpaid.")


def _request_after(order: Order, trigger: Trigger) -> PaymentRequest | None:
    """The request after the money moved, which may have ended it."""
    request = order.payment
    if request is None or request.status not in OPEN_REQUESTS:
        return request
    if trigger is Trigger.PAID and _is_ours(request):
        return replace(request, status=RequestStatus.PAID)
    if trigger is Trigger.CLOSED and request.status is RequestStatus.PROCESSING:
        return replace(request, status=RequestStatus.FAILED, failure=_CLOSED_UNPAID)
    return replace(request, status=RequestStatus.SUPERSEDED, reason=_SUPERSEDED_BY[trigger])
