"""What commands and our own steps make of an order, or why they are refused. Pure."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

from tradewind.orders import lifecycle
from tradewind.orders.errors import AmountChanged, InvalidTransition, OwnRequest, RefundTooLarge
from tradewind.orders.lifecycle import Trigger
from tradewind.orders.model import (
    Failure,
    Order,
    OrderRefund,
    PaymentRequest,
    PayMode,
    RequestStatus,
    Status,
    Who,
)
from tradewind.orders.rollup import unpaid
from tradewind.platforms.model import (
    CloseReason,
    PaymentState,
    PlatformOrder,
    Refund,
    RefundState,
)

_REFUND_LAPSES = timedelta(minutes=10)
_OPEN_REFUNDS = frozenset({RefundState.REQUESTED, RefundState.APPROVED})


def placed(order: Order, order_ids: Sequence[str]) -> Order:
    """The platform made it, and named it so."""
    return replace(order, order_ids=list(order_ids))


def create_refused(order: Order, failure: Failure) -> Order:
    """The platform will never make it."""
    if order.status is not Status.CREATING:
        raise InvalidTransition(order.status, "create_failed", [])
    return replace(order, status=Status.CREATE_FAILED, failure=failure, cancel_requested=False)


def dropped(order: Order) -> Order:
    """It was cancelled before the platform ever heard of it."""
    if order.status is not Status.CREATING or order.order_ids:
        raise InvalidTransition(order.status, "cancel", [])
    return replace(
        order,
        status=Status.CANCELLED,
        payment_status=lifecycle.moved(order, Trigger.CLOSED),
        platform_payment_status=PaymentState.CLOSED,
        close_reason=CloseReason.BUYER,
        cancel_requested=False,
    )


def cancel_asked(order: Order, by: Who) -> Order:
    lifecycle.must_be_cancellable(order, by)
    return replace(order, cancel_requested=True)


def cancel_refused(order: Order) -> Order:
    return replace(order, cancel_requested=False)


def payment_requested(
    order: Order, request_id: UUID, by: Who, mode: PayMode, seen_fen: int | None, at: datetime
) -> Order:
    """`seen_fen` is the amount that the buyer looked at, if they say so."""
    to = lifecycle.moved(order, Trigger.REQUEST, by)
    lifecycle.must_await_payment(order, Trigger.REQUEST, by)
    sums = {part.id: part.total_fen for part in unpaid(order.parts)}
    amount = sum(sums.values())
    if seen_fen is not None and seen_fen != amount:
        raise AmountChanged(seen_fen, amount)
    if order.cancel_requested:
        raise InvalidTransition("cancel_requested", Trigger.REQUEST, lifecycle.allowed(order, by))
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
        ),
    )


def payment_withdrawn(order: Order, by: Who, at: datetime) -> Order:
    to = lifecycle.moved(order, Trigger.WITHDRAW, by)
    request = replace(_open(order), status=RequestStatus.WITHDRAWN, decided_by=by, decided_at=at)
    return replace(order, payment_status=to, payment=request)


def payment_approved(order: Order, by: Who, seen_fen: int | None, at: datetime) -> Order:
    """An approval binds the amount: what the approver saw is what is paid, or nothing is."""
    to = lifecycle.moved(order, Trigger.APPROVE, by)
    request = _decidable(order, by)
    if seen_fen is not None and seen_fen != request.amount_fen:
        raise AmountChanged(seen_fen, request.amount_fen)
    lifecycle.must_await_payment(order, Trigger.APPROVE, by)
    if order.cancel_requested:
        raise InvalidTransition("cancel_requested", Trigger.APPROVE, lifecycle.allowed(order, by))
    approved = replace(request, status=RequestStatus.APPROVED, decided_by=by, decided_at=at)
    return replace(order, payment_status=to, payment=approved)


def payment_rejected(order: Order, by: Who, reason: str, at: datetime) -> Order:
    to = lifecycle.moved(order, Trigger.REJECT, by)
    request = replace(
        _decidable(order, by),
        status=RequestStatus.REJECTED,
        decided_by=by,
        decided_at=at,
        reason=reason,
    )
    return replace(order, payment_status=to, payment=request)


def payment_sent(order: Order, at: datetime) -> Order:
    """The intent to debit: committed before the platform is called."""
    to = lifecycle.moved(order, Trigger.SUBMIT)
    request = replace(_open(order), status=RequestStatus.PROCESSING, sent_at=at)
    return replace(order, payment_status=to, payment=request)


def payment_refused(order: Order, failure: Failure) -> Order:
    to = lifecycle.moved(order, Trigger.REFUSED)
    request = replace(_open(order), status=RequestStatus.FAILED, failure=failure)
    return replace(order, payment_status=to, payment=request)


def link_given(order: Order, pay_url: str) -> Order:
    return replace(order, payment=replace(_open(order), pay_url=pay_url))


def refund_asked(order: Order, refund: OrderRefund, by: Who) -> Order:
    """Refunds together never exceed what was paid."""
    lifecycle.must_be_refundable(order, by)
    left = refundable(order)
    asked = refund.amount_fen + refund.freight_fen
    if asked > left or asked <= 0:
        raise RefundTooLarge(asked, left)
    return replace(order, refunds=[*order.refunds, refund])


def is_open(refund: OrderRefund) -> bool:
    """Whether the seller has yet to decide, or the money to come."""
    return refund.state in _OPEN_REFUNDS


def refundable(order: Order) -> int:
    """What was paid, less what went back, less what is asked for already."""
    return _left(order.paid_fen, order.refunded_fen, order.refunds)


def refundable_of(order: Order, part: PlatformOrder) -> int:
    """The same of one part of it; never more than is left of the whole."""
    refunds = [refund for refund in order.refunds if refund.order_id == part.id]
    return min(refundable(order), _left(part.total_fen, part.refunded_fen, refunds))


def _left(paid_fen: int, refunded_fen: int, refunds: Sequence[OrderRefund]) -> int:
    asked = sum(refund.amount_fen + refund.freight_fen for refund in refunds if is_open(refund))
    # The list of refunds may know of one before the order's own amounts do.
    back = sum(
        refund.amount_fen + refund.freight_fen
        for refund in refunds
        if refund.state is RefundState.SUCCEEDED
    )
    return max(0, paid_fen - max(refunded_fen, back) - asked)


def refund_named(order: Order, refund_id: UUID, platform_id: str, at: datetime) -> Order:
    """The platform took a refund, under this id. It may have been heard of before."""
    heard = {refund.platform_id: refund for refund in order.refunds if refund.id != refund_id}
    twin = heard.get(platform_id)
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
    """The platform did not take a refund that its owner was told of already."""
    refunds = [
        replace(one, state=RefundState.CLOSED, failure=failure, updated_at=at)
        if one.id == refund_id
        else one
        for one in order.refunds
    ]
    return replace(order, refunds=refunds)


def refund_dropped(order: Order, refund_id: UUID) -> Order:
    """The platform did not take it: nothing was asked for."""
    return replace(order, refunds=[one for one in order.refunds if one.id != refund_id])


def refunds_heard(
    order: Order, heard: Sequence[Refund], new_id: Sequence[UUID], at: datetime
) -> Order:
    """Refunds as the platform shows them, matched to ours by its id, else by amount.

    What it no longer lists stays as it was: platforms forget what is over.
    """
    refunds = list(order.refunds)
    fresh = iter(new_id)
    for one in heard:
        index = _match(refunds, one)
        if index is None:
            refunds.append(_stranger(next(fresh), one, at))
            continue
        ours = refunds[index]
        told = replace(
            ours, platform_id=one.id, state=one.state, raw_status=one.raw_status, failure=None
        )
        if told != ours:
            refunds[index] = replace(told, updated_at=at)
    refunds = [_lost(one, at) if _is_lost(one, at) else one for one in refunds]
    return order if refunds == list(order.refunds) else replace(order, refunds=refunds)


def _is_lost(refund: OrderRefund, at: datetime) -> bool:
    """Asked for without an answer, and still not to be seen there: it never arrived."""
    unnamed = refund.platform_id is None and refund.state is RefundState.REQUESTED
    return unnamed and at - refund.requested_at > _REFUND_LAPSES


def _lost(refund: OrderRefund, at: datetime) -> OrderRefund:
    why = Failure("refund_lost", "The platform never heard of this refund; ask again.")
    return replace(refund, state=RefundState.CLOSED, failure=why, updated_at=at)


def _match(refunds: Sequence[OrderRefund], heard: Refund) -> int | None:
    for index, ours in enumerate(refunds):
        if ours.platform_id == heard.id:
            return index
    for index, ours in enumerate(refunds):
        unnamed = ours.platform_id is None and ours.state is RefundState.REQUESTED
        same = ours.amount_fen + ours.freight_fen == heard.amount_fen
        if unnamed and same and ours.order_id == heard.order_id:
            return index
    return None


def _stranger(refund_id: UUID, heard: Refund, at: datetime) -> OrderRefund:
    """A refund that was asked for on the platform's own pages."""
    return OrderRefund(
        id=refund_id,
        platform_id=heard.id,
        order_id=heard.order_id,
        state=heard.state,
        kind=None,
        amount_fen=heard.amount_fen,
        freight_fen=0,
        reason=None,
        note=None,
        failure=None,
        requested_at=at,
        updated_at=at,
        raw_status=heard.raw_status,
    )


def _open(order: Order) -> PaymentRequest:
    if order.payment is None:
        raise InvalidTransition(order.payment_status, "decide", [])
    return order.payment


def _decidable(order: Order, by: Who) -> PaymentRequest:
    request = _open(order)
    if request.requested_by.id == by.id:
        raise OwnRequest
    return request
