"""What a connector signs its requests with; tokens are kept fresh behind it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class PlatformAccess:
    """An application at a marketplace, and the token that lets it act for our buyer there."""

    app_key: str
    app_secret: str = field(repr=False)
    access_token: str = field(repr=False)


# Hands out a token that is valid now. With the token that was just refused as an argument, it
# refreshes first, unless another process has done so meanwhile.
GetAccess = Callable[[str | None], Awaitable[PlatformAccess]]


@dataclass(frozen=True, slots=True)
class OAuthTokens:
    """What a marketplace hands out for a code or a refresh token; lifetimes in seconds."""

    access_token: str = field(repr=False)
    expires_in: int
    refresh_token: str = field(repr=False)
    refresh_expires_in: int | None
    owner: str | None


@dataclass(frozen=True, slots=True)
class AppCredentials:
    """An application and, perhaps, tokens to begin with, as settings give them."""

    app_key: str
    app_secret: str = field(repr=False)
    access_token: str | None = field(default=None, repr=False)
    refresh_token: str | None = field(default=None, repr=False)
