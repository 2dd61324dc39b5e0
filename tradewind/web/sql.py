"""The statements of the HTTP layer: rate budgets, and responses of idempotent requests."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import asyncpg
import msgspec

from tradewind.storage.pool import Database
from tradewind.storage.transaction import Tx


def take_from_budgets(asks: str) -> str:
    """Return the statement that takes from several budgets, from each as much as it has.

    `asks` is a query for `subject`, `asked`, `step` and `burst`. Rows are locked in the order of
    their subjects, so that two processes never deadlock.
    """
    spent = "greatest(b.spent_until - excluded.at, 0)"
    granted = (
        "greatest(0, least(excluded.asked,"
        f" (excluded.burst * excluded.step - {spent}) / excluded.step))"
    )
    return f"""
        INSERT INTO rate_budget AS b (subject, spent_until, step, burst, asked, granted, at)
        SELECT ask.subject,
               clock.at + least(ask.asked, ask.burst) * ask.step,
               ask.step, ask.burst, ask.asked, least(ask.asked, ask.burst), clock.at
          FROM ({asks}) AS ask,
               (SELECT (extract(epoch FROM tradewind_now()) * 1000000)::bigint AS at) AS clock
         ORDER BY ask.subject
        ON CONFLICT (subject) DO UPDATE
           SET step = excluded.step,
               burst = excluded.burst,
               asked = excluded.asked,
               at = excluded.at,
               granted = {granted},
               spent_until = greatest(b.spent_until, excluded.at) + excluded.step * {granted}
        RETURNING b.subject, b.granted, greatest(b.spent_until - b.at, 0) AS debt
        """  # noqa: S608 - ours


_TAKE = take_from_budgets(
    "SELECT $1::text AS subject, $4::bigint AS asked, $2::bigint AS step, $3::bigint AS burst"
)


async def take(
    db: Database, subject: str, *, step: int, burst: int, number: int = 1
) -> tuple[int, int]:
    """Take up to `number` requests from a budget: how many, and the debt afterwards."""
    row = await db.fetchrow(_TAKE, subject, step, burst, number)
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


_HEADERS = msgspec.json.Decoder(list[tuple[str, str]])


def _find(after: int = 0) -> str:
    """The query for a stored response; its arguments come `after` so many others."""
    p = [f"${after + number}" for number in range(1, 4)]
    return f"""
        SELECT tradewind_now() AS response_now, stored.fingerprint AS response_fingerprint,
               stored.status AS response_status, stored.headers AS response_headers,
               stored.content_type AS response_content_type, stored.body AS response_body,
               coalesce(stored.pending_until > tradewind_now(), false) AS response_is_pending
          FROM (VALUES (1)) AS always
          LEFT JOIN idempotency_key AS stored
            ON stored.account_id = {p[0]} AND stored.route = {p[1]} AND stored.key = {p[2]}
        """  # noqa: S608 - these are numbers of parameters


async def find_response(db: Database | Tx, account_id: UUID, route: str, key: str) -> ResponseFound:
    record = await db.fetchrow(_find(), account_id, route, key)
    if record is None:
        raise RuntimeError("The query returns one row.")
    return _response_found(record, account_id, route, key)


async def find_response_with(
    db: Database, account_id: UUID, route: str, key: str, query: str, args: Sequence[object]
) -> tuple[ResponseFound, asyncpg.Record | None]:
    """Find a response, and run a query for one row that has an `id`, in one statement."""
    record = await db.fetchrow(
        f"SELECT * FROM ({_find(len(args))}) AS response LEFT JOIN ({query}) AS row ON true",  # noqa: S608 - ours
        *args,
        account_id,
        route,
        key,
    )
    if record is None:
        raise RuntimeError("The query returns one row.")
    stored = _response_found(record, account_id, route, key)
    return stored, None if record["id"] is None else record


async def lock_and_find_response(
    tx: Tx, lock: int, account_id: UUID, route: str, key: str
) -> ResponseFound | None:
    """Take an advisory lock until the transaction ends, and find; None: another has the lock."""
    record = await tx.fetchrow(
        f"{_find()} WHERE pg_try_advisory_xact_lock($4)", account_id, route, key, lock
    )
    return None if record is None else _response_found(record, account_id, route, key)


def _response_found(
    record: asyncpg.Record, account_id: UUID, route: str, key: str
) -> ResponseFound:
    row = None
    if record["response_status"] is not None:
        row = ResponseRow(
            account_id=account_id,
            route=route,
            key=key,
            fingerprint=record["response_fingerprint"],
            status=record["response_status"],
            headers=_HEADERS.decode(record["response_headers"]),
            content_type=record["response_content_type"],
            body=record["response_body"],
        )
    return ResponseFound(row, record["response_is_pending"], record["response_now"])


def insert_response(
    row: ResponseRow, pending: timedelta | None, *, after: int, only_if: str
) -> tuple[str, Sequence[object]]:
    """Return the statement that stores a response if a condition in SQL is true, and its arguments.

    The arguments come `after` so many others.
    """
    p = [f"${after + number}" for number in range(1, 10)]
    statement = f"""
        INSERT INTO idempotency_key (account_id, route, key, fingerprint, status, headers,
                                     content_type, body, created_at, pending_until)
        SELECT {p[0]}::uuid, {p[1]}::text, {p[2]}::text, {p[3]}::bytea, {p[4]}::smallint,
               {p[5]}::json, {p[6]}::text, {p[7]}::bytea, tradewind_now(),
               tradewind_now() + {p[8]}::interval
         WHERE {only_if}
        """
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
