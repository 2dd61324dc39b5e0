"""Stores the credentials that the settings configure, unless an operator has set others."""

import hashlib
from collections.abc import Mapping
from dataclasses import astuple

from tradewind.platforms import sql
from tradewind.platforms.access import AppCredentials, tokens_of_unknown_lifetime
from tradewind.platforms.registry import Platforms
from tradewind.storage.pool import Database
from tradewind.storage.transaction import transaction


async def store_configured_credentials(
    db: Database, platforms: Platforms, configured: Mapping[str, AppCredentials]
) -> None:
    """Store configured credentials that are new or have changed since they were stored.

    An operator's connection or disconnection takes precedence. Repeating this changes nothing: a
    refresh token from the settings is used once, and its successors are in the database.
    """
    for platform, credentials in configured.items():
        settings_hash = hashlib.sha256(repr(astuple(credentials)).encode()).digest()
        async with transaction(db) as tx:
            origin = await sql.lock_credentials_origin(tx, platform)
            if origin is not None and (
                origin.source == "operator" or origin.settings_hash == settings_hash
            ):
                continue
            await platforms.connections.store_app(
                tx,
                platform,
                credentials.app_key,
                credentials.app_secret,
                settings_hash=settings_hash,
            )
            if credentials.refresh_token:
                tokens = tokens_of_unknown_lifetime(
                    credentials.access_token, credentials.refresh_token
                )
                await platforms.connections.store_tokens(tx, platform, tokens)
        platforms.connections.forget(platform)
