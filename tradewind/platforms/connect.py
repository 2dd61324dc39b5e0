"""Connects a marketplace: an operator sets the application, authorises it, or disconnects it."""

from dataclasses import dataclass, field, replace
from urllib.parse import parse_qsl, urlsplit

from tradewind.audit.model import Actor
from tradewind.audit.record import record
from tradewind.errors import Conflict, FieldError, ValidationFailed
from tradewind.platforms import sql
from tradewind.platforms.access import OAuthTokens, tokens_of_unknown_lifetime
from tradewind.platforms.connection import Connection
from tradewind.platforms.errors import PlatformNotConfigured, api_error
from tradewind.platforms.failures import NotAuthorised, PlatformFailure, Rejected
from tradewind.platforms.registry import Platforms
from tradewind.storage.pool import Database
from tradewind.storage.transaction import transaction


@dataclass(frozen=True, slots=True)
class Credentials:
    """What an operator sets; None keeps the stored value."""

    app_key: str | None = None
    app_secret: str | None = field(default=None, repr=False)
    code: str | None = field(default=None, repr=False)
    state: str | None = None
    redirect_uri: str | None = None
    access_token: str | None = field(default=None, repr=False)
    refresh_token: str | None = field(default=None, repr=False)


class PlatformUrlMissing(Conflict):
    """The marketplace has no URL here: set it first, then connect the marketplace."""

    code = "platform_has_no_url"
    title = "The marketplace has no URL"

    def __init__(self, platform: str, url_setting: str) -> None:
        super().__init__(f"{platform} has no URL here; set {url_setting}.")


async def connect(
    db: Database,
    platforms: Platforms,
    by: Actor,
    name: str,
    credentials: Credentials,
    public_url: str,
) -> Connection:
    """Set the application, and authorise it by a code or by tokens.

    A code needs the `state` that was returned with it and that the same credential requested (see
    `oauth_state`). It is exchanged before anything is stored: a wrong code changes nothing.
    """
    platform = platforms.named(name)
    if platform not in platforms.clients:
        raise PlatformUrlMissing(platform, platforms.marketplace(platform).url_setting)
    stored = await platforms.connections.find(platform)
    app_key = credentials.app_key or (stored.app_key if stored else None)
    app_secret = credentials.app_secret or (stored.app_secret if stored else None)
    if app_key is None or app_secret is None:
        required = {"/app_key": app_key, "/app_secret": app_secret}
        message = "Is required: set the application's key and secret first."
        missing = [field for field, value in required.items() if value is None]
        raise ValidationFailed.several([FieldError(field, message, "missing") for field in missing])
    redirect_uri = credentials.redirect_uri or _redirect_uri(public_url)
    credentials = replace(credentials, redirect_uri=redirect_uri)
    if credentials.code is not None:
        await platforms.oauth_states.redeem(by, platform, credentials.state)
    tokens = await _tokens(platforms, platform, app_key, app_secret, credentials)
    async with transaction(db) as tx:
        await platforms.connections.store_app(tx, platform, app_key, app_secret)
        if tokens is not None:
            await platforms.connections.store_tokens(tx, platform, tokens)
        record(
            tx,
            by,
            "platform.connected",
            account_id=None,
            subject=platform,
            app_key=app_key,
            authorised=tokens is not None,
        )
    platforms.connections.forget(platform)
    connected = await platforms.connections.find(platform)
    if connected is None:
        raise PlatformNotConfigured(platform)
    return connected


async def disconnect(db: Database, platforms: Platforms, by: Actor, name: str) -> None:
    """Delete the credentials; open orders on this marketplace are no longer synced."""
    platform = platforms.named(name)
    async with transaction(db) as tx:
        if not await sql.disconnect(tx, platform):
            raise PlatformNotConfigured(platform)
        record(tx, by, "platform.disconnected", account_id=None, subject=platform)
    platforms.connections.forget(platform)


async def _tokens(
    platforms: Platforms, platform: str, app_key: str, app_secret: str, credentials: Credentials
) -> OAuthTokens | None:
    if credentials.access_token is not None or credentials.refresh_token is not None:
        return tokens_of_unknown_lifetime(credentials.access_token, credentials.refresh_token)
    if credentials.code is None:
        return None
    try:
        return await platforms.marketplace(platform).oauth.exchange(
            platforms.clients[platform],
            app_key,
            app_secret,
            credentials.code,
            credentials.redirect_uri or "",
        )
    except (Rejected, NotAuthorised) as failure:
        raise ValidationFailed(
            "/code", f"{platform} rejected this code: {failure.message}", "refused"
        ) from None
    except PlatformFailure as failure:
        raise api_error(failure) from None


async def authorize_url(
    platforms: Platforms, by: Actor, platform: str, connection: Connection, public_url: str
) -> str:
    """Return the URL where an operator authorises us; it redirects back with a code and state."""
    oauth = platforms.marketplace(platform).oauth
    state = await platforms.oauth_states.issue(by, platform)
    url = oauth.authorize_url(connection.app_key, _redirect_uri(public_url), state)
    simulated = platforms.simulated_origin(platform)
    if simulated is None:
        return url
    return f"{simulated}/oauth/authorize?{urlsplit(url).query}"


def read_return_address(address: str) -> tuple[str, str]:
    """Return the code and the state in the URL we were redirected to; empty if missing."""
    values = dict(parse_qsl(urlsplit(address.strip()).query))
    return values.get("code", ""), values.get("state", "")


def _redirect_uri(public_url: str) -> str:
    """Return the URL that the marketplace redirects to; the exchange must name the same."""
    return f"{public_url}/"
