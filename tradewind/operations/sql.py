"""The statements that measure the system; each reads a bounded number of rows by an index."""

from collections.abc import Sequence
from datetime import timedelta

from tradewind.operations.model import (
    LARGEST_COUNT,
    Authorisation,
    DatabaseState,
    JobBacklog,
    PaymentBacklog,
    TaskDelay,
    WorkerCounts,
)
from tradewind.storage.pool import Database

# A worker reports every ten seconds; one that missed three reports has stopped or hangs.
SILENT = timedelta(seconds=40)
# One that died is forgotten after this time: by then somebody has been alerted.
_FORGOTTEN = timedelta(minutes=15)


async def measure_jobs(
    db: Database, platforms: Sequence[str], jobs: Sequence[str]
) -> Sequence[JobBacklog]:
    """The backlog of each job at each marketplace, without orders of locked accounts.

    Of the syncs, of which every open order has one, only those that are due are counted. The
    others must not be read either: the time is compared in a form that an index can use.
    """
    rows = await db.fetch(
        """
        SELECT platform, job, counted.orders, counted.oldest_seconds, counted.overdue_seconds
          FROM unnest($1::text[]) AS platform
         CROSS JOIN unnest($2::text[]) AS job
         CROSS JOIN LATERAL (
               SELECT count(*) AS orders,
                      coalesce(extract(epoch FROM tradewind_now() - min(waiting.updated_at)),
                               0)::float8 AS oldest_seconds,
                      coalesce(extract(epoch FROM tradewind_now() - min(waiting.next_sync_at)
                                   FILTER (WHERE waiting.next_sync_at <= tradewind_now())),
                               0)::float8 AS overdue_seconds
                 FROM (SELECT o.updated_at, o.next_sync_at
                         FROM purchase_order AS o
                         JOIN account ON account.id = o.account_id AND account.locked_at IS NULL
                        WHERE o.platform = platform.platform
                          AND o.work = job.job
                          AND o.work <> 'none'
                          AND o.next_sync_at <= CASE WHEN job.job = 'sync' THEN tradewind_now()
                                                     ELSE 'infinity' END
                        ORDER BY o.next_sync_at
                        LIMIT $3) AS waiting) AS counted
        """,
        platforms,
        jobs,
        LARGEST_COUNT,
    )
    return [JobBacklog(**row) for row in rows]


async def measure_payments(db: Database) -> Sequence[PaymentBacklog]:
    """The open payment requests by status and mode.

    An approved payment of a locked account waits until the account is unlocked: it is left out.
    """
    rows = await db.fetch(
        """
        SELECT statuses.status, modes.mode, count(waiting.updated_at) AS requests,
               coalesce(extract(epoch FROM tradewind_now() - min(waiting.updated_at)),
                        0)::float8 AS oldest_seconds
          FROM unnest(ARRAY['pending_approval', 'approved', 'processing']) AS statuses (status)
         CROSS JOIN unnest(ARRAY['auto', 'link']) AS modes (mode)
          LEFT JOIN LATERAL (
               SELECT p.updated_at, p.mode
                 FROM payment_request AS p
                 JOIN account ON account.id = p.account_id
                WHERE p.status = statuses.status
                  AND (p.status <> 'approved' OR account.locked_at IS NULL)
                ORDER BY p.id
                LIMIT $1) AS waiting ON waiting.mode = modes.mode
         GROUP BY statuses.status, modes.mode
         ORDER BY statuses.status DESC, modes.mode
        """,
        LARGEST_COUNT,
    )
    return [PaymentBacklog(**row) for row in rows]


async def count_expiring_payments(db: Database, *, within: timedelta) -> int:
    """Count requests that wait for a person, and whose order must be paid within this time."""
    count: int = await db.fetchval(
        """
        SELECT count(*)
          FROM (SELECT p.purchase_order_id
                  FROM payment_request AS p
                 WHERE p.status = 'pending_approval' OR (p.status = 'approved' AND p.mode = 'link')
                 ORDER BY p.id
                 LIMIT $2) AS waiting
          JOIN purchase_order AS o ON o.id = waiting.purchase_order_id
         WHERE o.pay_before > tradewind_now()
           AND o.pay_before < tradewind_now() + $1::interval
        """,
        within,
        LARGEST_COUNT,
    )
    return count


async def list_authorisations(db: Database, platforms: Sequence[str]) -> Sequence[Authorisation]:
    """Our authorisations at marketplaces that have credentials."""
    rows = await db.fetch(
        """
        SELECT platform,
               access_expires_at IS NOT NULL AND rejected_at IS NULL
                   AND coalesce(ends_at > tradewind_now(), true) AS is_valid,
               failure IS NOT NULL AS is_refresh_failing,
               extract(epoch FROM ends_at - tradewind_now())::float8 AS expires_seconds
          FROM (SELECT *, CASE WHEN refresh_token IS NULL THEN access_expires_at
                               ELSE refresh_expires_at END AS ends_at
                  FROM platform_connection
                 WHERE NOT disconnected AND platform = ANY ($1::text[])) AS connection
         ORDER BY platform
        """,
        platforms,
    )
    return [Authorisation(**row) for row in rows]


async def list_task_delays(db: Database, tasks: Sequence[str]) -> Sequence[TaskDelay]:
    """How long each of these tasks is overdue; a task that never ran yet is left out."""
    rows = await db.fetch(
        """
        SELECT name AS task,
               greatest(extract(epoch FROM tradewind_now() - due_at), 0)::float8 AS overdue_seconds
          FROM scheduled_task
         WHERE name = ANY ($1::text[])
        """,
        tasks,
    )
    return [TaskDelay(**row) for row in rows]


async def count_workers(db: Database) -> WorkerCounts:
    [row] = await db.fetch(
        """
        SELECT count(*) FILTER (WHERE reported_at >= tradewind_now() - $1::interval) AS reporting,
               count(*) FILTER (WHERE reported_at < tradewind_now() - $1::interval) AS silent
          FROM worker_process
         WHERE reported_at > tradewind_now() - $2::interval
        """,
        SILENT,
        _FORGOTTEN,
    )
    return WorkerCounts(**row)


async def measure_database(db: Database) -> DatabaseState:
    """The load of the server. Transactions of other roles are seen only with `pg_monitor`."""
    [row] = await db.fetch(
        """
        SELECT activity.connections,
               current_setting('max_connections')::integer
                   - current_setting('superuser_reserved_connections')::integer AS connections_max,
               activity.oldest_transaction_seconds,
               CASE WHEN pg_is_in_recovery() THEN 0
                    ELSE (SELECT coalesce(max(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)),
                                          0)::bigint
                            FROM pg_replication_slots)
               END AS replication_slot_bytes,
               pg_database_size(current_database()) AS size_bytes,
               NOT current_setting('transaction_read_only')::boolean AS is_writable
          FROM (SELECT count(*) AS connections,
                       coalesce(extract(epoch FROM clock_timestamp() - min(xact_start)),
                                0)::float8 AS oldest_transaction_seconds
                  FROM pg_stat_activity
                 WHERE backend_type = 'client backend') AS activity
        """
    )
    return DatabaseState(**row)
