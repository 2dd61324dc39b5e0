"""The engine's metrics: attempts by outcome, latencies, and the queue."""

from bisect import bisect_left
from collections import Counter as Counted
from collections.abc import Sequence
from functools import partial

from prometheus_client import Counter, Gauge, Histogram

from tradewind.delivery.model import COUNTED, ClaimedDelivery, DeliveryTotals
from tradewind.egress.result import AttemptResult, Outcome

# Upper bounds in seconds: close enough together to tell a p99 of 5 ms from one of 6 ms. Counts by
# these bounds are stored: a migration that deletes them has to go with a change.
LATENCY_BOUNDS = (
    0.0005, 0.00075, 0.001, 0.0015, 0.002, 0.0025, 0.003, 0.004, 0.005, 0.006, 0.008,
    0.01, 0.015, 0.02, 0.025, 0.03, 0.04, 0.05, 0.06, 0.08,
    0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.8,
    1, 1.5, 2, 2.5, 3, 4, 5, 6, 8,
    10, 15, 20, 30, 60, 120, 300, 600, 1800, 3600,
)  # fmt: skip

ATTEMPTS = Counter("tradewind_delivery_attempts_total", "Attempts by outcome.", ["outcome"])
RETRIES = Counter("tradewind_delivery_retries_total", "Attempts after the first one of a delivery.")
WAIT_SECONDS = Histogram(
    "tradewind_delivery_wait_seconds",
    "From the commit of a delivery to the start of its first attempt. Without replays.",
    buckets=LATENCY_BOUNDS,
)
LATENCY_SECONDS = Histogram(
    "tradewind_delivery_latency_seconds",
    "From the commit of a delivery to the 2xx answer to its first attempt. Without replays.",
    buckets=LATENCY_BOUNDS,
)
ATTEMPT_SECONDS = Histogram(
    "tradewind_delivery_attempt_seconds",
    "From the start of an attempt to its end.",
    buckets=LATENCY_BOUNDS,
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
PARKED = Counter(
    "tradewind_delivery_parked_total",
    "Deliveries that were postponed, because workers died while they had them.",
)
GIVEN_UP = Counter(
    "tradewind_delivery_given_up_total",
    "Deliveries that were given up, because workers died while they had them.",
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
    """Count attempts.

    A cancelled delivery has no duration: nothing was sent.
    """
    for outcome, count in Counted([result.outcome for _, result in attempts]).items():
        _BY_OUTCOME[outcome].inc(count)
    sent = [attempt for attempt in attempts if attempt[0].duration_ms is not None]
    first = [
        (delivery.started - delivery.due, delivery.duration_ms or 0, result.outcome)
        for delivery, result in sent
        if delivery.attempt == 1 and delivery.replay_id is None
    ]
    RETRIES.inc(sum([delivery.attempt > 1 for delivery, _ in sent]))
    _observe(ATTEMPT_SECONDS, [(delivery.duration_ms or 0) / 1000 for delivery, _ in sent])
    _observe(WAIT_SECONDS, [wait for wait, _, _ in first])
    delivered = Outcome.DELIVERED
    _observe(LATENCY_SECONDS, [wait + ms / 1000 for wait, ms, out in first if out is delivered])


def cancelled(count: int) -> None:
    """Count deliveries that were cancelled before a worker claimed them."""
    _BY_OUTCOME[Outcome.CANCELLED].inc(count)


def totals() -> DeliveryTotals:
    """What this process counted since it started."""
    return DeliveryTotals(
        outcomes=[int(_BY_OUTCOME[outcome]._value.get()) for outcome in COUNTED],  # noqa: SLF001 - no public way
        retries=int(RETRIES._value.get()),  # noqa: SLF001
        waits=_counts(WAIT_SECONDS),
        latencies=_counts(LATENCY_SECONDS),
        durations=_counts(ATTEMPT_SECONDS),
    )


def _counts(histogram: Histogram) -> list[int]:
    return [int(bucket.get()) for bucket in histogram._buckets]  # noqa: SLF001 - no public way


def _observe(histogram: Histogram, values: Sequence[float]) -> None:
    """`histogram.observe` for many values: the library offers one observation at a time."""
    index_of = partial(bisect_left, histogram._upper_bounds)  # noqa: SLF001 - no public way
    for index, count in Counted(map(index_of, values)).items():
        histogram._buckets[index].inc(count)  # noqa: SLF001
    histogram._sum.inc(sum(values))  # noqa: SLF001
