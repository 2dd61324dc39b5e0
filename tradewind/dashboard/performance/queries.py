"""The bounded queries of the page about performance: samples, workers, and latest payments."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from tradewind.dashboard.shell.labels import LARGEST_COUNT
from tradewind.delivery.sql import QueueDepth
from tradewind.delivery.sql_performance import SAMPLE_SECONDS
from tradewind.operations.sql import SILENT
from tradewind.storage.pool import Database


@dataclass(frozen=True, slots=True)
class MinuteCounts:
    """What all workers did in a minute."""

    minute: datetime
    attempts: int
    delivered: int
    cpu_seconds: float


@dataclass(frozen=True, slots=True)
class LatencyCounts:
    """Latencies of an hour, by the bounds in delivery/metrics.py."""

    waits: Sequence[int]
    latencies: Sequence[int]
    durations: Sequence[int]


@dataclass(frozen=True, slots=True)
class HourTotals:
    """What all workers did in the last hour, and in the last six samples that are complete.

    `outcomes` are in the order of `COUNTED` in delivery/model.py; it is empty without samples.
    """

    attempts: int
    delivered: int
    retries: int
    cpu_seconds: float
    outcomes: Sequence[int]
    minute_attempts: int
    minute_delivered: int
    now: datetime


@dataclass(frozen=True, slots=True)
class DatabaseUse:
    """How much the counters of the database rose between the first and the last sample of an hour.

    `delivered` is what was delivered in the same time.
    """

    seconds: float
    transactions: int
    statement_seconds: float
    wal_bytes: int
    delivered: int


@dataclass(frozen=True, slots=True)
class WorkerProcess:
    """A worker as it last reported itself."""

    host: str
    pid: int
    started_at: datetime
    reported_at: datetime
    cpu_share: float
    attempts_per_second: float
    is_silent: bool


@dataclass(frozen=True, slots=True)
class PaymentTimes:
    """How long the latest paid orders took; None without any.

    `created` is from the creation of the order to its payment, approval included; `approved` is
    from the approval to the payment, of automatic debits.
    """

    count: int
    created_p50: float | None
    created_p99: float | None
    debits: int
    approved_p50: float | None
    approved_p99: float | None


async def sum_hour(db: Database) -> HourTotals:
    """What all workers did in the last hour."""
    [row] = await db.fetch(
        f"""
        WITH hour AS MATERIALIZED (
            SELECT *, begins >= current.begins_now - interval '1 minute'
                      AND begins < current.begins_now AS is_last_minute
              FROM delivery_sample,
                   (SELECT date_bin('{SAMPLE_SECONDS} seconds', tradewind_now(), 'epoch')
                        AS begins_now) AS current
             WHERE begins > tradewind_now() - interval '1 hour'
        )
        SELECT coalesce(sum(attempts), 0)::bigint AS attempts,
               coalesce(sum(delivered), 0)::bigint AS delivered,
               coalesce(sum(retries), 0)::bigint AS retries,
               coalesce(sum(cpu_seconds), 0)::float AS cpu_seconds,
               ARRAY(SELECT sum(counted.n)::bigint
                       FROM hour, unnest(hour.outcomes) WITH ORDINALITY AS counted (n, position)
                      GROUP BY counted.position
                      ORDER BY counted.position) AS outcomes,
               coalesce(sum(attempts) FILTER (WHERE is_last_minute), 0)::bigint
                   AS minute_attempts,
               coalesce(sum(delivered) FILTER (WHERE is_last_minute), 0)::bigint
                   AS minute_delivered,
               tradewind_now() AS now
          FROM hour
        """  # noqa: S608 - our own constant
    )
    return HourTotals(**row)


async def sum_latencies(db: Database) -> LatencyCounts:
    """The latencies of the last hour."""
    rows = await db.fetch(
        """
        SELECT sum(counted.wait)::bigint AS wait, sum(counted.latency)::bigint AS latency,
               sum(counted.duration)::bigint AS duration
          FROM delivery_sample AS s,
               unnest(s.waits, s.latencies, s.durations)
                   WITH ORDINALITY AS counted (wait, latency, duration, position)
         WHERE s.begins > tradewind_now() - interval '1 hour'
         GROUP BY counted.position
         ORDER BY counted.position
        """
    )
    return LatencyCounts(
        waits=[row["wait"] for row in rows],
        latencies=[row["latency"] for row in rows],
        durations=[row["duration"] for row in rows],
    )


async def list_minutes(db: Database) -> Sequence[MinuteCounts]:
    """The minutes of the last 24 hours in which a worker reported, oldest first."""
    rows = await db.fetch(
        """
        SELECT date_trunc('minute', begins) AS minute, sum(attempts)::bigint AS attempts,
               sum(delivered)::bigint AS delivered, sum(cpu_seconds)::float AS cpu_seconds
          FROM delivery_sample
         WHERE begins > tradewind_now() - interval '24 hours'
         GROUP BY 1
         ORDER BY 1
        """
    )
    return [MinuteCounts(**row) for row in rows]


async def measure_database(db: Database) -> DatabaseUse | None:
    """What the database did in the last hour; None until there are two samples.

    A counter that fell was reset: that minute is left out.
    """
    row = await db.fetchrow(
        """
        WITH steps AS (
            SELECT taken_at,
                   taken_at - lag(taken_at) OVER earlier AS elapsed,
                   transactions - lag(transactions) OVER earlier AS transactions,
                   statement_seconds - lag(statement_seconds) OVER earlier AS statement_seconds,
                   wal_bytes - lag(wal_bytes) OVER earlier AS wal_bytes
              FROM database_sample
             WHERE taken_at > tradewind_now() - interval '1 hour'
            WINDOW earlier AS (ORDER BY taken_at)
        )
        SELECT extract(epoch FROM sum(elapsed))::float AS seconds,
               sum(transactions)::bigint AS transactions,
               sum(statement_seconds)::float AS statement_seconds,
               sum(wal_bytes)::bigint AS wal_bytes,
               coalesce(sum(delivered), 0)::bigint AS delivered
          FROM steps
         CROSS JOIN LATERAL (
               SELECT sum(s.delivered) AS delivered
                 FROM delivery_sample AS s
                WHERE s.begins > steps.taken_at - steps.elapsed
                  AND s.begins <= steps.taken_at) AS meanwhile
         WHERE elapsed > interval '0'
           AND transactions >= 0 AND statement_seconds >= 0 AND wal_bytes >= 0
        HAVING count(*) > 0
        """
    )
    return None if row is None else DatabaseUse(**row)


async def measure_queue(db: Database) -> QueueDepth:
    """The pending deliveries, counted up to 10,001, and how long the oldest is overdue."""
    [row] = await db.fetch(
        """
        SELECT (SELECT count(*)
                  FROM (SELECT FROM queued_delivery WHERE is_pending LIMIT $1) AS limited) AS depth,
               (SELECT extract(epoch FROM tradewind_now() - due_at)::float
                  FROM queued_delivery
                 WHERE is_pending AND NOT under_way AND due_at <= tradewind_now()
                 ORDER BY due_at
                 LIMIT 1) AS oldest_due_seconds
        """,
        LARGEST_COUNT + 1,
    )
    return QueueDepth(*row)


async def list_workers(db: Database, *, limit: int) -> Sequence[WorkerProcess]:
    """The workers that reported in the last hour, running ones first."""
    rows = await db.fetch(
        """
        SELECT host, pid, started_at, reported_at, cpu_share, attempts_per_second,
               reported_at < tradewind_now() - $1::interval AS is_silent
          FROM worker_process
         WHERE reported_at > tradewind_now() - interval '1 hour'
         ORDER BY is_silent, host, pid, started_at
         LIMIT $2
        """,
        SILENT,
        limit,
    )
    return [WorkerProcess(**row) for row in rows]


async def measure_payments(db: Database) -> PaymentTimes:
    """How long payments of the last 24 hours took, of the latest 500 requests that were paid."""
    [row] = await db.fetch(
        """
        WITH latest AS MATERIALIZED (
            SELECT p.purchase_order_id, p.mode, p.requested_at, p.decided_at, p.updated_at
              FROM payment_request AS p
             WHERE p.status = 'paid'
             ORDER BY p.id DESC
             LIMIT 500
        ),
        timed AS (
            SELECT extract(epoch FROM p.updated_at - o.created_at)::float AS created,
                   CASE WHEN p.mode = 'auto'
                        THEN extract(epoch FROM p.updated_at - p.decided_at)::float
                   END AS approved
              FROM latest AS p
              JOIN purchase_order AS o ON o.id = p.purchase_order_id
             WHERE p.updated_at > tradewind_now() - interval '24 hours'
        )
        SELECT count(*) AS count, count(approved) AS debits,
               percentile_cont(0.5) WITHIN GROUP (ORDER BY created) AS created_p50,
               percentile_cont(0.99) WITHIN GROUP (ORDER BY created) AS created_p99,
               percentile_cont(0.5) WITHIN GROUP (ORDER BY approved) AS approved_p50,
               percentile_cont(0.99) WITHIN GROUP (ORDER BY approved) AS approved_p99
          FROM timed
        """
    )
    return PaymentTimes(**row)
