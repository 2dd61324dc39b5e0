"""The statements about our connections to marketplaces."""

from collections.abc import Mapping, Sequence
from datetime import timedelta

import asyncpg

from tradewind.storage.pool import Database
from tradewind.storage.transaction import Tx


async def find_connection(db: Database, platform: str) -> asyncpg.Record | None:
    return await db.fetchrow(
        """
        SELECT platform, app_key, app_secret, access_token, refresh_token, access_expires_at,
               refresh_expires_at, owner, version, failure, updated_at, tradewind_now() AS now
          FROM platform_connection
         WHERE platform = $1
        """,
        platform,
    )


async def list_connections(db: Database) -> Sequence[asyncpg.Record]:
    return await db.fetch(
        """
        SELECT platform, app_key, app_secret, access_token, refresh_token, access_expires_at,
               refresh_expires_at, owner, version, failure, updated_at, tradewind_now() AS now
          FROM platform_connection
         ORDER BY platform
        """
    )


async def list_expiring(db: Database, *, within: timedelta) -> Sequence[str]:
    """The platforms whose access token ends soon, and that have a refresh token to renew it."""
    rows = await db.fetch(
        """
        SELECT platform
          FROM platform_connection
         WHERE access_expires_at < tradewind_now() + $1::interval
           AND refresh_token IS NOT NULL
           AND coalesce(refresh_expires_at > tradewind_now(), true)
        """,
        within,
    )
    return [row["platform"] for row in rows]


async def save_app(tx: Tx, platform: str, *, app_key: str, app_secret: bytes) -> None:
    """Set the application; another one than before forgets the tokens of the old."""
    await tx.execute(
        """
        INSERT INTO platform_connection AS c (platform, app_key, app_secret, updated_at)
        VALUES ($1, $2, $3, tradewind_now())
        ON CONFLICT (platform) DO UPDATE
           SET app_key = excluded.app_key,
               app_secret = excluded.app_secret,
               access_token = CASE WHEN c.app_key = excluded.app_key THEN c.access_token END,
               access_expires_at =
                   CASE WHEN c.app_key = excluded.app_key THEN c.access_expires_at END,
               refresh_token = CASE WHEN c.app_key = excluded.app_key THEN c.refresh_token END,
               refresh_expires_at =
                   CASE WHEN c.app_key = excluded.app_key THEN c.refresh_expires_at END,
               version = c.version + 1,
               failure = NULL,
               updated_at = tradewind_now()
        """,
        platform,
        app_key,
        app_secret,
    )


async def save_tokens(
    db: Database | Tx,
    platform: str,
    *,
    access_token: bytes,
    expires_in: timedelta,
    refresh_token: bytes | None,
    refresh_expires_in: timedelta | None,
    owner: str | None,
) -> bool:
    """Store new tokens and give back the turn to refresh; False: there is no such connection."""
    status = await db.execute(
        """
        UPDATE platform_connection
           SET access_token = $2,
               access_expires_at = tradewind_now() + $3::interval,
               refresh_token = coalesce($4, refresh_token),
               refresh_expires_at = coalesce(tradewind_now() + $5::interval, refresh_expires_at),
               owner = coalesce($6, owner),
               version = version + 1,
               refreshing_until = NULL,
               failure = NULL,
               updated_at = tradewind_now()
         WHERE platform = $1
        """,
        platform,
        access_token,
        expires_in,
        refresh_token,
        refresh_expires_in,
        owner,
    )
    return status == "UPDATE 1"


async def take_turn_to_refresh(
    db: Database, platform: str, *, version: int, lease: timedelta
) -> bool:
    """Whether the refresh of exactly this version is ours to do."""
    took = await db.fetchval(
        """
        UPDATE platform_connection
           SET refreshing_until = tradewind_now() + $3::interval
         WHERE platform = $1
           AND version = $2
           AND coalesce(refreshing_until < tradewind_now(), true)
        RETURNING true
        """,
        platform,
        version,
        lease,
    )
    return took is not None


async def note_failed_refresh(db: Database, platform: str, *, version: int, failure: str) -> None:
    await db.execute(
        """
        UPDATE platform_connection
           SET failure = $3, refreshing_until = NULL
         WHERE platform = $1 AND version = $2
        """,
        platform,
        version,
        failure,
    )


async def delete_connection(tx: Tx, platform: str) -> bool:
    status = await tx.execute("DELETE FROM platform_connection WHERE platform = $1", platform)
    return status == "DELETE 1"


async def sealed_values(db: Database) -> Sequence[asyncpg.Record]:
    """Everything that is sealed here, to be sealed anew with another master secret."""
    return await db.fetch(
        """
        SELECT platform, version, app_secret, access_token, refresh_token
          FROM platform_connection
        """
    )


async def replace_sealed(
    db: Database,
    platform: str,
    *,
    version: int,
    sealed: Mapping[str, bytes | None],
) -> bool:
    """Store the same secrets in another seal, unless they changed meanwhile."""
    status = await db.execute(
        """
        UPDATE platform_connection
           SET app_secret = $3, access_token = $4, refresh_token = $5
         WHERE platform = $1 AND version = $2
        """,
        platform,
        version,
        sealed["app_secret"],
        sealed["access_token"],
        sealed["refresh_token"],
    )
    return status == "UPDATE 1"
