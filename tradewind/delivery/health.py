"""How a receiver does: success rate and percentiles of the last day, from counts by hour."""

from collections.abc import Sequence
from dataclasses import replace

from tradewind import clock
from tradewind.delivery import sql_log
from tradewind.delivery.lanes import FIRST
from tradewind.delivery.wire import WebhookHealthOut
from tradewind.storage.pool import Database
from tradewind.webhooks.model import Subscription


async def health_of(db: Database, subscription: Subscription) -> WebhookHealthOut:
    row = await sql_log.find_health(db, subscription.id)
    # Since when it fails and what it attempted belong together: both are of one moment.
    subscription = replace(subscription, failing_since=row["failing_since"] if row else None)
    delivered = row["delivered"] if row else 0
    attempts = delivered + (row["failed_attempts"] if row else 0)
    buckets: Sequence[int] = row["buckets"] if row else []
    return WebhookHealthOut(
        health=subscription.health,
        failing_since=clock.show_or_none(subscription.failing_since),
        disabled_reason=subscription.disabled_reason,
        success_rate=round(delivered / attempts, 4) if attempts else None,
        attempts=attempts,
        p50_ms=percentile(buckets, 0.5),
        p99_ms=percentile(buckets, 0.99),
        concurrency=(row["concurrency"] if row else None) or int(FIRST),
        pending=row["pending"] if row else 0,
        oldest_due_seconds=row["oldest_due_seconds"] if row else None,
        last_success_at=clock.show_or_none(row["last_success_at"] if row else None),
        last_failure_at=clock.show_or_none(row["last_failure_at"] if row else None),
    )


def percentile(buckets: Sequence[int], share: float) -> int | None:
    """An upper bound in milliseconds: the n-th bucket holds what took less than 2^n."""
    total = sum(buckets)
    if not total:
        return None
    seen = 0
    for place, count in enumerate(buckets):
        seen += count
        if seen >= total * share:
            return int(2**place)
    return int(2 ** (len(buckets) - 1))
