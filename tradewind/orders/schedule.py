"""When to sync an order next. Pure: time and chance are arguments."""

from datetime import datetime, timedelta

from tradewind.orders.lifecycle import next_job
from tradewind.orders.model import Order, OrderStatus, PlatformJob
from tradewind.orders.payments.decide import is_open
from tradewind.orders.payments.model import PaymentStatus

_SECOND, _MINUTE, _HOUR, _DAY = (
    timedelta(seconds=1),
    timedelta(minutes=1),
    timedelta(hours=1),
    timedelta(days=1),
)
# How long refunds are read after an order is over.
TAIL = 30 * _DAY
_FIRST_RETRY = 2 * _SECOND
_LONGEST_RETRY = 10 * _MINUTE
_JITTER = 0.2

_CALM = {
    OrderStatus.CREATING: 5 * _SECOND,
    OrderStatus.PENDING_PAYMENT: 5 * _MINUTE,
    OrderStatus.PAID: 15 * _MINUTE,
    OrderStatus.PARTIALLY_SHIPPED: _HOUR,
    OrderStatus.SHIPPED: 3 * _HOUR,
    OrderStatus.RECEIVED: 3 * _HOUR,
    OrderStatus.COMPLETED: _DAY,
    OrderStatus.CLOSED: _DAY,
    OrderStatus.UNKNOWN: 10 * _MINUTE,
}
# While somebody waits: seconds at first, then longer the longer nothing changes.
_QUICK, _SLOW = 5 * _SECOND, 30 * _SECOND
_AT_ONCE = timedelta(milliseconds=100)


def next_sync(
    order: Order, now: datetime, chance: float, *, paused: bool = False
) -> datetime | None:
    """When an order that was just synced is due again; None: never.

    `chance`, from 0 to 1, is a jitter. An order whose payment is `paused` is only synced, until
    whoever resumes the payment makes it due.
    """
    job = next_job(order)
    if job is PlatformJob.NONE:
        return None
    if (
        order.status in (OrderStatus.COMPLETED, OrderStatus.CLOSED)
        and now - order.updated_at > TAIL
    ):
        return None
    interval = _calm(order, now) if paused else _interval(order, job, now)
    return now + interval * _jitter(chance)


def after_failure(failures: int, now: datetime, chance: float) -> datetime:
    """When to retry what failed for the `failures`-th time in a row."""
    pause = min(_FIRST_RETRY * (1 << min(failures, 12)), _LONGEST_RETRY)
    return now + pause * _jitter(chance)


def _interval(order: Order, job: PlatformJob, now: datetime) -> timedelta:
    waited = now - order.updated_at
    if job is PlatformJob.PAY and order.payment_status is PaymentStatus.APPROVED:
        return timedelta(0) if waited < _AT_ONCE else min(max(_SECOND, waited / 10), _SLOW)
    if job is PlatformJob.PAY:
        return min(max(_QUICK, waited / 5), _LONGEST_RETRY)
    if job is PlatformJob.CANCEL:
        return min(max(_QUICK, waited / 10), _SLOW)
    if any(refund.platform_id is None for refund in order.refunds if is_open(refund)):
        return _SLOW  # whether the marketplace took it is not known
    if order.payment_status is PaymentStatus.APPROVED:  # a person pays at the link
        return _SLOW
    return _calm(order, now)


def _calm(order: Order, now: datetime) -> timedelta:
    """The interval while only the marketplace can change the order."""
    interval = _CALM[order.status]
    if order.pay_before is not None and order.pay_before > now:
        # An order that is about to close unpaid is synced right after.
        interval = min(interval, order.pay_before - now + _SECOND)
    return interval


def _jitter(chance: float) -> float:
    return 1 - _JITTER / 2 + _JITTER * chance
