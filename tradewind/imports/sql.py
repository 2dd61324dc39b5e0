"""The statements of imports: store a file, lease what is due, record what became of each order."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import asyncpg
import msgspec

from tradewind.imports.model import (
    Import,
    ImportAmounts,
    ImportCounts,
    ImportOrderStatus,
    ImportRow,
    ImportStatus,
    NewImportOrder,
    NewImportRow,
    PendingOrder,
    RowError,
    RunningImport,
)
from tradewind.storage.pool import Database
from tradewind.storage.statements import Part
from tradewind.storage.transaction import Tx

PLACEMENT_KEY = "import_placement_once"

_IMPORT = """
    i.id, i.account_id, i.file_name, i.columns, i.unused_columns, i.status, i.confirmed_fen,
    i.created_at, i.confirmed_at, i.ended_at, o.*, r.*
"""
_COUNTED = """
    import AS i
    CROSS JOIN LATERAL (
        SELECT count(*) AS orders,
               count(*) FILTER (WHERE status = 'waiting') AS orders_waiting,
               count(*) FILTER (WHERE status = 'checked') AS orders_checked,
               count(*) FILTER (WHERE status = 'failed') AS orders_failed,
               count(*) FILTER (WHERE status = 'placed') AS orders_placed,
               coalesce(sum(goods_fen) FILTER (WHERE status IN ('checked', 'placed')), 0)::bigint
                   AS goods_fen,
               coalesce(sum(freight_fen) FILTER (WHERE status IN ('checked', 'placed')), 0)::bigint
                   AS freight_fen,
               coalesce(sum(discount_fen) FILTER (WHERE status IN ('checked', 'placed')), 0)::bigint
                   AS discount_fen,
               coalesce(sum(total_fen) FILTER (WHERE status IN ('checked', 'placed')), 0)::bigint
                   AS total_fen
          FROM import_order WHERE import_id = i.id) AS o
    CROSS JOIN LATERAL (
        SELECT count(*) AS rows, count(*) FILTER (WHERE ordered.status = 'failed') AS rows_failed
          FROM import_row AS stored
          JOIN import_order AS ordered
            ON ordered.import_id = stored.import_id AND ordered.number = stored.order_number
         WHERE stored.import_id = i.id) AS r
"""


async def insert_import(
    tx: Tx,
    import_id: UUID,
    account_id: UUID,
    file_name: str,
    columns: str,
    unused_columns: str,
    orders: Sequence[NewImportOrder],
    rows: Sequence[NewImportRow],
) -> None:
    """Store a file that was checked. Orders with an error are failed from the start."""
    await tx.execute(
        """
        INSERT INTO import (id, account_id, file_name, columns, unused_columns, status, created_at,
                            updated_at, next_at)
        VALUES ($1, $2, $3, $4, $5, 'checking', tradewind_now(), tradewind_now(), tradewind_now())
        """,
        import_id,
        account_id,
        file_name,
        columns,
        unused_columns,
    )
    await tx.execute(
        """
        INSERT INTO import_order (import_id, number, account_id, reference, wanted, status)
        SELECT $1, number, $2, reference, wanted::json,
               CASE WHEN wanted IS NULL THEN 'failed' ELSE 'waiting' END
          FROM unnest($3::integer[], $4::text[], $5::text[]) AS o (number, reference, wanted)
        """,
        import_id,
        account_id,
        [order.number for order in orders],
        [order.reference for order in orders],
        [None if order.wanted is None else order.wanted.decode() for order in orders],
    )
    await tx.execute(
        """
        INSERT INTO import_row (import_id, number, account_id, order_number, cells, errors)
        SELECT $1, number, $2, order_number, cells::json, errors::json
          FROM unnest($3::integer[], $4::integer[], $5::text[], $6::text[])
               AS r (number, order_number, cells, errors)
        """,
        import_id,
        account_id,
        [row.number for row in rows],
        [row.order_number for row in rows],
        [msgspec.json.encode(row.cells).decode() for row in rows],
        [msgspec.json.encode(row.errors).decode() for row in rows],
    )


async def lock_and_count_running(tx: Tx, account_id: UUID) -> int:
    """Count the imports of an account that run, after those that are being added."""
    await tx.execute("SELECT 1 FROM account WHERE id = $1 FOR NO KEY UPDATE", account_id)
    running: int = await tx.fetchval(
        """
        SELECT count(*) FROM import
         WHERE account_id = $1 AND status IN ('checking', 'ordering')
        """,
        account_id,
    )
    return running


async def find_import(db: Database, account_id: UUID, import_id: UUID) -> Import | None:
    row = await db.fetchrow(
        f"SELECT {_IMPORT} FROM {_COUNTED} WHERE i.account_id = $1 AND i.id = $2",  # noqa: S608 - our own constants
        account_id,
        import_id,
    )
    return None if row is None else _import(row)


async def list_imports(
    db: Database, account_id: UUID, *, below: UUID | None, limit: int
) -> Sequence[Import]:
    """List the imports of an account, newest first."""
    rows = await db.fetch(
        f"""
        SELECT {_IMPORT}
          FROM {_COUNTED}
         WHERE i.account_id = $1 AND ($2::uuid IS NULL OR i.id < $2)
         ORDER BY i.id DESC
         LIMIT $3
        """,  # noqa: S608 - our own constants
        account_id,
        below,
        limit,
    )
    return [_import(row) for row in rows]


def _import(row: asyncpg.Record) -> Import:
    return Import(
        id=row["id"],
        account_id=row["account_id"],
        file_name=row["file_name"],
        columns=msgspec.json.decode(row["columns"], type=dict[str, str]),
        unused_columns=msgspec.json.decode(row["unused_columns"], type=list[str]),
        status=ImportStatus(row["status"]),
        confirmed_fen=row["confirmed_fen"],
        created_at=row["created_at"],
        confirmed_at=row["confirmed_at"],
        ended_at=row["ended_at"],
        counts=ImportCounts(**{name: row[name] for name in ImportCounts.__dataclass_fields__}),
        amounts=ImportAmounts(**{name: row[name] for name in ImportAmounts.__dataclass_fields__}),
    )


async def list_rows(
    db: Database,
    account_id: UUID,
    import_id: UUID,
    *,
    only_failed: bool,
    below: int | None,
    limit: int,
) -> Sequence[ImportRow]:
    """List the rows of an import in the order of the file."""
    rows = await db.fetch(
        """
        SELECT r.number, o.reference, r.cells, r.errors, o.status, o.total_fen, o.error_code,
               o.error_message, p.purchase_order_id AS order_id
          FROM import_row AS r
          JOIN import_order AS o ON o.import_id = r.import_id AND o.number = r.order_number
          LEFT JOIN import_placement AS p ON p.import_id = o.import_id AND p.number = o.number
         WHERE r.import_id = $1
           AND r.account_id = $2
           AND (NOT $3 OR o.status = 'failed')
           AND ($4::bigint IS NULL OR r.number > $4)
         ORDER BY r.number
         LIMIT $5
        """,
        import_id,
        account_id,
        only_failed,
        below,
        limit,
    )
    return [_row(row) for row in rows]


def _row(row: asyncpg.Record) -> ImportRow:
    errors = msgspec.json.decode(row["errors"], type=list[RowError])
    if row["error_code"] is not None:
        errors.append(RowError(None, row["error_code"], row["error_message"] or ""))
    return ImportRow(
        number=row["number"],
        reference=row["reference"],
        cells=msgspec.json.decode(row["cells"], type=dict[str, str]),
        status=ImportOrderStatus(row["status"]),
        order_id=row["order_id"],
        total_fen=row["total_fen"],
        errors=errors,
    )


async def confirm(
    db: Database, account_id: UUID, import_id: UUID, *, total_fen: int, email: str
) -> bool:
    """Let an import be ordered, if it is ready and costs this; False: nothing changed."""
    confirmed = await db.fetchval(
        """
        UPDATE import
           SET status = 'ordering', confirmed_fen = $3, confirmed_by = $4,
               confirmed_at = tradewind_now(), updated_at = tradewind_now(),
               next_at = tradewind_now()
         WHERE id = $1
           AND account_id = $2
           AND status = 'ready'
           AND $3 = (SELECT sum(total_fen)
                       FROM import_order WHERE import_id = $1 AND status = 'checked')
        RETURNING true
        """,
        import_id,
        account_id,
        total_fen,
        email,
    )
    return confirmed is not None


async def take_import(db: Database, *, lease: timedelta) -> RunningImport | None:
    """Lease the import that has waited longest. Those of locked accounts wait for the unlock."""
    row = await db.fetchrow(
        """
        UPDATE import
           SET lease_until = tradewind_now() + $1::interval
         WHERE id = (SELECT i.id
                       FROM import AS i
                       JOIN account AS a ON a.id = i.account_id
                      WHERE i.status IN ('checking', 'ordering')
                        AND i.next_at <= tradewind_now()
                        AND i.lease_until <= tradewind_now()
                        AND a.locked_at IS NULL
                      ORDER BY i.next_at
                      LIMIT 1
                        FOR UPDATE OF i SKIP LOCKED)
        RETURNING id, account_id, status, confirmed_by
        """,
        lease,
    )
    if row is None:
        return None
    return RunningImport(
        row["id"], row["account_id"], ImportStatus(row["status"]), row["confirmed_by"]
    )


async def list_pending(
    db: Database, import_id: UUID, status: ImportOrderStatus, *, limit: int
) -> Sequence[PendingOrder]:
    rows = await db.fetch(
        """
        SELECT number, wanted, total_fen, attempts
          FROM import_order
         WHERE import_id = $1 AND status = $2
         ORDER BY attempts, number
         LIMIT $3
        """,
        import_id,
        status,
        limit,
    )
    return [
        PendingOrder(row["number"], row["wanted"].encode(), row["total_fen"], row["attempts"])
        for row in rows
    ]


async def record_checked(
    db: Database, import_id: UUID, number: int, amounts: ImportAmounts
) -> None:
    await db.execute(
        """
        UPDATE import_order
           SET status = 'checked', goods_fen = $3, freight_fen = $4, discount_fen = $5,
               total_fen = $6, attempts = 0
         WHERE import_id = $1 AND number = $2 AND status = 'waiting'
        """,
        import_id,
        number,
        amounts.goods_fen,
        amounts.freight_fen,
        amounts.discount_fen,
        amounts.total_fen,
    )


async def record_placed(db: Database, import_id: UUID, number: int) -> None:
    await db.execute(
        """
        UPDATE import_order SET status = 'placed'
         WHERE import_id = $1 AND number = $2 AND status = 'checked'
        """,
        import_id,
        number,
    )


async def record_failed(
    db: Database, import_id: UUID, number: int, code: str, message: str
) -> None:
    """Record why an order cannot be placed; not if it was placed meanwhile."""
    await db.execute(
        """
        UPDATE import_order SET status = 'failed', error_code = $3, error_message = $4
         WHERE import_id = $1
           AND number = $2
           AND status IN ('waiting', 'checked')
           AND NOT EXISTS (SELECT 1 FROM import_placement WHERE import_id = $1 AND number = $2)
        """,
        import_id,
        number,
        code,
        message,
    )


async def count_attempt(db: Database, import_id: UUID, number: int) -> None:
    await db.execute(
        "UPDATE import_order SET attempts = attempts + 1 WHERE import_id = $1 AND number = $2",
        import_id,
        number,
    )


async def give_back(db: Database, import_id: UUID, *, pause: timedelta) -> None:
    """End the lease; go on after a pause. A phase without pending orders has ended."""
    await db.execute(
        """
        UPDATE import AS i
           SET lease_until = 'epoch',
               next_at = tradewind_now() + $2::interval,
               updated_at = tradewind_now(),
               status = CASE WHEN pending.has_any THEN i.status
                             WHEN i.status = 'checking' THEN 'ready'
                             ELSE 'done' END,
               ended_at = CASE WHEN NOT pending.has_any AND i.status = 'ordering'
                               THEN tradewind_now() END
          FROM (SELECT EXISTS (SELECT 1
                                 FROM import_order AS o
                                 JOIN import AS im ON im.id = o.import_id
                                WHERE o.import_id = $1
                                  AND o.status = CASE im.status WHEN 'checking' THEN 'waiting'
                                                                ELSE 'checked' END)
                       AS has_any) AS pending
         WHERE i.id = $1 AND i.status IN ('checking', 'ordering')
        """,
        import_id,
        pause,
    )


@dataclass(frozen=True, slots=True)
class PlacementFound:
    """The order that an order of an import became, if it did; and the database's time."""

    order_id: UUID | None
    now: datetime


async def find_placement(db: Database, import_id: UUID, number: int) -> PlacementFound:
    row = await db.fetchrow(
        """
        SELECT (SELECT purchase_order_id
                  FROM import_placement WHERE import_id = $1 AND number = $2) AS order_id,
               tradewind_now() AS now
        """,
        import_id,
        number,
    )
    if row is None:
        raise LookupError("A statement without a table returns a row.")
    return PlacementFound(row["order_id"], row["now"])


def insert_placement(import_id: UUID, number: int, account_id: UUID, order_id: UUID) -> Part:
    """Return the part of a statement that records which order an order of the import became."""

    def insert(after: int, only_if: str) -> tuple[str, Sequence[object]]:
        p = [f"${after + argument}" for argument in range(1, 5)]
        statement = f"""
            INSERT INTO import_placement (import_id, number, account_id, purchase_order_id)
            SELECT {p[0]}::uuid, {p[1]}::integer, {p[2]}::uuid, {p[3]}::uuid
             WHERE {only_if}
            """
        return statement, [import_id, number, account_id, order_id]

    return insert


async def delete_placement(tx: Tx, import_id: UUID, number: int) -> None:
    await tx.execute(
        "DELETE FROM import_placement WHERE import_id = $1 AND number = $2", import_id, number
    )


async def delete_old_imports(db: Database, *, kept: timedelta) -> None:
    """Delete imports that ended or were never confirmed; their orders stay."""
    await db.execute(
        """
        DELETE FROM import
         WHERE created_at < tradewind_now() - $1::interval AND status IN ('ready', 'done')
        """,
        kept,
    )
