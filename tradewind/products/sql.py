"""The statements about the cache of product searches."""

from datetime import timedelta
from typing import NamedTuple

from tradewind.storage.pool import Database


class StoredPage(NamedTuple):
    """A cached page as JSON, and its age in seconds."""

    body: bytes
    age: float


async def find_page(db: Database, key: bytes, *, within: timedelta) -> StoredPage | None:
    """Find a stored page that is young enough."""
    row = await db.fetchrow(
        """
        SELECT body, extract(epoch FROM tradewind_now() - fetched_at)::float8 AS age
          FROM search_cache
         WHERE key = $1 AND fetched_at > tradewind_now() - $2::interval
        """,
        key,
        within,
    )
    return None if row is None else StoredPage(*row)


async def store_page(db: Database, key: bytes, body: bytes) -> None:
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


async def delete_old_pages(db: Database, *, older_than: timedelta) -> None:
    await db.execute(
        "DELETE FROM search_cache WHERE fetched_at < tradewind_now() - $1::interval", older_than
    )
