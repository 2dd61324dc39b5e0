"""The statements about searches that were answered a moment ago."""

from datetime import timedelta

from tradewind.storage.pool import Database


async def find_answer(db: Database, key: bytes, *, within: timedelta) -> tuple[bytes, float] | None:
    """A stored answer that is young enough, and its age in seconds."""
    row = await db.fetchrow(
        """
        SELECT body, extract(epoch FROM tradewind_now() - fetched_at)::float8 AS age
          FROM search_cache
         WHERE key = $1 AND fetched_at > tradewind_now() - $2::interval
        """,
        key,
        within,
    )
    return None if row is None else (row["body"], row["age"])


async def store_answer(db: Database, key: bytes, body: bytes) -> None:
    await db.execute(
        """
        INSERT INTO search_cache (key, body, fetched_at)
        VALUES ($1, $2, tradewind_now())
        ON CONFLICT (key) DO UPDATE
           SET body = excluded.body, fetched_at = excluded.fetched_at
        """,
        key,
        body,
    )


async def delete_old_answers(db: Database, *, older_than: timedelta) -> None:
    await db.execute(
        "DELETE FROM search_cache WHERE fetched_at < tradewind_now() - $1::interval", older_than
    )
