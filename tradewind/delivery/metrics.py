"""The engine's metrics: attempts by outcome, durations, and the queue."""

from bisect import bisect_left
from collections import Counter as Counted
from collections.abc import Sequence

from prometheus_client import Counter, Gauge, Histogram

from tradewind.delivery.model import ClaimedDelivery
from tradewind.egress.result import AttemptResult, Outcome

ATTEMPTS = Counter("tradewind_delivery_attempts_total", "Attempts by outcome.", ["outcome"])
ATTEMPT_SECONDS = Histogram(
    "tradewind_delivery_attempt_seconds",
    "From the start of an attempt to its end.",
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
)
CLAIM_SECONDS = Histogram(
    "tradewind_delivery_claim_seconds",
    "Claiming a batch of deliveries.",
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1),
)
RECORD_SECONDS = Histogram(
    "tradewind_delivery_record_seconds",
    "Recording the results of a batch of attempts.",
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1),
)
LEASES_EXPIRED = Counter(
    "tradewind_delivery_leases_expired_total", "Attempts that ended after their lease expired."
)
QUEUE_DEPTH = Gauge(
    "tradewind_delivery_queue_depth", "Pending deliveries.", multiprocess_mode="max"
)
OLDEST_DUE = Gauge(
    "tradewind_delivery_oldest_due_seconds",
    "How long the oldest pending delivery has been overdue.",
    multiprocess_mode="max",
)

_BY_OUTCOME = {outcome: ATTEMPTS.labels(outcome) for outcome in Outcome}


def attempted(attempts: Sequence[tuple[ClaimedDelivery, AttemptResult]]) -> None:
    """Count attempts."""
    for outcome, count in Counted(result.outcome for _, result in attempts).items():
        _BY_OUTCOME[outcome].inc(count)
    for milliseconds, count in Counted(delivery.duration_ms for delivery, _ in attempts).items():
        if milliseconds is not None:
            _observe(ATTEMPT_SECONDS, milliseconds / 1000, count)


def cancelled(count: int) -> None:
    """Count deliveries that were cancelled before a worker claimed them."""
    _BY_OUTCOME[Outcome.CANCELLED].inc(count)


def _observe(histogram: Histogram, value: float, times: int) -> None:
    """`histogram.observe(value)` repeated: the library offers one observation at a time."""
    index = bisect_left(histogram._upper_bounds, value)  # noqa: SLF001 - there is no public way
    histogram._buckets[index].inc(times)  # noqa: SLF001
    histogram._sum.inc(value * times)  # noqa: SLF001
