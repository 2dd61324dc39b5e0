"""The statements of the HTTP layer: rate budgets, and responses of idempotent requests."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import asyncpg
import msgspec

from tradewind.storage.pool import Database
from tradewind.storage.transaction import Tx


async def take(
    db: Database, subject: str, *, step: int, burst: int, number: int = 1
) -> tuple[int, int]:
    """Take up to `number` requests from a budget: how many, and the debt afterwards."""
    row = await db.fetchrow(
        """
        SELECT granted, debt
          FROM take_from_budgets(
                   ARRAY[$1], ARRAY[$4::bigint], ARRAY[$2::bigint], ARRAY[$3::bigint])
        """,
        subject,
        step,
        burst,
        number,
    )
    return (0, 0) if row is None else (row["granted"], row["debt"])


async def delete_full_budgets(db: Database) -> None:
    """Delete full budgets: a missing row means the same."""
    await db.execute(
        """
        DELETE FROM rate_budget
         WHERE subject = ANY (ARRAY(
                   SELECT subject
                     FROM rate_budget
                    WHERE spent_until < extract(epoch FROM tradewind_now()) * 1000000
                    ORDER BY subject
                      FOR UPDATE SKIP LOCKED))
        """
    )


RESPONSE_KEY = "idempotency_key_pkey"


@dataclass(frozen=True, slots=True)
class ResponseRow:
    """The response to a request with an idempotency key."""

    account_id: UUID
    route: str
    key: str
    fingerprint: bytes
    status: int
    headers: Sequence[tuple[str, str]]
    content_type: str
    body: bytes


@dataclass(frozen=True, slots=True)
class ResponseFound:
    """The response that is stored for a key, if there is one, and the database's time."""

    row: ResponseRow | None
    is_pending: bool
    now: datetime


_FIND_RESPONSE = """
    SELECT tradewind_now() AS now, stored.*,
           coalesce(stored.pending_until > tradewind_now(), false) AS is_pending
      FROM (VALUES (1)) AS always
      LEFT JOIN idempotency_key AS stored
        ON stored.account_id = $1 AND stored.route = $2 AND stored.key = $3
"""
_HEADERS = msgspec.json.Decoder(list[tuple[str, str]])


async def find_response(db: Database, account_id: UUID, route: str, key: str) -> ResponseFound:
    record = await db.fetchrow(_FIND_RESPONSE, account_id, route, key)
    if record is None:
        raise RuntimeError("The query returns one row.")
    return _response_found(record)


async def lock_and_find_response(
    tx: Tx, lock: int, account_id: UUID, route: str, key: str
) -> ResponseFound | None:
    """Take an advisory lock until the transaction ends, and find; None: another has the lock."""
    record = await tx.fetchrow(
        f"{_FIND_RESPONSE} WHERE pg_try_advisory_xact_lock($4)", account_id, route, key, lock
    )
    return None if record is None else _response_found(record)


def _response_found(record: asyncpg.Record) -> ResponseFound:
    row = None
    if record["key"] is not None:
        row = ResponseRow(
            account_id=record["account_id"],
            route=record["route"],
            key=record["key"],
            fingerprint=record["fingerprint"],
            status=record["status"],
            headers=_HEADERS.decode(record["headers"]),
            content_type=record["content_type"],
            body=record["body"],
        )
    return ResponseFound(row, record["is_pending"], record["now"])


def insert_response(
    row: ResponseRow, pending: timedelta | None, *, after: int = 0
) -> tuple[str, Sequence[object]]:
    """Return the statement that stores a response; its arguments come `after` so many others."""
    p = [f"${after + number}" for number in range(1, 10)]
    statement = f"""
        INSERT INTO idempotency_key (account_id, route, key, fingerprint, status, headers,
                                     content_type, body, created_at, pending_until)
        VALUES ({", ".join(p[:8])}, tradewind_now(), tradewind_now() + {p[8]}::interval)
        """  # noqa: S608 - these are numbers of parameters
    return statement, [*_values(row), pending]


async def replace_response(db: Database, row: ResponseRow) -> bool:
    """Replace a response that waits to be replaced; return whether there was one."""
    statement, args = update_response(row)
    return await db.execute(statement, *args) == "UPDATE 1"


def update_response(
    row: ResponseRow, *, after: int = 0, only_if: str = "true"
) -> tuple[str, Sequence[object]]:
    """Return the statement that replaces a response; its arguments come `after` so many others."""
    p = [f"${after + number}" for number in range(1, 9)]
    statement = f"""
        UPDATE idempotency_key
           SET status = {p[4]}, headers = {p[5]}, content_type = {p[6]}, body = {p[7]},
               pending_until = NULL
         WHERE account_id = {p[0]}
           AND route = {p[1]}
           AND key = {p[2]}
           AND fingerprint = {p[3]}
           AND pending_until IS NOT NULL
           AND {only_if}
        """  # noqa: S608 - these are numbers of parameters, and a condition of ours
    return statement, _values(row)


def _values(row: ResponseRow) -> Sequence[object]:
    return (
        row.account_id,
        row.route,
        row.key,
        row.fingerprint,
        row.status,
        msgspec.json.encode(row.headers).decode(),
        row.content_type,
        row.body,
    )


async def delete_response(tx: Tx, account_id: UUID, route: str, key: str) -> None:
    await tx.execute(
        "DELETE FROM idempotency_key WHERE account_id = $1 AND route = $2 AND key = $3",
        account_id,
        route,
        key,
    )


async def delete_old_responses(db: Database, *, days: int) -> None:
    await db.execute(
        """
        DELETE FROM idempotency_key
         WHERE created_at < tradewind_now() - make_interval(days => $1)
        """,
        days,
    )
