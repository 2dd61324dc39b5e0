"""The statements about our connections to marketplaces, and about recently read products."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Literal, NamedTuple

from tradewind.storage.pool import Database
from tradewind.storage.transaction import Tx


class ConnectionRow(NamedTuple):
    """A connection as it is stored: its secrets are encrypted."""

    app_key: str
    app_secret: bytes
    access_token: bytes | None
    refresh_token: bytes | None
    access_expires_at: datetime | None
    refresh_expires_at: datetime | None
    owner: str | None
    failure: str | None
    rejected_at: datetime | None
    version: int
    now: datetime


class CredentialsOrigin(NamedTuple):
    """Who set a marketplace's credentials; a hash of what the settings said, if they did."""

    source: Literal["operator", "settings"]
    settings_hash: bytes | None


class EncryptedTokens(NamedTuple):
    """Tokens to store, with their lifetimes."""

    access_token: bytes
    expires_in: timedelta
    refresh_token: bytes | None
    refresh_expires_in: timedelta | None


class EncryptedSecrets(NamedTuple):
    """The encrypted columns of a connection."""

    app_secret: bytes
    access_token: bytes | None
    refresh_token: bytes | None


class CachedProduct(NamedTuple):
    """A cached product as JSON, and its age in seconds."""

    product_id: str
    body: bytes
    age: float


async def find_connection(db: Database | Tx, platform: str) -> ConnectionRow | None:
    row = await db.fetchrow(
        """
        SELECT app_key, app_secret, access_token, refresh_token, access_expires_at,
               refresh_expires_at, owner, failure, rejected_at, version, tradewind_now() AS now
          FROM platform_connection
         WHERE platform = $1 AND NOT disconnected
        """,
        platform,
    )
    return None if row is None else ConnectionRow(*row)


async def lock_credentials_origin(tx: Tx, platform: str) -> CredentialsOrigin | None:
    """Lock a marketplace's credentials; None when nobody ever set any."""
    row = await tx.fetchrow(
        "SELECT source, settings_hash FROM platform_connection WHERE platform = $1 FOR UPDATE",
        platform,
    )
    return None if row is None else CredentialsOrigin(*row)


async def list_expiring(db: Database, *, within: timedelta) -> Sequence[str]:
    """List the marketplaces whose access token expires soon and can be refreshed."""
    rows = await db.fetch(
        """
        SELECT platform
          FROM platform_connection
         WHERE access_expires_at < tradewind_now() + $1::interval
           AND NOT disconnected
           AND rejected_at IS NULL
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
    """Set the application; tokens of another application are deleted."""
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
               rejected_at = NULL,
               updated_at = tradewind_now()
        """,
        platform,
        app_key,
        app_secret,
        source,
        settings_hash,
    )


async def replace_tokens(
    tx: Tx, platform: str, tokens: EncryptedTokens, *, owner: str | None
) -> None:
    """Replace the authorisation as a whole; an earlier one may have been another owner's."""
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
               rejected_at = NULL,
               updated_at = tradewind_now()
         WHERE platform = $1
        """,
        platform,
        *tokens,
        owner,
    )


async def save_refreshed(
    db: Database, platform: str, tokens: EncryptedTokens, *, version: int
) -> bool:
    """Store refreshed tokens; False if others were stored meanwhile, which then stay."""
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
               rejected_at = NULL,
               updated_at = tradewind_now()
         WHERE platform = $1 AND version = $2
        """,
        platform,
        version,
        *tokens,
    )
    return status == "UPDATE 1"


async def lease_refresh(db: Database, platform: str, *, version: int, lease: timedelta) -> bool:
    """Take the lease for refreshing this version of the tokens; False if another process has it."""
    leased = await db.fetchval(
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
    return leased is not None


async def record_failed_refresh(
    db: Database, platform: str, *, version: int, failure: str, rejected: bool
) -> None:
    await db.execute(
        """
        UPDATE platform_connection
           SET failure = $3,
               refreshing_until = NULL,
               rejected_at = CASE WHEN $4 THEN tradewind_now() END
         WHERE platform = $1 AND version = $2
        """,
        platform,
        version,
        failure,
        rejected,
    )


async def disconnect(tx: Tx, platform: str) -> bool:
    """Delete the tokens and close the connection; return whether there was one."""
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


async def list_encrypted(db: Database) -> Sequence[tuple[str, int, EncryptedSecrets]]:
    """List every marketplace with the version of its connection and its encrypted columns."""
    rows = await db.fetch(
        """
        SELECT platform, version, app_secret, access_token, refresh_token
          FROM platform_connection
        """
    )
    return [(row[0], row[1], EncryptedSecrets(*row[2:])) for row in rows]


async def replace_encrypted(
    db: Database, platform: str, *, version: int, secrets: EncryptedSecrets
) -> bool:
    """Store the same secrets encrypted with another key, unless they changed meanwhile."""
    status = await db.execute(
        """
        UPDATE platform_connection
           SET app_secret = $3, access_token = $4, refresh_token = $5
         WHERE platform = $1 AND version = $2
        """,
        platform,
        version,
        *secrets,
    )
    return status == "UPDATE 1"


async def find_products(
    db: Database, platform: str, product_ids: Sequence[str], *, within: timedelta
) -> Sequence[CachedProduct]:
    """Find the cached products that are young enough."""
    rows = await db.fetch(
        """
        SELECT product_id, body, extract(epoch FROM tradewind_now() - read_at)::float8 AS age
          FROM product_cache
         WHERE platform = $1
           AND product_id = ANY ($2::text[])
           AND read_at > tradewind_now() - $3::interval
        """,
        platform,
        product_ids,
        within,
    )
    return [CachedProduct(*row) for row in rows]


async def store_product(db: Database, platform: str, product_id: str, body: bytes) -> None:
    await db.execute(
        """
        INSERT INTO product_cache (platform, product_id, body, read_at)
        VALUES ($1, $2, $3, tradewind_now())
        ON CONFLICT (platform, product_id) DO UPDATE
           SET body = excluded.body, read_at = excluded.read_at
        """,
        platform,
        product_id,
        body,
    )


async def delete_old_products(db: Database, *, older_than: timedelta) -> None:
    await db.execute(
        "DELETE FROM product_cache WHERE read_at < tradewind_now() - $1::interval", older_than
    )
