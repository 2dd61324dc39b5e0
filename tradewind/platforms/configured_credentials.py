"""Adopts the credentials that settings give, as long as no operator has said otherwise."""

import hashlib
from collections.abc import Mapping
from dataclasses import astuple

from tradewind.platforms import sql
from tradewind.platforms.access import AppCredentials, OAuthTokens
from tradewind.platforms.registry import Platforms
from tradewind.storage.pool import Database
from tradewind.storage.transaction import transaction

_UNKNOWN_LIFETIME = 10 * 3600


async def store_configured_credentials(
    db: Database, platforms: Platforms, given: Mapping[str, AppCredentials]
) -> None:
    """Store what the settings give where nobody set anything, or where only they did and changed.

    What an operator connected or disconnected stands. Doing it again changes nothing: a refresh
    token in the settings is used once, and its successors live in the database.
    """
    for platform, credentials in given.items():
        said = hashlib.sha256(repr(astuple(credentials)).encode()).digest()
        async with transaction(db) as tx:
            known = await sql.lock_source(tx, platform)
            if known is not None and (
                known["source"] == "operator" or known["settings_hash"] == said
            ):
                continue
            await platforms.connections.keep_app(
                tx, platform, credentials.app_key, credentials.app_secret, settings_hash=said
            )
            if credentials.refresh_token:
                await platforms.connections.keep(tx, platform, _first(credentials))
        platforms.connections.forget(platform)


def _first(credentials: AppCredentials) -> OAuthTokens:
    """A refresh token alone counts as an access token that just ended: it is renewed first."""
    return OAuthTokens(
        access_token=credentials.access_token or "-",
        expires_in=_UNKNOWN_LIFETIME if credentials.access_token else 0,
        refresh_token=credentials.refresh_token or "",
        refresh_expires_in=None,
        owner=None,
    )
