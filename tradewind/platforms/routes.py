"""The API of marketplaces: the list, and for operators their credentials."""

from msgspec import structs

from tradewind.audit.model import Actor
from tradewind.auth.model import Operator
from tradewind.platforms import connect as connecting
from tradewind.platforms.connect import Credentials, PlatformUrlMissing
from tradewind.platforms.errors import (
    PlatformAuthExpired,
    PlatformBusy,
    PlatformFailed,
    PlatformNotConfigured,
    UnsupportedPlatform,
)
from tradewind.platforms.registry import Platforms
from tradewind.platforms.wire import ConnectionOut, CredentialsIn, PlatformOut
from tradewind.storage.pool import Database
from tradewind.web.caller import Caller
from tradewind.web.endpoint import Routes
from tradewind.web.paging import Page
from tradewind.web.scopes import FULL_ACCESS, Scope
from tradewind.web.urls import PublicUrl

routes = Routes("/v1/platforms", tag="Marketplaces")
admin = Routes("/v1/admin/platforms", tag="Marketplaces (operators)")


@routes.get(scope=Scope.READ)
async def list_platforms(caller: Caller, platforms: Platforms) -> Page[PlatformOut]:
    """List the marketplaces, their capabilities, and whether each is connected here."""
    return Page(
        items=[PlatformOut.of(listing) for listing in await platforms.listed()],
        has_more=False,
        next_cursor=None,
    )


@admin.get("/{platform}", scope=FULL_ACCESS, errors=(UnsupportedPlatform, PlatformNotConfigured))
async def get_platform_connection(
    platform: str, caller: Operator, platforms: Platforms, public_url: PublicUrl
) -> ConnectionOut:
    """Our connection to a marketplace. Secrets and tokens are never shown."""
    name = platforms.named(platform)
    connection = await platforms.connections.find(name)
    if connection is None:
        raise PlatformNotConfigured(name)
    by = Actor.of(caller)
    url = await connecting.authorize_url(platforms, by, name, connection, public_url.text)
    return ConnectionOut.of(name, connection, url)


@admin.post(
    "/{platform}",
    scope=FULL_ACCESS,
    errors=(
        UnsupportedPlatform,
        PlatformUrlMissing,
        PlatformFailed,
        PlatformBusy,
        PlatformAuthExpired,
    ),
)
async def connect_platform(
    platform: str,
    caller: Operator,
    body: CredentialsIn,
    db: Database,
    platforms: Platforms,
    public_url: PublicUrl,
) -> ConnectionOut:
    """Set a marketplace's application, and authorise it by a code or by tokens.

    Fields that are left out keep their value. Secrets are encrypted at rest and never shown.
    """
    credentials = Credentials(**structs.asdict(body))
    name = platforms.named(platform)
    by = Actor.of(caller)
    connection = await connecting.connect(db, platforms, by, name, credentials, public_url.text)
    url = await connecting.authorize_url(platforms, by, name, connection, public_url.text)
    return ConnectionOut.of(name, connection, url)


@admin.delete(
    "/{platform}",
    scope=FULL_ACCESS,
    status=204,
    errors=(UnsupportedPlatform, PlatformNotConfigured),
)
async def disconnect_platform(
    platform: str, caller: Operator, db: Database, platforms: Platforms
) -> None:
    """Delete a marketplace's credentials."""
    await connecting.disconnect(db, platforms, Actor.of(caller), platform)
