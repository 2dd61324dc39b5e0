"""The statements of the journal: append with deliveries, and read in the order of commits."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

import asyncpg

from tradewind.events.catalogue import Event
from tradewind.storage.pool import Database
from tradewind.storage.transaction import Tx


async def append(tx: Tx, events: Sequence[Event]) -> int:
    """Insert events and one queue row for each subscription that wants them; how many those are."""
    queued: int = await tx.fetchval(
        """
        WITH given AS (
            SELECT *
              FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::timestamptz[],
                          $6::bytea[])
                   AS given (id, account_id, purchase_order_id, type, created_at, body)
        ),
        journaled AS (
            INSERT INTO event (id, account_id, purchase_order_id, type, created_at, body)
            SELECT id, account_id, purchase_order_id, type, created_at, body
              FROM given
        ),
        queued AS (
            INSERT INTO delivery_queue (account_id, subscription_id, generation, event_id,
                                        event_at, event, purchase_order_id, due_at)
            SELECT given.account_id, wanting.id, wanting.generation, given.id, given.created_at,
                   given.type, given.purchase_order_id, tradewind_now()
              FROM given
              JOIN webhook_subscription AS wanting
                ON wanting.account_id = given.account_id
               AND wanting.is_active
               AND given.type = ANY (wanting.events)
            RETURNING 1
        )
        SELECT count(*) FROM queued
        """,
        [event.id for event in events],
        [event.account_id for event in events],
        [event.order_id for event in events],
        [event.kind for event in events],
        [event.at for event in events],
        [event.body for event in events],
    )
    return queued


async def read_journal(
    db: Database,
    account_id: UUID,
    *,
    after: tuple[int, UUID] | None,
    since: datetime | None,
    order_id: UUID | None,
    kinds: Sequence[str] | None,
    limit: int,
) -> Sequence[asyncpg.Record]:
    """Events in the order of their transactions, of those that no running one can precede.

    `since` only spares the reading of days that lie before the cursor.
    """
    return await db.fetch(
        """
        SELECT id, created_at, body, xid::text::bigint AS xid
          FROM event
         WHERE account_id = $1
           AND xid < pg_snapshot_xmin(pg_current_snapshot())
           AND ($2::text IS NULL OR (xid, id) > ($2::text::xid8, $3::uuid))
           AND ($4::timestamptz IS NULL OR created_at >= $4)
           AND ($5::uuid IS NULL OR purchase_order_id = $5)
           AND ($6::text[] IS NULL OR type = ANY ($6))
         ORDER BY xid, id
         LIMIT $7
        """,
        account_id,
        None if after is None else str(after[0]),
        None if after is None else after[1],
        since,
        order_id,
        kinds,
        limit,
    )


async def horizon(db: Database, *, kept: timedelta) -> asyncpg.Record:
    """Below which transaction the journal is complete, what time it is, and what is kept."""
    row = await db.fetchrow(
        """
        SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS xid,
               tradewind_now() AS now,
               tradewind_now() - $1::interval AS kept_since
        """,
        kept,
    )
    assert row is not None  # noqa: S101 - a SELECT without FROM has one row
    return row


async def is_ahead_of_server(db: Database) -> bool:
    """Whether the journal has events of transactions that this server has not had yet.

    It looks at the last event of each account, by the index, and never at the whole journal.
    """
    ahead: bool = await db.fetchval(
        """
        SELECT EXISTS (
            SELECT 1
              FROM account AS a
             CROSS JOIN LATERAL (SELECT e.xid
                                   FROM event AS e
                                  WHERE e.account_id = a.id
                                  ORDER BY e.xid DESC
                                  LIMIT 1) AS last
             WHERE last.xid >= pg_snapshot_xmax(pg_current_snapshot()))
        """
    )
    return ahead


async def find_event(db: Database, account_id: UUID, event_id: UUID) -> bytes | None:
    body: bytes | None = await db.fetchval(
        "SELECT body FROM event WHERE account_id = $1 AND id = $2", account_id, event_id
    )
    return body
