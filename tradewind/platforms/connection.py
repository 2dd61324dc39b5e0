"""Our connection to a marketplace: credentials sealed, tokens fresh, one refresh at a time."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from time import monotonic
from typing import Any, Literal

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

# A token that ends within this time counts as ended: a call may take that long.
_MARGIN = timedelta(seconds=60)
_EXPIRING = timedelta(days=7)
_LEASE = timedelta(seconds=30)
_PATIENCE_SECONDS = 10.0
_POLL_SECONDS = 0.1
# How long a process believes its own copy: so soon an operator's change counts everywhere.
REMEMBER_SECONDS = 5.0
# A refresh token that was refused is not shown again and again.
_REFUSED = timedelta(seconds=60)
# What a refresh brought is worth some patience with the database: it exists nowhere else.
_KEEP_TRIES = 30
_LONGEST_LIFETIME = 10 * 365 * 24 * 3600


@dataclass(frozen=True, slots=True)
class Connection:
    """A connection with its secrets open."""

    access: PlatformAccess | None
    app_key: str
    app_secret: str
    refresh_token: str | None
    access_expires_at: datetime | None
    refresh_expires_at: datetime | None
    owner: str | None
    failure: str | None
    refused_at: datetime | None
    version: int
    now: datetime

    @property
    def state(self) -> ConnectionState:
        if self.access is None or self.access_expires_at is None:
            return "none"
        if self.refused_at is not None:
            return "expired"
        ends = self.refresh_expires_at if self.refresh_token else self.access_expires_at
        if ends is not None and ends <= self.now:
            return "expired"
        if ends is not None and ends <= self.now + _EXPIRING:
            return "expiring"
        return "connected"

    @property
    def usable(self) -> PlatformAccess | None:
        """What to sign with, if it lasts long enough for a call."""
        fresh = self.access_expires_at is not None and self.access_expires_at > self.now + _MARGIN
        return self.access if fresh else None


class Connections:
    """Hands out what is needed to sign, and refreshes it when it is about to end."""

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
        self._remembered: dict[str, tuple[float, PlatformAccess]] = {}
        self._refreshing: dict[str, asyncio.Task[PlatformAccess]] = {}

    async def access(self, platform: str, refused: str | None = None) -> PlatformAccess:
        """What to sign with now. `refused` is a token that the platform just turned down."""
        at, access = self._remembered.get(platform, (float("-inf"), None))
        if access and monotonic() - at < REMEMBER_SECONDS and access.access_token != refused:
            return access
        connection = await self.find(platform)
        if connection is None or connection.access is None:
            raise NotAuthorised(platform, "not_connected", "No account is connected.")
        access = connection.usable
        if access is None or access.access_token == refused:
            access = await self._refreshed(platform, connection)
        self._remembered[platform] = (monotonic(), access)
        return access

    async def find(self, platform: str) -> Connection | None:
        row = await sql.find_connection(self._db, platform)
        return None if row is None else self._opened(row)

    async def refresh_expiring(self, within: timedelta) -> None:
        """Renew ahead of time what ends soon; a failure is noted, and tried again next time."""
        for platform in await sql.list_expiring(self._db, within=within):
            connection = await self.find(platform)
            if connection is not None and platform in self._clients:
                try:
                    await self._refreshed(platform, connection)
                except PlatformFailure as failure:
                    log.warning("platform.not_refreshed", platform=platform, error=str(failure))

    async def keep(self, tx: Tx, platform: str, tokens: OAuthTokens) -> None:
        """Store the tokens of a new authorisation, sealed."""
        await sql.replace_tokens(tx, platform, owner=tokens.owner, **self._sealed(platform, tokens))

    async def keep_app(
        self,
        tx: Tx,
        platform: str,
        app_key: str,
        app_secret: str,
        *,
        settings_hash: bytes | None = None,
    ) -> None:
        """Store an application: an operator's, or with a hash what the settings say."""
        await sql.save_app(
            tx,
            platform,
            app_key=app_key,
            app_secret=self._seal(app_secret, platform, "app_secret"),
            source="operator" if settings_hash is None else "settings",
            settings_hash=settings_hash,
        )

    def forget(self, platform: str) -> None:
        """Believe the database again, not our own copy."""
        self._remembered.pop(platform, None)

    async def _refreshed(self, platform: str, seen: Connection) -> PlatformAccess:
        """The successor of what was seen.

        It is fetched by a task of the process's own: a caller who gives up must not take a refresh
        token along that the platform has already replaced.
        """
        task = self._refreshing.get(platform)
        if task is None:
            task = asyncio.create_task(self._take_turns(platform, seen))
            self._refreshing[platform] = task
            task.add_done_callback(lambda done: self._end(platform, done))
        return await asyncio.shield(task)

    def _end(self, platform: str, done: "asyncio.Task[PlatformAccess]") -> None:
        self._refreshing.pop(platform, None)
        if not done.cancelled():
            done.exception()  # whoever waited has heard of it; if nobody did, nobody cares

    async def _take_turns(self, platform: str, seen: Connection) -> PlatformAccess:
        """Refresh if it is our turn, else wait for whoever has it, here or in another process."""
        deadline = monotonic() + _PATIENCE_SECONDS
        while True:
            if seen.refresh_token is None:
                raise NotAuthorised(platform, "token_expired", "The token ended; connect again.")
            if seen.refused_at is not None and seen.refused_at > seen.now - _REFUSED:
                raise NotAuthorised(platform, "refused", "The refresh was refused; connect again.")
            if await sql.take_turn_to_refresh(
                self._db, platform, version=seen.version, lease=_LEASE
            ):
                return await self._refresh(platform, seen)
            await asyncio.sleep(_POLL_SECONDS)
            found = await self.find(platform)
            if found is None or monotonic() > deadline:
                raise Unavailable(
                    platform, "refreshing", "The token is being renewed.", retry_after=1
                )
            if found.version != seen.version and found.usable is not None:
                return found.usable
            seen = found

    async def _refresh(self, platform: str, seen: Connection) -> PlatformAccess:
        market, client = self._marketplaces[platform], self._clients[platform]
        try:
            tokens = await market.oauth.refresh(
                client, seen.app_key, seen.app_secret, seen.refresh_token or ""
            )
        except PlatformFailure as failure:
            await sql.note_failed_refresh(
                self._db,
                platform,
                version=seen.version,
                failure=str(failure),
                refused=isinstance(failure, NotAuthorised | Rejected),
            )
            raise
        await self._keep_refreshed(platform, seen.version, tokens)
        log.info("platform.refreshed", platform=platform, expires_in=tokens.expires_in)
        return PlatformAccess(seen.app_key, seen.app_secret, tokens.access_token)

    async def _keep_refreshed(self, platform: str, version: int, tokens: OAuthTokens) -> None:
        for attempt in range(1, _KEEP_TRIES + 1):
            try:
                kept = await sql.save_refreshed(
                    self._db, platform, version=version, **self._sealed(platform, tokens)
                )
            except ServiceUnavailable:
                if attempt == _KEEP_TRIES:
                    raise
                await asyncio.sleep(1)
            else:
                if not kept:
                    log.warning("platform.refresh_outdated", platform=platform)
                return

    def _sealed(self, platform: str, tokens: OAuthTokens) -> dict[str, Any]:
        refresh, lasts = tokens.refresh_token, tokens.refresh_expires_in
        return {
            "access_token": self._seal(tokens.access_token, platform, "access_token"),
            "expires_in": _lifetime(tokens.expires_in),
            "refresh_token": self._seal(refresh, platform, "refresh_token") if refresh else None,
            "refresh_expires_in": None if lasts is None else _lifetime(lasts),
        }

    def _opened(self, row: Any) -> Connection:
        def opened(column: str) -> str | None:
            sealed = row[column]
            if sealed is None:
                return None
            return unseal(self._keyring, sealed, place(row["platform"], column)).decode()

        secret = opened("app_secret") or ""
        token = opened("access_token")
        return Connection(
            access=PlatformAccess(row["app_key"], secret, token) if token else None,
            app_key=row["app_key"],
            app_secret=secret,
            refresh_token=opened("refresh_token"),
            access_expires_at=row["access_expires_at"],
            refresh_expires_at=row["refresh_expires_at"],
            owner=row["owner"],
            failure=row["failure"],
            refused_at=row["refused_at"],
            version=row["version"],
            now=row["now"],
        )

    def _seal(self, value: str, platform: str, column: str) -> bytes:
        return seal(self._keyring, value.encode(), place(platform, column))


def _lifetime(seconds: int) -> timedelta:
    return timedelta(seconds=max(0, min(seconds, _LONGEST_LIFETIME)))


def place(platform: str, column: str) -> str:
    """Where a sealed value stands, which is part of its seal."""
    return f"platform_connection/{platform}/{column}"
