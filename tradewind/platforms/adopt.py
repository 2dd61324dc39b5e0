"""Adopts the credentials that settings give, where no operator has set others."""

from collections.abc import Mapping

from tradewind.platforms.access import Given, Tokens
from tradewind.platforms.registry import Platforms
from tradewind.storage.pool import Database
from tradewind.storage.transaction import transaction


async def adopt(db: Database, platforms: Platforms, given: Mapping[str, Given]) -> None:
    """Store what is given for each platform that has nothing yet; doing it again changes nothing.

    A refresh token without an access token counts as one that has just ended: the first call
    renews it.
    """
    for platform, credentials in given.items():
        known = await platforms.connections.find(platform)
        if known is not None and known.app_key == credentials.app_key and known.access is not None:
            continue
        async with transaction(db) as tx:
            await platforms.connections.keep_app(
                tx, platform, credentials.app_key, credentials.app_secret
            )
            if credentials.refresh_token:
                await platforms.connections.keep(
                    tx,
                    platform,
                    Tokens(
                        access_token=credentials.access_token or "-",
                        expires_in=10 * 3600 if credentials.access_token else 0,
                        refresh_token=credentials.refresh_token,
                        refresh_expires_in=None,
                        owner=None,
                    ),
                )
        platforms.connections.forget(platform)
