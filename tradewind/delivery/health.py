"""The health of endpoints: success rate and latency percentiles of the last day, by hour."""

from collections.abc import Sequence

from tradewind.delivery import sql_log
from tradewind.delivery.lanes import FIRST
from tradewind.delivery.model import SubscriptionHealth
from tradewind.delivery.sql_log import HealthCounts
from tradewind.storage.pool import Database
from tradewind.webhooks.model import Subscription


async def health_of(
    db: Database, subscriptions: Sequence[Subscription]
) -> Sequence[SubscriptionHealth]:
    """The health of each of these subscriptions, in their order, by one statement."""
    if not subscriptions:
        return []
    rows = await sql_log.list_health(db, [subscription.id for subscription in subscriptions])
    by_id = {row.subscription_id: _health(row) for row in rows}
    return [by_id[subscription.id] for subscription in subscriptions]


def _health(counts: HealthCounts) -> SubscriptionHealth:
    attempts = counts.delivered + counts.failed
    return SubscriptionHealth(
        failing_since=counts.failing_since,
        success_rate=round(counts.delivered / attempts, 4) if attempts else None,
        attempts=attempts,
        p50_ms=percentile(counts.buckets, 0.5),
        p99_ms=percentile(counts.buckets, 0.99),
        concurrency=counts.concurrency or int(FIRST),
        pending=counts.pending,
        oldest_due_seconds=counts.oldest_due_seconds,
        last_success_at=counts.last_success_at,
        last_failure_at=counts.last_failure_at,
    )


def percentile(buckets: Sequence[int], share: float) -> int | None:
    """An upper bound in milliseconds: bucket n counts what took less than 2^n."""
    total = sum(buckets)
    if not total:
        return None
    counted = 0
    for exponent, count in enumerate(buckets):
        counted += count
        if counted >= total * share:
            return int(2**exponent)
    return int(2 ** (len(buckets) - 1))
