"""The statements of the journal: append with deliveries, and read in the order of numbers."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

import asyncpg

from tradewind.events.catalogue import Event
from tradewind.storage.pool import Database
from tradewind.storage.transaction import Tx

# The connection of the slots has no time limit of its own: a lost server must not hold it.
_SLOT_SECONDS = 3.0
# Whether the statement that appends events with a change of orders saved any of them.
_IS_SAVED = "EXISTS (SELECT FROM saved)"


async def append(tx: Tx, events: Sequence[Event]) -> int:
    """Number and insert events, and one queue row for each subscription that wants them.

    Return how many queue rows.
    """
    parts, args = _append_parts(events)
    [row] = await tx.fetch_last(f"WITH {parts} SELECT count(*) FROM queued", *args)  # noqa: S608 - ours
    queued: int = row[0]
    return queued


async def append_with(
    tx: Tx, events: Sequence[Event], change: str, args: Sequence[object]
) -> tuple[Sequence[UUID], int]:
    """Append events together with the change that causes them, in one statement.

    `change` are the parts of a WITH. The one with the name `saved` returns the ids of the orders
    that were changed: events of other orders are left out, and what `Tx.write_last` collected is
    written only if there are any. Return these ids, and how many queue rows there are.
    """
    if not events:
        query = f"WITH {change} SELECT id FROM saved"  # noqa: S608 - ours
        rows = await tx.fetch_last(query, *args, only_if=_IS_SAVED)
        return [row[0] for row in rows], 0
    parts, more = _append_parts(events, after=len(args), only_saved=True)
    rows = await tx.fetch_last(
        f"WITH {change}, {parts} SELECT id, (SELECT count(*) FROM queued) FROM saved",  # noqa: S608 - ours
        *args,
        *more,
        only_if=_IS_SAVED,
    )
    return [row[0] for row in rows], rows[0][1] if rows else 0


def _append_parts(
    events: Sequence[Event], *, after: int = 0, only_saved: bool = False
) -> tuple[str, Sequence[object]]:
    """The parts of a WITH that append events, and their arguments, which come `after` others.

    The head of each account stays locked until the commit, which makes numbers visible in their
    order and without gaps. Heads are locked in the order of account ids, so that two transactions
    with several accounts never wait for each other in a circle.

    The statement is planned once. With the number of events in sight, PostgreSQL would believe
    that a plan for this number is worth making each time, and planning takes longer than the rest:
    the sub-select hides it. OFFSET 0 has subscriptions read by their account's part of the index.
    """
    p = [f"${after + number}" for number in range(1, 7)]
    only = "JOIN saved ON saved.id = purchase_order_id" if only_saved else ""
    parts = f"""
        appended AS (
            SELECT appended.*,
                   count(*) OVER of_account AS count,
                   row_number() OVER of_account - 1 AS from_end
              FROM unnest((SELECT {p[0]}::uuid[]), {p[1]}::uuid[], {p[2]}::uuid[], {p[3]}::text[],
                          {p[4]}::timestamptz[], {p[5]}::bytea[])
                   WITH ORDINALITY
                   AS appended (id, account_id, purchase_order_id, type, created_at, body, ordinal)
              {only}
            WINDOW of_account AS (PARTITION BY account_id ORDER BY ordinal DESC
                                  ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
        ),
        head AS (
            INSERT INTO journal_head AS head (account_id, last_number, last_event_id)
            SELECT account_id, count, id
              FROM appended
             WHERE from_end = 0
             ORDER BY account_id
            ON CONFLICT (account_id) DO UPDATE
               SET last_number = head.last_number + excluded.last_number,
                   last_event_id = excluded.last_event_id
            RETURNING account_id, last_number
        ),
        journaled AS (
            INSERT INTO event (id, account_id, number, purchase_order_id, type, created_at, body)
            SELECT id, account_id, last_number - from_end, purchase_order_id, type, created_at,
                   body
              FROM appended
              JOIN head USING (account_id)
        ),
        queued AS (
            INSERT INTO delivery_queue (account_id, subscription_id, generation, event_id,
                                        event_at, event, purchase_order_id, due_at)
            SELECT appended.account_id, s.id, s.generation, appended.id, appended.created_at,
                   appended.type, appended.purchase_order_id, tradewind_now()
              FROM appended
             CROSS JOIN LATERAL (
                   SELECT id, generation
                     FROM webhook_subscription
                    WHERE account_id = appended.account_id
                      AND is_active
                      AND appended.type = ANY (events)
                      AND CASE WHEN filter IS NULL THEN true
                               ELSE filter_accepts(filter, appended.body) END
                   OFFSET 0) AS s
            RETURNING 1
        )"""  # noqa: S608 - the parts are our own constants and numbers of parameters
    return parts, [
        [event.id for event in events],
        [event.account_id for event in events],
        [event.order_id for event in events],
        [event.kind for event in events],
        [event.at for event in events],
        [event.body for event in events],
    ]


class JournalHead(NamedTuple):
    """How far an account's journal has come, what was dropped of it, and the event at a cursor."""

    last_number: int
    last_event_id: UUID
    dropped_through: int
    now: datetime
    cursor_event_id: UUID | None
    cursor_event_at: datetime | None


class JournalEvent(NamedTuple):
    id: UUID
    number: int
    kind: str
    body: bytes


async def find_head(db: Database, account_id: UUID, cursor: int) -> JournalHead | None:
    """The head of an account's journal; None if it has no events.

    The event at the cursor is looked up only if others follow it.
    """
    row = await db.fetchrow(
        """
        SELECT head.last_number, head.last_event_id,
               coalesce(retention.dropped_through, 0) AS dropped_through,
               tradewind_now() AS now,
               at_cursor.id AS cursor_event_id, at_cursor.created_at AS cursor_event_at
          FROM journal_head AS head
          LEFT JOIN journal_retention AS retention ON retention.account_id = head.account_id
          LEFT JOIN LATERAL (SELECT e.id, e.created_at
                               FROM event AS e
                              WHERE e.account_id = head.account_id
                                AND e.number = $2
                                AND head.last_number > $2) AS at_cursor ON true
         WHERE head.account_id = $1
        """,
        account_id,
        cursor,
    )
    return None if row is None else JournalHead(*row)


async def last_numbers(db: Database, account_ids: Sequence[UUID]) -> dict[UUID, int]:
    """The number of the last event of each of these accounts that has any."""
    rows = await db.fetch(
        "SELECT account_id, last_number FROM journal_head WHERE account_id = ANY ($1::uuid[])",
        account_ids,
    )
    return {row["account_id"]: row["last_number"] for row in rows}


async def try_lock_slot(connection: asyncpg.Connection, account_id: UUID, slot: int) -> bool:
    """Take a slot of an account for as long as the connection lives; False if another has it."""
    locked: bool = await connection.fetchval(
        "SELECT pg_try_advisory_lock(hashtextextended($1, 0))",
        _slot_name(account_id, slot),
        timeout=_SLOT_SECONDS,
    )
    return locked


async def unlock_slot(connection: asyncpg.Connection, account_id: UUID, slot: int) -> None:
    await connection.execute(
        "SELECT pg_advisory_unlock(hashtextextended($1, 0))",
        _slot_name(account_id, slot),
        timeout=_SLOT_SECONDS,
    )


def _slot_name(account_id: UUID, slot: int) -> str:
    return f"event stream {account_id} {slot}"


async def last_number_before(db: Database, account_id: UUID, *, kept: timedelta) -> int:
    """Return the number of the youngest event that is older than `kept`; 0 if there is none."""
    number: int | None = await db.fetchval(
        """
        SELECT number
          FROM event
         WHERE account_id = $1 AND created_at < tradewind_now() - $2::interval
         ORDER BY created_at DESC, id DESC
         LIMIT 1
        """,
        account_id,
        kept,
    )
    return number or 0


async def read_journal(
    db: Database,
    account_id: UUID,
    *,
    after: int,
    through: int,
    order_id: UUID | None,
    kinds: Sequence[str] | None,
    limit: int,
    not_before: datetime | None = None,
    not_after: datetime | None = None,
) -> Sequence[JournalEvent]:
    """Events with numbers above `after`, up to `through`, in that order.

    `not_before` and `not_after` keep other days from being read, and from being planned for.
    """
    rows = await db.fetch(
        """
        SELECT id, number, type, body
          FROM event
         WHERE account_id = $1
           AND number > $2
           AND number <= $3
           AND ($4::uuid IS NULL OR purchase_order_id = $4)
           AND ($5::text[] IS NULL OR type = ANY ($5))
           AND ($7::timestamptz IS NULL OR created_at >= $7)
           AND ($8::timestamptz IS NULL OR created_at <= $8)
         ORDER BY number
         LIMIT $6
        """,
        account_id,
        after,
        through,
        order_id,
        kinds,
        limit,
        not_before,
        not_after,
    )
    return [JournalEvent(*row) for row in rows]


async def record_dropped(db: Database, *, since: datetime, until: datetime) -> None:
    """Save the last number of each account's events in a partition that is to be dropped."""
    await db.execute(
        """
        INSERT INTO journal_retention AS retention (account_id, dropped_through)
        SELECT head.account_id, last.number
          FROM journal_head AS head
         CROSS JOIN LATERAL (SELECT e.number
                               FROM event AS e
                              WHERE e.account_id = head.account_id
                                AND e.created_at >= $1
                                AND e.created_at < $2
                              ORDER BY e.number DESC
                              LIMIT 1) AS last
        ON CONFLICT (account_id) DO UPDATE
           SET dropped_through = greatest(retention.dropped_through, excluded.dropped_through)
        """,
        since,
        until,
    )


async def find_event(db: Database, account_id: UUID, event_id: UUID) -> bytes | None:
    body: bytes | None = await db.fetchval(
        "SELECT body FROM event WHERE account_id = $1 AND id = $2", account_id, event_id
    )
    return body


class JournalCheck(NamedTuple):
    """How many accounts and events the journal has, and the accounts whose numbers have gaps."""

    accounts: int
    events: int
    accounts_with_gaps: int


async def check_numbers(db: Database) -> JournalCheck:
    """Compare the events of each account with its head: every number once, and none missing.

    Numbers up to the last dropped one are not counted: retention deletes them by the day.
    """
    [row] = await db.fetch(
        """
        SELECT count(*), coalesce(sum(stored.events), 0)::bigint,
               count(*) FILTER (WHERE head.last_number - coalesce(dropped.dropped_through, 0)
                                      IS DISTINCT FROM stored.events
                                   OR stored.numbers <> stored.events)
          FROM journal_head AS head
          LEFT JOIN journal_retention AS dropped ON dropped.account_id = head.account_id
         CROSS JOIN LATERAL (
               SELECT count(*) AS events, count(DISTINCT e.number) AS numbers
                 FROM event AS e
                WHERE e.account_id = head.account_id
                  AND e.number > coalesce(dropped.dropped_through, 0)
                  AND e.number <= head.last_number) AS stored
        """
    )
    return JournalCheck(*row)
