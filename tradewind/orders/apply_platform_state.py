"""What news from the platform makes of an order: the steps that it takes, if any. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tradewind.orders.lifecycle import CANCELLABLE, ENDED, FOLLOWS, MOVES, Trigger
from tradewind.orders.model import (
    OPEN_REQUESTS,
    Failure,
    Order,
    PaymentRequest,
    PaymentStatus,
    PayMode,
    RequestStatus,
    Status,
)
from tradewind.orders.rollup import GOT_MONEY, OVER, Standing, roll_up, unpaid
from tradewind.platforms.model import PaymentState, PlatformOrder
from tradewind.web.response import encode


@dataclass(frozen=True, slots=True)
class Heard:
    """The steps that follow from news, and what in the news cannot be true."""

    steps: Sequence[Order]
    contradictions: Sequence[str] = ()


def hear(order: Order, news: Sequence[PlatformOrder]) -> Heard:
    """What `news` makes of the order. The same news twice makes no step.

    Each axis moves by its own table. What the tables do not allow is stale or wrong: it is told
    as a contradiction, and what comes with it is not believed either, but for one thing: money
    goes back after the end of an order as well.
    """
    parts = merged(order.parts, news)
    if not parts:
        return Heard(())
    now = roll_up(parts)
    status = now.status or order.status
    if status is not order.status and status not in FOLLOWS[order.status]:
        if not _part_ended(parts):
            return _contradicted(order, now)
        status = order.status
    if _unpaid_again(order, now):
        return Heard((), [f"the platform says {now.payment} of an order that was paid"])
    if order.payment_status is PaymentStatus.CANCELLED and now.payment in GOT_MONEY:
        return Heard((), [f"the platform says {now.payment} of an order that was cancelled"])
    told = replace(
        order,
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
    return Heard(list(_with_money(order, told, now)))


def _part_ended(parts: Sequence[PlatformOrder]) -> bool:
    """Whether a part of a split order is over: the others may be less far than it was."""
    ended = [part for part in parts if part.status in OVER]
    return 0 < len(ended) < len(parts)


def merged(
    known: Sequence[PlatformOrder], news: Sequence[PlatformOrder]
) -> Sequence[PlatformOrder]:
    """The parts as they are now: of two tales about one, the later. New ones come last."""
    by_id = {part.id: part for part in known}
    for part in news:
        before = by_id.get(part.id)
        if before is None:
            by_id[part.id] = part
        elif not _older(part, before):
            # A word that we do not know keeps the last status that we did.
            told = replace(part, status=part.status or before.status)
            by_id[part.id] = before if encode(told) == encode(before) else told
    return list(by_id.values())


def _paid(order: Order, now: Standing) -> int:
    """What was paid. It never becomes less, and nothing more once all of it went back."""
    if order.payment_status is PaymentStatus.REFUNDED:
        return order.paid_fen
    return max(order.paid_fen, now.paid_fen)


def _older(part: PlatformOrder, than: PlatformOrder) -> bool:
    return (
        part.modified_at is not None
        and than.modified_at is not None
        and part.modified_at < than.modified_at
    )


def _unpaid_again(order: Order, now: Standing) -> bool:
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


def _contradicted(order: Order, now: Standing) -> Heard:
    said = f"the platform says {now.status} of an order that is {order.status}"
    goes_back = now.payment in GOT_MONEY and _refunded(order, now) > order.refunded_fen
    if order.status in ENDED and goes_back:
        refunded = replace(order, platform_payment_status=now.payment)
        return Heard(list(_with_money(order, refunded, now)), [said])
    return Heard((), [said])


def _with_money(order: Order, told: Order, now: Standing) -> Sequence[Order]:
    """The steps of the payment status that go with what was told, one at a time."""
    steps: list[Order] = []
    standing = told
    for trigger in _triggers(order, told, now):
        to = MOVES.get((standing.payment_status, trigger))
        if to is None:
            continue
        standing = replace(
            standing,
            payment_status=to,
            payment=_request_after(standing, trigger),
            paid_outside=standing.paid_outside
            or (trigger is Trigger.PAID and not _ours(standing.payment)),
        )
        if trigger in (Trigger.PARTLY_REFUNDED, Trigger.REFUNDED):
            standing = replace(standing, refunded_fen=_refunded(standing, now))
        if standing != (steps[-1] if steps else order):
            steps.append(standing)
    if not steps and told != order:
        steps.append(told)
    return steps


def _triggers(order: Order, told: Order, now: Standing) -> Sequence[Trigger]:
    found = []
    over = told.status in (Status.CANCELLED, Status.CLOSED)
    if now.payment not in GOT_MONEY and not over and is_another_amount(order.payment, told.parts):
        found.append(Trigger.AMOUNT_CHANGED)
    if now.payment in GOT_MONEY:
        found.append(Trigger.PAID)
        refunded = _refunded(told, now)
        if refunded > 0:
            all_of_it = refunded >= told.paid_fen
            found.append(Trigger.REFUNDED if all_of_it else Trigger.PARTLY_REFUNDED)
    elif over:
        found.append(Trigger.CLOSED)
    return found


def is_another_amount(request: PaymentRequest | None, parts: Sequence[PlatformOrder]) -> bool:
    """Whether what a request asked for is no longer what is to be paid.

    Who pays by hand, at the link, may pay one part after another: what is paid stays asked for.
    """
    if request is None:
        return False
    left = {part.id: part.total_fen for part in unpaid(parts)}
    if request.pay_url is not None:
        paid = {part.id: part.total_fen for part in parts if part.payment in GOT_MONEY}
        left |= {one: fen for one, fen in paid.items() if one in request.sums}
    return left != dict(request.sums)


def _refunded(order: Order, now: Standing) -> int:
    """What went back so far. It never becomes less: platforms forget what is long past."""
    return max(order.refunded_fen, min(now.refunded_fen, order.paid_fen))


def _ours(request: PaymentRequest | None) -> bool:
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
    """The open request once the money moved; it may be over by that."""
    request = order.payment
    if request is None or request.status not in OPEN_REQUESTS:
        return request
    if trigger is Trigger.PAID and _ours(request):
        return replace(request, status=RequestStatus.PAID)
    if trigger is Trigger.CLOSED and request.status is RequestStatus.PROCESSING:
        return replace(request, status=RequestStatus.FAILED, failure=_CLOSED_UNPAID)
    return replace(request, status=RequestStatus.SUPERSEDED, reason=_SUPERSEDED_BY[trigger])
