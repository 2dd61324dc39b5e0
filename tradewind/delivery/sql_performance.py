"""The statements of performance samples: what workers report, and counters of the database."""

from datetime import timedelta
from uuid import UUID

from tradewind.delivery.model import DeliveryTotals
from tradewind.storage.pool import Database

SAMPLE_SECONDS = 10
# A day, and an hour more for those who compare with yesterday at the same time.
_KEPT = timedelta(hours=25)


async def add_to_sample(db: Database, done: DeliveryTotals, *, cpu_seconds: float) -> None:
    """Add what a worker did to the current sample, which all workers share."""
    await db.execute(
        f"""
        INSERT INTO delivery_sample AS s (begins, attempts, delivered, retries, cpu_seconds,
                                          outcomes, waits, latencies, durations)
        VALUES (date_bin('{SAMPLE_SECONDS} seconds', tradewind_now(), 'epoch'),
                $1, $2, $3, $4, $5, $6, $7, $8)
        ON CONFLICT (begins) DO UPDATE
           SET attempts = s.attempts + excluded.attempts,
               delivered = s.delivered + excluded.delivered,
               retries = s.retries + excluded.retries,
               cpu_seconds = s.cpu_seconds + excluded.cpu_seconds,
               outcomes = ARRAY(SELECT coalesce(a, 0) + coalesce(b, 0)
                                  FROM unnest(s.outcomes, excluded.outcomes) AS pair (a, b)),
               waits = ARRAY(SELECT coalesce(a, 0) + coalesce(b, 0)
                               FROM unnest(s.waits, excluded.waits) AS pair (a, b)),
               latencies = ARRAY(SELECT coalesce(a, 0) + coalesce(b, 0)
                                   FROM unnest(s.latencies, excluded.latencies) AS pair (a, b)),
               durations = ARRAY(SELECT coalesce(a, 0) + coalesce(b, 0)
                                   FROM unnest(s.durations, excluded.durations) AS pair (a, b))
        """,  # noqa: S608 - our own constant
        done.attempts,
        done.delivered,
        done.retries,
        cpu_seconds,
        done.outcomes,
        done.waits,
        done.latencies,
        done.durations,
    )


async def save_worker(
    db: Database,
    worker_id: UUID,
    *,
    host: str,
    pid: int,
    cpu_share: float,
    attempts_per_second: float,
) -> None:
    """Note that a worker runs, and how busy it is."""
    await db.execute(
        """
        INSERT INTO worker_process (id, host, pid, started_at, reported_at, cpu_share,
                                    attempts_per_second)
        VALUES ($1, $2, $3, tradewind_now(), tradewind_now(), $4, $5)
        ON CONFLICT (id) DO UPDATE
           SET reported_at = excluded.reported_at,
               cpu_share = excluded.cpu_share,
               attempts_per_second = excluded.attempts_per_second
        """,
        worker_id,
        host,
        pid,
        cpu_share,
        attempts_per_second,
    )


async def delete_worker(db: Database, worker_id: UUID) -> None:
    await db.execute("DELETE FROM worker_process WHERE id = $1", worker_id)


async def sample_database(db: Database) -> None:
    """Note the counters of the database: PostgreSQL has them only as they are now."""
    await db.execute(
        """
        INSERT INTO database_sample (taken_at, transactions, statement_seconds, wal_bytes)
        SELECT tradewind_now(), d.xact_commit + d.xact_rollback, d.active_time / 1000,
               w.wal_bytes::bigint
          FROM pg_stat_database AS d, pg_stat_wal AS w
         WHERE d.datname = current_database()
        ON CONFLICT (taken_at) DO NOTHING
        """
    )


async def delete_old_samples(db: Database) -> None:
    """Delete samples that no page shows, and workers that died long ago."""
    await db.execute(
        "DELETE FROM delivery_sample WHERE begins < tradewind_now() - $1::interval", _KEPT
    )
    await db.execute(
        "DELETE FROM database_sample WHERE taken_at < tradewind_now() - $1::interval", _KEPT
    )
    await db.execute(
        "DELETE FROM worker_process WHERE reported_at < tradewind_now() - $1::interval", _KEPT
    )
