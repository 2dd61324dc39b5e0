"""Our connections to marketplaces: encrypted credentials, and tokens that are kept fresh."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from time import monotonic
from typing import Literal

from tradewind.errors import ServiceUnavailable
from tradewind.observability.logs import log
from tradewind.platforms import sql
from tradewind.platforms.access import OAuthTokens, PlatformAccess
from tradewind.platforms.failures import NotAuthorised, PlatformFailure, Rejected, Unavailable
from tradewind.platforms.marketplace import Marketplace
from tradewind.platforms.paced_client import PacedClient
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database
from tradewind.storage.sealing import seal, unseal
from tradewind.storage.transaction import Tx

ConnectionState = Literal["connected", "expiring", "expired", "none"]

# A token that expires within this time counts as expired: a call may take that long.
_MARGIN = timedelta(seconds=60)
_EXPIRING = timedelta(days=7)
_LEASE = timedelta(seconds=30)
_WAIT_SECONDS = 10.0
_POLL_SECONDS = 0.1
# How long a process uses its own copy; an operator's change counts everywhere after this time.
CACHE_SECONDS = 5.0
# A refresh token that was rejected is not sent again for this long.
_REJECTED = timedelta(seconds=60)
# Refreshed tokens exist nowhere else, so storing them is tried for longer than other statements.
_STORE_ATTEMPTS = 30
_LONGEST_LIFETIME = 10 * 365 * 24 * 3600


@dataclass(frozen=True, slots=True)
class Connection:
    """A connection with its secrets decrypted."""

    app_key: str
    app_secret: str = field(repr=False)
    access_token: str | None = field(repr=False)
    refresh_token: str | None = field(repr=False)
    access_expires_at: datetime | None
    refresh_expires_at: datetime | None
    owner: str | None
    failure: str | None
    rejected_at: datetime | None
    version: int
    now: datetime

    @property
    def state(self) -> ConnectionState:
        if self.access_token is None or self.access_expires_at is None:
            return "none"
        if self.rejected_at is not None:
            return "expired"
        ends = self.refresh_expires_at if self.refresh_token else self.access_expires_at
        if ends is not None and ends <= self.now:
            return "expired"
        if ends is not None and ends <= self.now + _EXPIRING:
            return "expiring"
        return "connected"

    @property
    def usable(self) -> PlatformAccess | None:
        """The access to sign with, if its token lasts long enough for a call."""
        if self.access_token is None or self.access_expires_at is None:
            return None
        fresh = self.access_expires_at > self.now + _MARGIN
        return PlatformAccess(self.app_key, self.app_secret, self.access_token) if fresh else None


class Connections:
    """Returns the access to sign requests with, and refreshes tokens that are about to expire."""

    def __init__(
        self,
        db: Database,
        keyring: Keyring,
        marketplaces: Mapping[str, Marketplace],
        clients: Mapping[str, PacedClient],
    ) -> None:
        self._db = db
        self._keyring = keyring
        self._marketplaces = marketplaces
        self._clients = clients
        self._cached: dict[str, tuple[float, PlatformAccess]] = {}
        self._recent: dict[str, tuple[float, Connection]] = {}
        self._refreshing: dict[str, asyncio.Task[PlatformAccess]] = {}

    async def access(self, platform: str, rejected: str | None = None) -> PlatformAccess:
        """Return valid access. `rejected` is a token that the marketplace just rejected."""
        at, access = self._cached.get(platform, (float("-inf"), None))
        if access and monotonic() - at < CACHE_SECONDS and access.access_token != rejected:
            return access
        connection = await self.find(platform)
        if connection is None or connection.access_token is None:
            raise NotAuthorised(platform, "not_connected", "No account is connected.")
        access = connection.usable
        if access is None or access.access_token == rejected:
            access = await self._refreshed(platform, connection)
        self._cached[platform] = (monotonic(), access)
        return access

    async def find(self, platform: str) -> Connection | None:
        row = await sql.find_connection(self._db, platform)
        return None if row is None else self._decrypt(platform, row)

    async def find_recent(self, platform: str) -> Connection | None:
        """Return the connection as it was at most CACHE_SECONDS ago."""
        at, connection = self._recent.get(platform, (float("-inf"), None))
        now = monotonic()
        if connection is None or now - at >= CACHE_SECONDS:
            connection = await self.find(platform)
            if connection is not None:
                self._recent[platform] = (now, connection)
        return connection

    async def refresh_expiring(self, within: timedelta) -> None:
        """Refresh tokens that expire soon; a failure is logged, and tried again next time."""
        for platform in await sql.list_expiring(self._db, within=within):
            connection = await self.find(platform)
            if connection is not None and platform in self._clients:
                try:
                    await self._refreshed(platform, connection)
                except PlatformFailure as failure:
                    log.warning("platform.not_refreshed", platform=platform, error=str(failure))

    async def store_tokens(self, tx: Tx, platform: str, tokens: OAuthTokens) -> None:
        """Store the tokens of a new authorisation, encrypted."""
        await sql.replace_tokens(
            tx, platform, self._encrypt_tokens(platform, tokens), owner=tokens.owner
        )

    async def store_app(
        self,
        tx: Tx,
        platform: str,
        app_key: str,
        app_secret: str,
        *,
        settings_hash: bytes | None = None,
    ) -> None:
        """Store an application: an operator's, or with a hash the one in the settings."""
        await sql.save_app(
            tx,
            platform,
            app_key=app_key,
            app_secret=self._encrypt(app_secret, platform, "app_secret"),
            source="operator" if settings_hash is None else "settings",
            settings_hash=settings_hash,
        )

    def forget(self, platform: str) -> None:
        """Drop our own copy and read the database again."""
        self._cached.pop(platform, None)
        self._recent.pop(platform, None)

    async def _refreshed(self, platform: str, current: Connection) -> PlatformAccess:
        """Return the access that replaces the current one.

        A task of its own fetches it. If it ended with a caller who gives up, a refresh token that
        the marketplace has already replaced would be lost.
        """
        task = self._refreshing.get(platform)
        if task is None:
            task = asyncio.create_task(self._refresh_once(platform, current))
            self._refreshing[platform] = task
            task.add_done_callback(lambda task: self._end(platform, task))
        return await asyncio.shield(task)

    def _end(self, platform: str, task: "asyncio.Task[PlatformAccess]") -> None:
        self._refreshing.pop(platform, None)
        if not task.cancelled():
            task.exception()  # marks it as retrieved: every caller may have given up

    async def _refresh_once(self, platform: str, current: Connection) -> PlatformAccess:
        """Refresh the tokens, or wait for the process that holds the lease for it."""
        deadline = monotonic() + _WAIT_SECONDS
        while True:
            if current.refresh_token is None:
                raise NotAuthorised(platform, "token_expired", "The token expired; connect again.")
            if current.rejected_at is not None and current.rejected_at > current.now - _REJECTED:
                message = "The refresh token was rejected; connect again."
                raise NotAuthorised(platform, "refused", message)
            if await sql.lease_refresh(self._db, platform, version=current.version, lease=_LEASE):
                return await self._refresh(platform, current)
            await asyncio.sleep(_POLL_SECONDS)
            latest = await self.find(platform)
            if latest is None or monotonic() > deadline:
                message = "The token is being refreshed."
                raise Unavailable(platform, "refreshing", message, retry_after=1)
            if latest.version != current.version and latest.usable is not None:
                return latest.usable
            current = latest

    async def _refresh(self, platform: str, current: Connection) -> PlatformAccess:
        market, client = self._marketplaces[platform], self._clients[platform]
        try:
            tokens = await market.oauth.refresh(
                client, current.app_key, current.app_secret, current.refresh_token or ""
            )
        except PlatformFailure as failure:
            await sql.record_failed_refresh(
                self._db,
                platform,
                version=current.version,
                failure=str(failure),
                rejected=isinstance(failure, NotAuthorised | Rejected),
            )
            raise
        await self._store_refreshed(platform, current.version, tokens)
        log.info("platform.refreshed", platform=platform, expires_in=tokens.expires_in)
        return PlatformAccess(current.app_key, current.app_secret, tokens.access_token)

    async def _store_refreshed(self, platform: str, version: int, tokens: OAuthTokens) -> None:
        for attempt in range(1, _STORE_ATTEMPTS + 1):
            try:
                stored = await sql.save_refreshed(
                    self._db, platform, self._encrypt_tokens(platform, tokens), version=version
                )
            except ServiceUnavailable:
                if attempt == _STORE_ATTEMPTS:
                    raise
                await asyncio.sleep(1)
            else:
                if not stored:
                    log.warning("platform.refresh_outdated", platform=platform)
                return

    def _encrypt_tokens(self, platform: str, tokens: OAuthTokens) -> sql.EncryptedTokens:
        refresh, lasts = tokens.refresh_token, tokens.refresh_expires_in
        return sql.EncryptedTokens(
            self._encrypt(tokens.access_token, platform, "access_token"),
            _lifetime(tokens.expires_in),
            self._encrypt(refresh, platform, "refresh_token") if refresh else None,
            None if lasts is None else _lifetime(lasts),
        )

    def _decrypt(self, platform: str, row: sql.ConnectionRow) -> Connection:
        def decrypted(column: str) -> str | None:
            value: bytes | None = getattr(row, column)
            name = column_name(platform, column)
            return None if value is None else unseal(self._keyring, value, name).decode()

        secrets = {column: decrypted(column) for column in sql.EncryptedSecrets._fields}
        return Connection(**(row._asdict() | secrets))

    def _encrypt(self, value: str, platform: str, column: str) -> bytes:
        return seal(self._keyring, value.encode(), column_name(platform, column))


def _lifetime(seconds: int) -> timedelta:
    return timedelta(seconds=max(0, min(seconds, _LONGEST_LIFETIME)))


def column_name(platform: str, column: str) -> str:
    """Name the row and column that a value is encrypted for: it decrypts only there."""
    return f"platform_connection/{platform}/{column}"
