"""The engine's metrics: how much is queued, how long it waits, and what became of attempts."""

from bisect import bisect_left
from collections import Counter as Counted
from collections.abc import Sequence

from prometheus_client import Counter, Gauge, Histogram

from tradewind.delivery.model import Ended, Outcome

ATTEMPTS = Counter("tradewind_delivery_attempts_total", "Attempts by outcome.", ["outcome"])
ATTEMPT_SECONDS = Histogram(
    "tradewind_delivery_attempt_seconds",
    "From the start of an attempt to its end.",
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
)
CLAIM_SECONDS = Histogram(
    "tradewind_delivery_claim_seconds",
    "A claim of a batch.",
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1),
)
FLUSH_SECONDS = Histogram(
    "tradewind_delivery_flush_seconds",
    "The record of a batch.",
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1),
)
LEASES_LOST = Counter(
    "tradewind_delivery_leases_lost_total", "Attempts that ended after their lease was lost."
)
QUEUE_DEPTH = Gauge(
    "tradewind_delivery_queue_depth", "Deliveries that are not over.", multiprocess_mode="max"
)
OLDEST_DUE = Gauge(
    "tradewind_delivery_oldest_due_seconds",
    "For how long the oldest delivery has been due.",
    multiprocess_mode="max",
)

_BY_OUTCOME = {outcome: ATTEMPTS.labels(outcome) for outcome in Outcome}


def attempted(ended: Sequence[Ended]) -> None:
    """Count attempts."""
    for outcome, number in Counted(one.outcome for one in ended).items():
        _BY_OUTCOME[outcome].inc(number)
    for milliseconds, number in Counted(one.duration_ms for one in ended).items():
        if milliseconds is not None:
            _observe(ATTEMPT_SECONDS, milliseconds / 1000, number)


def cancelled(number: int) -> None:
    """Count deliveries that were cancelled before a worker took them to be sent."""
    _BY_OUTCOME[Outcome.CANCELLED].inc(number)


def _observe(histogram: Histogram, value: float, times: int) -> None:
    """`histogram.observe(value)`, so many times at once: the library offers one at a time."""
    place = bisect_left(histogram._upper_bounds, value)  # noqa: SLF001 - it has no other way in
    histogram._buckets[place].inc(times)  # noqa: SLF001
    histogram._sum.inc(value * times)  # noqa: SLF001
