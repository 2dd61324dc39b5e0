"""The statements about our connections to marketplaces."""

from collections.abc import Mapping, Sequence
from datetime import timedelta

import asyncpg

from tradewind.storage.pool import Database
from tradewind.storage.transaction import Tx


async def find_connection(db: Database | Tx, platform: str) -> asyncpg.Record | None:
    return await db.fetchrow(
        """
        SELECT platform, app_key, app_secret, access_token, refresh_token, access_expires_at,
               refresh_expires_at, owner, version, failure, refused_at, updated_at,
               tradewind_now() AS now
          FROM platform_connection
         WHERE platform = $1 AND NOT disconnected
        """,
        platform,
    )


async def lock_source(tx: Tx, platform: str) -> asyncpg.Record | None:
    """Who set this platform's credentials, held; None: nobody ever did."""
    return await tx.fetchrow(
        "SELECT source, settings_hash FROM platform_connection WHERE platform = $1 FOR UPDATE",
        platform,
    )


async def list_expiring(db: Database, *, within: timedelta) -> Sequence[str]:
    """The platforms whose access token ends soon, and that have a refresh token to renew it."""
    rows = await db.fetch(
        """
        SELECT platform
          FROM platform_connection
         WHERE access_expires_at < tradewind_now() + $1::interval
           AND NOT disconnected
           AND refused_at IS NULL
           AND refresh_token IS NOT NULL
           AND coalesce(refresh_expires_at > tradewind_now(), true)
        """,
        within,
    )
    return [row["platform"] for row in rows]


async def save_app(
    tx: Tx,
    platform: str,
    *,
    app_key: str,
    app_secret: bytes,
    source: str,
    settings_hash: bytes | None,
) -> None:
    """Set the application; another one than before forgets the tokens of the old."""
    await tx.execute(
        """
        INSERT INTO platform_connection AS c
               (platform, app_key, app_secret, source, settings_hash, updated_at)
        VALUES ($1, $2, $3, $4, $5, tradewind_now())
        ON CONFLICT (platform) DO UPDATE
           SET app_key = excluded.app_key,
               app_secret = excluded.app_secret,
               source = excluded.source,
               settings_hash = excluded.settings_hash,
               disconnected = false,
               access_token = CASE WHEN c.app_key = excluded.app_key THEN c.access_token END,
               access_expires_at =
                   CASE WHEN c.app_key = excluded.app_key THEN c.access_expires_at END,
               refresh_token = CASE WHEN c.app_key = excluded.app_key THEN c.refresh_token END,
               refresh_expires_at =
                   CASE WHEN c.app_key = excluded.app_key THEN c.refresh_expires_at END,
               owner = CASE WHEN c.app_key = excluded.app_key THEN c.owner END,
               version = c.version + 1,
               refreshing_until = NULL,
               failure = NULL,
               refused_at = NULL,
               updated_at = tradewind_now()
        """,
        platform,
        app_key,
        app_secret,
        source,
        settings_hash,
    )


async def replace_tokens(
    tx: Tx,
    platform: str,
    *,
    access_token: bytes,
    expires_in: timedelta,
    refresh_token: bytes | None,
    refresh_expires_in: timedelta | None,
    owner: str | None,
) -> None:
    """Set all about the authorisation: nothing of an earlier one, perhaps another's, stays."""
    await tx.execute(
        """
        UPDATE platform_connection
           SET access_token = $2,
               access_expires_at = tradewind_now() + $3::interval,
               refresh_token = $4,
               refresh_expires_at = tradewind_now() + $5::interval,
               owner = $6,
               version = version + 1,
               refreshing_until = NULL,
               failure = NULL,
               refused_at = NULL,
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


async def save_refreshed(
    db: Database,
    platform: str,
    *,
    version: int,
    access_token: bytes,
    expires_in: timedelta,
    refresh_token: bytes | None,
    refresh_expires_in: timedelta | None,
) -> bool:
    """Store what a refresh brought; False: somebody set others meanwhile, and those stand."""
    status = await db.execute(
        """
        UPDATE platform_connection
           SET access_token = $3,
               access_expires_at = tradewind_now() + $4::interval,
               refresh_token = coalesce($5, refresh_token),
               refresh_expires_at = coalesce(tradewind_now() + $6::interval, refresh_expires_at),
               version = version + 1,
               refreshing_until = NULL,
               failure = NULL,
               refused_at = NULL,
               updated_at = tradewind_now()
         WHERE platform = $1 AND version = $2
        """,
        platform,
        version,
        access_token,
        expires_in,
        refresh_token,
        refresh_expires_in,
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


async def note_failed_refresh(
    db: Database, platform: str, *, version: int, failure: str, refused: bool
) -> None:
    await db.execute(
        """
        UPDATE platform_connection
           SET failure = $3,
               refreshing_until = NULL,
               refused_at = CASE WHEN $4 THEN tradewind_now() END
         WHERE platform = $1 AND version = $2
        """,
        platform,
        version,
        failure,
        refused,
    )


async def disconnect(tx: Tx, platform: str) -> bool:
    """Forget the tokens and close the connection; whether there was one."""
    status = await tx.execute(
        """
        UPDATE platform_connection
           SET disconnected = true,
               source = 'operator',
               access_token = NULL,
               access_expires_at = NULL,
               refresh_token = NULL,
               refresh_expires_at = NULL,
               owner = NULL,
               version = version + 1,
               refreshing_until = NULL,
               updated_at = tradewind_now()
         WHERE platform = $1 AND NOT disconnected
        """,
        platform,
    )
    return status == "UPDATE 1"


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
