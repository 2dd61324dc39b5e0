"""The statements of the HTTP layer: rate budgets, and responses of idempotent requests."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import msgspec

from tradewind.storage.pool import Database
from tradewind.storage.transaction import Tx


async def take_one(db: Database, subject: str, *, step: int, burst: int) -> tuple[bool, int]:
    """Take one request from a budget: whether it was granted, and the debt afterwards."""
    row = await db.fetchrow(
        """
        SELECT granted, debt
          FROM take_from_budgets(
                   ARRAY[$1], ARRAY[1::bigint], ARRAY[$2::bigint], ARRAY[$3::bigint])
        """,
        subject,
        step,
        burst,
    )
    return (False, 0) if row is None else (row["granted"] == 1, row["debt"])


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


async def try_lock(tx: Tx, lock: int) -> bool:
    """Take an advisory lock until the transaction ends, or tell that somebody else has it."""
    got: bool = await tx.fetchval("SELECT pg_try_advisory_xact_lock($1)", lock)
    return got


async def find_answer(tx: Tx, account_id: UUID, route: str, key: str) -> dict[str, Any] | None:
    row = await tx.fetchrow(
        """
        SELECT fingerprint, status, headers, content_type, body,
               coalesce(pending_until > tradewind_now(), false) AS pending
          FROM idempotency_key
         WHERE account_id = $1 AND route = $2 AND key = $3
        """,
        account_id,
        route,
        key,
    )
    return None if row is None else {**row, "headers": msgspec.json.decode(row["headers"])}


async def insert_answer(
    tx: Tx,
    account_id: UUID,
    route: str,
    key: str,
    *,
    fingerprint: bytes,
    status: int,
    headers: str,
    content_type: str,
    body: bytes,
    pending: timedelta | None,
) -> None:
    await tx.execute(
        """
        INSERT INTO idempotency_key (account_id, route, key, fingerprint, status, headers,
                                     content_type, body, created_at, pending_until)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, tradewind_now(),
                tradewind_now() + $9::interval)
        """,
        account_id,
        route,
        key,
        fingerprint,
        status,
        headers,
        content_type,
        body,
        pending,
    )


async def update_answer(
    db: Database,
    account_id: UUID,
    route: str,
    key: str,
    *,
    fingerprint: bytes,
    status: int,
    headers: str,
    content_type: str,
    body: bytes,
) -> None:
    await db.execute(
        """
        UPDATE idempotency_key
           SET status = $5, headers = $6, content_type = $7, body = $8, pending_until = NULL
         WHERE account_id = $1 AND route = $2 AND key = $3 AND fingerprint = $4
        """,
        account_id,
        route,
        key,
        fingerprint,
        status,
        headers,
        content_type,
        body,
    )


async def delete_answer(tx: Tx, account_id: UUID, route: str, key: str) -> None:
    await tx.execute(
        "DELETE FROM idempotency_key WHERE account_id = $1 AND route = $2 AND key = $3",
        account_id,
        route,
        key,
    )


async def delete_old_answers(db: Database, *, days: int) -> None:
    await db.execute(
        """
        DELETE FROM idempotency_key
         WHERE created_at < tradewind_now() - make_interval(days => $1)
        """,
        days,
    )
