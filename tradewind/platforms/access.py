"""Credentials at a marketplace: an application, and its OAuth tokens."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar

from tradewind.platforms.failures import TokenRejected

T = TypeVar("T")

_UNKNOWN_LIFETIME = 10 * 3600


@dataclass(frozen=True, slots=True)
class PlatformAccess:
    """An application at a marketplace, and the token with which it acts for our buyer."""

    app_key: str
    app_secret: str = field(repr=False)
    access_token: str = field(repr=False)


# Returns a valid token. Called with the token that the marketplace just rejected, it refreshes the
# token first, unless another process has done so meanwhile.
GetAccess = Callable[[str | None], Awaitable[PlatformAccess]]


async def with_access(get_access: GetAccess, send: Callable[[PlatformAccess], Awaitable[T]]) -> T:
    """Send a call with a valid token, and once more with a fresh one if the token is rejected.

    A marketplace rejects a token before it calls the operation, so even a call that is not safe
    may be sent again.
    """
    access = await get_access(None)
    try:
        return await send(access)
    except TokenRejected:
        return await send(await get_access(access.access_token))


@dataclass(frozen=True, slots=True)
class OAuthTokens:
    """The tokens that a marketplace issues for a code or a refresh token; lifetimes in seconds."""

    access_token: str = field(repr=False)
    expires_in: int
    refresh_token: str = field(repr=False)
    refresh_expires_in: int | None
    owner: str | None


@dataclass(frozen=True, slots=True)
class AppCredentials:
    """An application and, optionally, its first tokens."""

    app_key: str
    app_secret: str = field(repr=False)
    access_token: str | None = field(default=None, repr=False)
    refresh_token: str | None = field(default=None, repr=False)


def demo_credentials(platform: str, app_key: str) -> AppCredentials:
    """Return the simulator's credentials for a marketplace. They are public: nothing is real."""
    secrets = (f"{platform}-demo-{name}" for name in ("secret", "access-token", "refresh-token"))
    return AppCredentials(app_key, *secrets)


def tokens_of_unknown_lifetime(access_token: str | None, refresh_token: str | None) -> OAuthTokens:
    """Return tokens that were typed in: nobody knows when they expire.

    They are refreshed when the marketplace rejects them. A refresh token alone counts as an access
    token that has just expired, and is used first.
    """
    return OAuthTokens(
        access_token=access_token or "-",
        expires_in=_UNKNOWN_LIFETIME if access_token else 0,
        refresh_token=refresh_token or "",
        refresh_expires_in=None,
        owner=None,
    )
