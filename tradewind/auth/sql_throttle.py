"""The statements about guesses at passwords."""

from collections.abc import Sequence
from datetime import datetime, timedelta

import asyncpg

from tradewind.storage.pool import Database
from tradewind.storage.transaction import Tx


async def lock_guesses(tx: Tx, email_hash: bytes) -> asyncpg.Record:
    """What is known of guesses for an e-mail, held; made when there is nothing yet."""
    await tx.execute(
        "INSERT INTO login_failure (email_hash) VALUES ($1) ON CONFLICT DO NOTHING", email_hash
    )
    row = await tx.fetchrow(
        """
        SELECT failed_at, tried_at, locked_until, tradewind_now() AS now
          FROM login_failure
         WHERE email_hash = $1
           FOR UPDATE
        """,
        email_hash,
    )
    if row is None:  # forgotten by a success in between: it is as if there was nothing
        return await lock_guesses(tx, email_hash)
    return row


async def save_guesses(
    tx: Tx,
    email_hash: bytes,
    *,
    failed_at: Sequence[datetime],
    tried_at: Sequence[datetime],
    locked_until: datetime | None,
) -> None:
    await tx.execute(
        """
        UPDATE login_failure
           SET failed_at = $2, tried_at = $3, locked_until = $4
         WHERE email_hash = $1
        """,
        email_hash,
        failed_at,
        tried_at,
        locked_until,
    )


async def forget_guesses(tx: Tx, email_hashes: Sequence[bytes]) -> None:
    await tx.execute("DELETE FROM login_failure WHERE email_hash = ANY($1)", email_hashes)


async def delete_old_guesses(db: Database, *, window: timedelta) -> None:
    await db.execute(
        """
        DELETE FROM login_failure
         WHERE coalesce(failed_at[cardinality(failed_at)] < tradewind_now() - $1::interval, true)
           AND coalesce(tried_at[cardinality(tried_at)] < tradewind_now() - $1::interval, true)
           AND coalesce(locked_until < tradewind_now(), true)
        """,
        window,
    )
