"""When to look at an order next. Pure: time and chance are arguments."""

from datetime import datetime, timedelta

from tradewind.orders.decide import is_open
from tradewind.orders.lifecycle import next_work
from tradewind.orders.model import Order, PaymentStatus, Status, Work

_SECOND, _MINUTE, _HOUR, _DAY = (
    timedelta(seconds=1),
    timedelta(minutes=1),
    timedelta(hours=1),
    timedelta(days=1),
)
# How long refunds are looked for after an order is over.
TAIL = 30 * _DAY
_FIRST_RETRY = 2 * _SECOND
_LONGEST_RETRY = 10 * _MINUTE
_AROUND = 0.2

_CALM = {
    Status.CREATING: 5 * _SECOND,
    Status.PENDING_PAYMENT: 5 * _MINUTE,
    Status.PAID: 15 * _MINUTE,
    Status.PARTIALLY_SHIPPED: _HOUR,
    Status.SHIPPED: 3 * _HOUR,
    Status.RECEIVED: 3 * _HOUR,
    Status.COMPLETED: _DAY,
    Status.CLOSED: _DAY,
    Status.UNKNOWN: 10 * _MINUTE,
}
# While somebody waits: seconds at first, then longer the longer nothing happens.
_QUICK, _SLOW = 5 * _SECOND, 30 * _SECOND
_AT_ONCE = timedelta(milliseconds=100)


def next_look(
    order: Order, now: datetime, chance: float, *, paused: bool = False
) -> datetime | None:
    """When an order that was just looked at is due again; None: never.

    `chance`, from 0 to 1, moves it a little, so that what began together does not stay so. An order
    whose payment is `paused` is only followed, until whoever lets it go on makes it due.
    """
    work = next_work(order)
    if work is Work.NONE:
        return None
    if order.status in (Status.COMPLETED, Status.CLOSED) and now - order.updated_at > TAIL:
        return None
    interval = _calm(order, now) if paused else _interval(order, work, now)
    return now + interval * _around(chance)


def after_failure(failures: int, now: datetime, chance: float) -> datetime:
    """When to try again what failed for the `failures`-th time in a row."""
    pause = min(_FIRST_RETRY * (1 << min(failures, 12)), _LONGEST_RETRY)
    return now + pause * _around(chance)


def _interval(order: Order, work: Work, now: datetime) -> timedelta:
    waited = now - order.updated_at
    if work is Work.PAY and order.payment_status is PaymentStatus.APPROVED:
        return timedelta(0) if waited < _AT_ONCE else min(max(_SECOND, waited / 10), _SLOW)
    if work is Work.PAY:
        return min(max(_QUICK, waited / 5), _LONGEST_RETRY)
    if work is Work.CANCEL:
        return min(max(_QUICK, waited / 10), _SLOW)
    if any(refund.platform_id is None for refund in order.refunds if is_open(refund)):
        return _SLOW  # whether the platform took it is not known
    if order.payment_status is PaymentStatus.APPROVED:  # somebody pays by hand
        return _SLOW
    return _calm(order, now)


def _calm(order: Order, now: datetime) -> timedelta:
    """While nobody waits for anything but the platform."""
    calm = _CALM[order.status]
    if order.pay_before is not None and order.pay_before > now:
        # An order that is about to close unpaid is looked at right after.
        calm = min(calm, order.pay_before - now + _SECOND)
    return calm


def _around(chance: float) -> float:
    return 1 - _AROUND / 2 + _AROUND * chance
