"""Statements that fill a database: many copies of real rows, each with its own ids and times."""

import asyncio
from collections.abc import Mapping, Sequence
from uuid import UUID

import asyncpg

# Over how many days rows are spread: as long as the journal is kept.
DAYS = 30
_CHUNK = 250_000
_WRITERS = 2

_FUNCTIONS = """
    -- An id as the program makes them, ordered by time, from a time and a number.
    CREATE FUNCTION filled_id(at timestamptz, number bigint) RETURNS uuid
        LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
        SELECT (lpad(to_hex((date_part('epoch', at) * 1000)::bigint), 12, '0')
                || '7' || lpad(to_hex(number % 4096), 3, '0')
                || 'a' || lpad(to_hex(number), 15, '0'))::uuid
    $$;
    -- A moment of the last days: the first number is the oldest.
    CREATE FUNCTION filled_at(number bigint, total bigint, until timestamptz) RETURNS timestamptz
        LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
        SELECT until - interval '30 days' * (1 - (number::float8 - 0.5) / total)
    $$;
"""
_BODY = (
    '{"id":"evt_%s","event":"order.updated","created_at":"%s","data":{"order":{"id":"ORD%s",'
    '"platform":"sandbox","order_id":"1688%s","status":"paid","payment_status":"paid",'
    '"platform_payment_status":"paid","total_amount_cny":128.5,"updated_at":"%s"}}}'
)


async def prepare(connection: asyncpg.Connection) -> None:
    """Make the functions, and let no order that is copied be due during a run.

    An unpaid order is synced every five minutes, which is less than a run takes: a worker would
    sync the copies while something else is measured.
    """
    await connection.execute(_FUNCTIONS)
    await connection.execute(
        "UPDATE purchase_order SET next_sync_at = tradewind_now() + interval '1 day'"
    )


async def copy_rows(
    connection: asyncpg.Connection,
    table: str,
    where: str,
    number: int,
    changes: Mapping[str, str],
) -> None:
    """Insert `number` copies of each row that `where` names.

    `changes` are expressions for columns, in which `t` is the row and `g` the number of the copy;
    every other column is as in the row.
    """
    if number <= 0:
        return
    names = [
        row["attname"]
        for row in await connection.fetch(
            """
            SELECT attname
              FROM pg_attribute
             WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped
             ORDER BY attnum
            """,
            table,
        )
    ]
    values = ", ".join(changes.get(name, f"t.{name}") for name in names)
    await connection.execute(
        f"INSERT INTO {table} ({', '.join(names)}) SELECT {values} FROM {table} AS t,"  # noqa: S608 - our own names
        f" generate_series(1::bigint, {int(number)}) AS g WHERE {where}"
    )


async def copy_orders(
    connection: asyncpg.Connection, order_id: UUID, number: int, owner: str
) -> None:
    """Insert copies of an order with its timeline; `owner` is an expression for the account.

    The marketplace does not know them; their ids there are made up. They are due one after another
    within an hour, which begins when the order itself is due.
    """
    copy_id = "filled_id(now() - interval '1 second', g)"
    name = "'9' || lpad(g::text, 18, '0')"
    copied: Sequence[tuple[str, str, Mapping[str, str]]] = (
        (
            "purchase_order",
            "id",
            {
                "id": copy_id,
                "account_id": owner,
                "next_sync_at": f"t.next_sync_at + interval '1 hour' * g / {int(number)}",
                "order_ids": f"ARRAY[{name}]",
                "parts": f"replace(t.parts::text, t.order_ids[1], {name})::json",
            },
        ),
        (
            "platform_order",
            "purchase_order_id",
            {"order_id": name, "purchase_order_id": copy_id},
        ),
        (
            "order_change",
            "purchase_order_id",
            {"purchase_order_id": copy_id, "account_id": owner},
        ),
    )
    async with connection.transaction():  # in which now() is one moment
        for table, key, changes in copied:
            await copy_rows(connection, table, f"t.{key} = '{order_id}'", number, changes)


async def is_synced(connection: asyncpg.Connection, platform: str) -> bool:
    """Whether a worker has looked for changes on a marketplace and synced all that was due."""
    synced: bool = await connection.fetchval(
        """
        SELECT EXISTS (SELECT FROM platform_sync WHERE platform = $1)
           AND NOT EXISTS (SELECT
                             FROM purchase_order
                            WHERE work <> 'none'
                              AND (next_sync_at <= tradewind_now()
                                   OR lease_until > tradewind_now()))
        """,
        platform,
    )
    return synced


async def count_failed_syncs(connection: asyncpg.Connection) -> int:
    """How many orders could not be synced; of a copy every sync fails."""
    failed: int = await connection.fetchval(
        "SELECT count(*) FROM purchase_order WHERE sync_failures > 0"
    )
    return failed


async def fill_journal(url: str, accounts: Sequence[UUID], rows: int) -> None:
    """Insert `rows` events of the last days, dealt out over the accounts, two chunks at a time."""
    connection = await asyncpg.connect(url)
    until = await connection.fetchval("SELECT now()")
    for distance in range(DAYS + 1):
        await connection.execute(
            "SELECT make_partition('event', $1::timestamptz::date - $2::integer)",
            until,
            distance,
        )
    chunks = iter(range(0, rows, _CHUNK))

    async def write() -> None:
        writer = await asyncpg.connect(url)
        for start in chunks:
            await _insert_events(writer, accounts, start, min(start + _CHUNK, rows), rows, until)
        await writer.close()

    await asyncio.gather(*(write() for _ in range(_WRITERS)))
    await connection.execute(
        """
        INSERT INTO journal_head (account_id, last_number, last_event_id)
        SELECT account.id, last.number, last.id
          FROM unnest($1::uuid[]) AS account (id)
         CROSS JOIN LATERAL (SELECT number, id
                               FROM event
                              WHERE account_id = account.id
                              ORDER BY number DESC
                              LIMIT 1) AS last
        ON CONFLICT (account_id) DO UPDATE
           SET last_number = excluded.last_number, last_event_id = excluded.last_event_id
        """,
        accounts,
    )
    await connection.close()


async def _insert_events(
    writer: asyncpg.Connection,
    accounts: Sequence[UUID],
    start: int,
    end: int,
    total: int,
    until: object,
) -> None:
    await writer.execute(
        """
        INSERT INTO event (id, account_id, purchase_order_id, type, body, created_at, number)
        SELECT made.id, made.account_id, made.order_id, 'order.updated',
               convert_to(format($7::text, upper(left(replace(made.id::text, '-', ''), 26)),
                                 made.at, upper(left(replace(made.order_id::text, '-', ''), 26)),
                                 lpad(made.g::text, 15, '0'), made.at), 'UTF8'),
               made.at, (made.g - 1) / $6 + 1
          FROM (SELECT g, filled_at(g, $3, $4) AS at, filled_id(filled_at(g, $3, $4), g) AS id,
                       ($5::uuid[])[(1 + (g - 1) % $6)::integer] AS account_id,
                       -- Four events are about one order.
                       filled_id(filled_at(g - g % 40, $3, $4), g % 10 + g - g % 40) AS order_id
                  FROM generate_series($1::bigint + 1, $2::bigint) AS g) AS made
        """,
        start,
        end,
        total,
        until,
        accounts,
        len(accounts),
        _BODY,
        timeout=600,
    )


async def queue_deliveries(connection: asyncpg.Connection, account_id: UUID, wait: str) -> None:
    """Queue one delivery for each subscription of every other account, due after `wait`."""
    await connection.execute(
        """
        INSERT INTO delivery_queue (account_id, subscription_id, generation, event_id, event_at,
                                    event, purchase_order_id, attempt, due_at)
        SELECT s.account_id, s.id, s.generation, tradewind_uuid7(), now() - interval '1 minute',
               'order.updated', tradewind_uuid7(), 2, now() + $2::text::interval
          FROM webhook_subscription AS s
         WHERE s.account_id <> $1
        """,
        account_id,
        wait,
        timeout=120,
    )


async def settle(connection: asyncpg.Connection, *tables: str) -> None:
    """Have what was filled analysed and on disk, and keep vacuum from working on it meanwhile.

    A plain table is vacuumed first, as it would have been long ago: otherwise whoever reads a row
    for the first time marks it as committed, and the WAL gets its whole page. The journal is too
    long for that, and only its end is written.
    """
    for table in tables:
        partitions = await connection.fetch(
            "SELECT relid::regclass::text AS name FROM pg_partition_tree($1::text) WHERE isleaf",
            table,
        )
        names = [row["name"] for row in partitions] or [table]
        for name in names:
            await connection.execute(f"ALTER TABLE {name} SET (autovacuum_enabled = off)")
        is_plain = names == [table]
        await connection.execute(
            f"{'VACUUM (ANALYZE)' if is_plain else 'ANALYZE'} {table}", timeout=300
        )
    await connection.execute("CHECKPOINT", timeout=300)
