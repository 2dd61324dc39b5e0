"""The next state of a payment after a command or an internal step, or the error. Pure."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from msgspec.structs import replace

from tradewind.orders.errors import InvalidTransition
from tradewind.orders.lifecycle import allowed, is_payable
from tradewind.orders.model import Order
from tradewind.orders.payments.errors import AmountChanged, OwnRequest, RefundTooLarge
from tradewind.orders.payments.four_eyes import is_requester
from tradewind.orders.payments.lifecycle import MOVES, REFUNDABLE, Trigger
from tradewind.orders.payments.model import (
    Failure,
    OrderRefund,
    PaymentRequest,
    PaymentStatus,
    PayMode,
    RequestStatus,
)
from tradewind.orders.person import Person
from tradewind.orders.rollup import unpaid
from tradewind.platforms.model import PlatformOrder, Refund, RefundState

_REFUND_LAPSES = timedelta(minutes=10)
_OPEN_REFUNDS = frozenset({RefundState.REQUESTED, RefundState.APPROVED})


def moved(order: Order, trigger: Trigger, by: Person | None = None) -> PaymentStatus:
    """Return where `trigger` leads from here, or raise InvalidTransition."""
    to = MOVES.get((order.payment_status, trigger))
    if to is None:
        raise InvalidTransition(order.payment_status, trigger.value, allowed(order, by))
    return to


def must_be_refundable(order: Order, by: Person) -> None:
    if order.payment_status not in REFUNDABLE:
        raise InvalidTransition(order.payment_status, "refund", allowed(order, by))


def _must_await_payment(order: Order, trigger: Trigger, by: Person) -> None:
    """Money is requested and approved only while the marketplace waits for it."""
    if not is_payable(order) or order.total_fen is None:
        raise InvalidTransition(order.status, trigger.value, allowed(order, by))


def payment_requested(
    order: Order,
    request_id: UUID,
    by: Person,
    mode: PayMode,
    seen_fen: int | None,
    at: datetime,
    note: str | None = None,
) -> Order:
    """Request what the order costs now; `seen_fen` is the amount that the buyer saw, if named."""
    to = moved(order, Trigger.REQUEST, by)
    _must_await_payment(order, Trigger.REQUEST, by)
    sums = {part.id: part.total_fen for part in unpaid(order.parts)}
    amount = sum(sums.values())
    if seen_fen is not None and seen_fen != amount:
        raise AmountChanged(seen_fen, amount)
    if order.cancel_requested:
        raise InvalidTransition("cancel_requested", Trigger.REQUEST, allowed(order, by))
    return replace(
        order,
        payment_status=to,
        payment=PaymentRequest(
            id=request_id,
            status=RequestStatus.PENDING_APPROVAL,
            amount_fen=amount,
            sums=sums,
            mode=mode,
            requested_by=by,
            requested_at=at,
            note=note,
        ),
    )


def payment_withdrawn(order: Order, by: Person, at: datetime) -> Order:
    to = moved(order, Trigger.WITHDRAW, by)
    request = replace(_open(order), status=RequestStatus.WITHDRAWN, decided_by=by, decided_at=at)
    return replace(order, payment_status=to, payment=request)


def payment_approved(order: Order, by: Person, seen_fen: int | None, at: datetime) -> Order:
    """Approve the amount of the request; `seen_fen` is the amount that the approver saw."""
    to = moved(order, Trigger.APPROVE, by)
    request = _decidable(order, by)
    if seen_fen is not None and seen_fen != request.amount_fen:
        raise AmountChanged(seen_fen, request.amount_fen)
    _must_await_payment(order, Trigger.APPROVE, by)
    if order.cancel_requested:
        raise InvalidTransition("cancel_requested", Trigger.APPROVE, allowed(order, by))
    approved = replace(request, status=RequestStatus.APPROVED, decided_by=by, decided_at=at)
    return replace(order, payment_status=to, payment=approved)


def payment_rejected(order: Order, by: Person, reason: str, at: datetime) -> Order:
    to = moved(order, Trigger.REJECT, by)
    request = replace(
        _decidable(order, by),
        status=RequestStatus.REJECTED,
        decided_by=by,
        decided_at=at,
        reason=reason,
    )
    return replace(order, payment_status=to, payment=request)


def payment_sent(order: Order, at: datetime) -> Order:
    """Record the intent to debit, before the marketplace is called."""
    to = moved(order, Trigger.SUBMIT)
    request = replace(_open(order), status=RequestStatus.PROCESSING, sent_at=at)
    return replace(order, payment_status=to, payment=request)


def payment_failed(order: Order, failure: Failure) -> Order:
    to = moved(order, Trigger.FAILED)
    request = replace(_open(order), status=RequestStatus.FAILED, failure=failure)
    return replace(order, payment_status=to, payment=request)


def link_received(order: Order, pay_url: str) -> Order:
    return replace(order, payment=replace(_open(order), pay_url=pay_url))


def refund_requested(order: Order, refund: OrderRefund, by: Person) -> Order:
    """Request a refund; all refunds together never exceed what was paid."""
    must_be_refundable(order, by)
    left = refundable(order)
    total = refund.amount_fen + refund.freight_fen
    if total > left or total <= 0:
        raise RefundTooLarge(total, left)
    return replace(order, refunds=[*order.refunds, refund])


def is_open(refund: OrderRefund) -> bool:
    """Whether the seller has yet to decide, or the money to come."""
    return refund.state in _OPEN_REFUNDS


def refundable(order: Order) -> int:
    """What was paid, less what was refunded, less what is requested already."""
    return _left(order.paid_fen, order.refunded_fen, order.refunds)


def refundable_of(order: Order, part: PlatformOrder) -> int:
    """The same of one part; never more than is left of the whole order."""
    refunds = [refund for refund in order.refunds if refund.order_id == part.id]
    return min(refundable(order), _left(part.total_fen, part.refunded_fen, refunds))


def _left(paid_fen: int, refunded_fen: int, refunds: Sequence[OrderRefund]) -> int:
    requested = sum(refund.amount_fen + refund.freight_fen for refund in refunds if is_open(refund))
    # The list of refunds may show one before the amounts of the order do.
    succeeded = sum(
        refund.amount_fen + refund.freight_fen
        for refund in refunds
        if refund.state is RefundState.SUCCEEDED
    )
    return max(0, paid_fen - max(refunded_fen, succeeded) - requested)


def refund_accepted(order: Order, refund_id: UUID, platform_id: str, at: datetime) -> Order:
    """The marketplace took a refund, under this id. A sync may have added it before."""
    others = {refund.platform_id: refund for refund in order.refunds if refund.id != refund_id}
    twin = others.get(platform_id)
    refunds = [
        replace(
            refund,
            platform_id=platform_id,
            updated_at=at,
            state=twin.state if twin else refund.state,
        )
        if refund.id == refund_id
        else refund
        for refund in order.refunds
        if refund is not twin
    ]
    return replace(order, refunds=refunds)


def refund_failed(order: Order, refund_id: UUID, failure: Failure, at: datetime) -> Order:
    """The marketplace rejected a refund that the buyer got as a result already."""
    refunds = [
        replace(refund, state=RefundState.CLOSED, failure=failure, updated_at=at)
        if refund.id == refund_id
        else refund
        for refund in order.refunds
    ]
    return replace(order, refunds=refunds)


def refund_dropped(order: Order, refund_id: UUID) -> Order:
    """The marketplace rejected it before anybody saw it: it never existed."""
    return replace(order, refunds=[refund for refund in order.refunds if refund.id != refund_id])


def refunds_synced(
    order: Order, listed: Sequence[Refund], new_ids: Sequence[UUID], at: datetime
) -> Order:
    """Refunds as the marketplace lists them, matched to ours by its id, else by amount.

    What it no longer lists stays as it was: marketplaces drop what is over.
    """
    refunds = list(order.refunds)
    unused_ids = iter(new_ids)
    for platform_refund in listed:
        index = _match(refunds, platform_refund)
        if index is None:
            refunds.append(_made_outside(next(unused_ids), platform_refund, at))
            continue
        ours = refunds[index]
        synced = replace(
            ours,
            platform_id=platform_refund.id,
            state=platform_refund.state,
            raw_status=platform_refund.raw_status,
            failure=None,
        )
        if synced != ours:
            refunds[index] = replace(synced, updated_at=at)
    refunds = [_lost(refund, at) if _is_lost(refund, at) else refund for refund in refunds]
    return order if refunds == list(order.refunds) else replace(order, refunds=refunds)


def _is_lost(refund: OrderRefund, at: datetime) -> bool:
    """Whether it was sent without a response and is still not listed: it never arrived."""
    unnamed = refund.platform_id is None and refund.state is RefundState.REQUESTED
    return unnamed and at - refund.requested_at > _REFUND_LAPSES


def _lost(refund: OrderRefund, at: datetime) -> OrderRefund:
    failure = Failure("refund_lost", "The marketplace never got this refund; request it again.")
    return replace(refund, state=RefundState.CLOSED, failure=failure, updated_at=at)


def _match(refunds: Sequence[OrderRefund], listed: Refund) -> int | None:
    for index, ours in enumerate(refunds):
        if ours.platform_id == listed.id:
            return index
    for index, ours in enumerate(refunds):
        unnamed = ours.platform_id is None and ours.state is RefundState.REQUESTED
        same = ours.amount_fen + ours.freight_fen == listed.amount_fen
        if unnamed and same and ours.order_id == listed.order_id:
            return index
    return None


def _made_outside(refund_id: UUID, listed: Refund, at: datetime) -> OrderRefund:
    """A refund that was requested on the marketplace's own pages."""
    return OrderRefund(
        id=refund_id,
        platform_id=listed.id,
        order_id=listed.order_id,
        state=listed.state,
        kind=None,
        amount_fen=listed.amount_fen,
        freight_fen=0,
        reason=None,
        note=None,
        failure=None,
        requested_at=at,
        updated_at=at,
        raw_status=listed.raw_status,
    )


def _open(order: Order) -> PaymentRequest:
    if order.payment is None:
        raise InvalidTransition(order.payment_status, "decide", [])
    return order.payment


def _decidable(order: Order, by: Person) -> PaymentRequest:
    request = _open(order)
    if is_requester(request, by.id):
        raise OwnRequest
    return request
