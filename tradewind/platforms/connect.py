"""Connects a marketplace: an operator sets the application, authorises it, or disconnects it."""

from dataclasses import dataclass, field, replace
from urllib.parse import parse_qsl, urlsplit

from tradewind.audit.model import Actor
from tradewind.audit.record import record
from tradewind.errors import Conflict, FieldError, ValidationFailed
from tradewind.platforms import sql
from tradewind.platforms.access import OAuthTokens
from tradewind.platforms.connection import Connection
from tradewind.platforms.errors import PlatformNotConfigured, api_error
from tradewind.platforms.failures import NotAuthorised, PlatformFailure, Rejected
from tradewind.platforms.registry import Platforms
from tradewind.storage.pool import Database
from tradewind.storage.transaction import transaction

# A token that somebody typed in says nothing of its end: it is refreshed when it is refused.
_UNKNOWN_LIFETIME = 10 * 3600


@dataclass(frozen=True, slots=True)
class Credentials:
    """What an operator may set; None leaves it as it is."""

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
    db: Database, platforms: Platforms, by: Actor, name: str, given: Credentials, public_url: str
) -> Connection:
    """Set the application, and authorise it by a code or by tokens; what is given counts.

    A code needs the `state` that came back with it, and that the same credential began (see
    `oauth_state`). It is exchanged before anything is stored: a wrong one changes nothing.
    """
    platform = platforms.named(name)
    if platform not in platforms.clients:
        raise PlatformUrlMissing(platform, platforms.marketplace(platform).url_setting)
    known = await platforms.connections.find(platform)
    app_key = given.app_key or (known.app_key if known else None)
    app_secret = given.app_secret or (known.app_secret if known else None)
    if app_key is None or app_secret is None:
        needed = {"/app_key": app_key, "/app_secret": app_secret}
        message = "Is required: set the application's key and secret first."
        missing = [name for name, value in needed.items() if value is None]
        raise ValidationFailed.several([FieldError(name, message, "missing") for name in missing])
    given = replace(given, redirect_uri=given.redirect_uri or _redirect_uri(public_url))
    if given.code is not None:
        await platforms.oauth_states.redeem(by, platform, given.state)
    tokens = await _tokens(platforms, platform, app_key, app_secret, given)
    async with transaction(db) as tx:
        await platforms.connections.keep_app(tx, platform, app_key, app_secret)
        if tokens is not None:
            await platforms.connections.keep(tx, platform, tokens)
        await record(
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
    """Forget the credentials; orders that are under way there are no longer followed."""
    platform = platforms.named(name)
    async with transaction(db) as tx:
        if not await sql.disconnect(tx, platform):
            raise PlatformNotConfigured(platform)
        await record(tx, by, "platform.disconnected", account_id=None, subject=platform)
    platforms.connections.forget(platform)


async def _tokens(
    platforms: Platforms, platform: str, app_key: str, app_secret: str, given: Credentials
) -> OAuthTokens | None:
    if given.access_token is not None or given.refresh_token is not None:
        # A refresh token alone counts as an access token that just ended: it is renewed first.
        return OAuthTokens(
            access_token=given.access_token or "-",
            expires_in=_UNKNOWN_LIFETIME if given.access_token else 0,
            refresh_token=given.refresh_token or "",
            refresh_expires_in=None,
            owner=None,
        )
    if given.code is None:
        return None
    try:
        return await platforms.marketplace(platform).oauth.exchange(
            platforms.clients[platform], app_key, app_secret, given.code, given.redirect_uri or ""
        )
    except (Rejected, NotAuthorised) as failure:
        raise ValidationFailed(
            "/code", f"{platform} does not take this code: {failure.message}", "refused"
        ) from None
    except PlatformFailure as failure:
        raise api_error(failure) from None


async def authorize_url(
    platforms: Platforms, by: Actor, platform: str, connection: Connection, public_url: str
) -> str:
    """The page where an operator agrees; it leads back to us with a code and this state."""
    oauth = platforms.marketplace(platform).oauth
    state = await platforms.oauth_states.issue(by, platform)
    url = oauth.authorize_url(connection.app_key, _redirect_uri(public_url), state)
    simulated = platforms.simulated_origin(platform)
    if simulated is None:
        return url
    return f"{simulated}/oauth/authorize?{urlsplit(url).query}"


def read_return_address(address: str) -> tuple[str, str]:
    """The code and the state in the address that a marketplace led back to; empty if missing."""
    values = dict(parse_qsl(urlsplit(address.strip()).query))
    return values.get("code", ""), values.get("state", "")


def _redirect_uri(public_url: str) -> str:
    """Where the account holder comes back to; the exchange must name the same."""
    return f"{public_url}/"
