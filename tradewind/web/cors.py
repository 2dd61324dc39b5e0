"""CORS: lets only pages of the configured origins call the API from a browser."""

from collections.abc import Sequence

from tradewind.web.request import Request
from tradewind.web.response import Headers

_EXPOSED = (
    b"X-Request-Id, RateLimit, RateLimit-Policy, Retry-After, ETag, Location, Idempotent-Replayed"
)
_ACCEPTED = (
    b"Authorization, X-Api-Key, Content-Type, Idempotency-Key, If-None-Match, X-Request-Id, "
    b"Last-Event-ID"
)


class Cors:
    """The allowed origins. Cookies are never allowed: the API does not use them."""

    def __init__(self, origins: Sequence[str]) -> None:
        self._origins = frozenset(origins)

    @property
    def enabled(self) -> bool:
        """Whether responses depend on the request's Origin."""
        return bool(self._origins)

    def headers(self, request: Request) -> Headers:
        """The headers for a response to `request`."""
        origin = request.headers.get("origin") if self._origins else None
        if origin is None or origin not in self._origins:
            return []
        return [
            (b"access-control-allow-origin", origin.encode()),
            (b"access-control-expose-headers", _EXPOSED),
        ]

    def preflight(self, request: Request, allow: bytes) -> Headers:
        """The headers that a response to a preflight request has on top; none for any other."""
        is_preflight = "access-control-request-method" in request.headers
        if not is_preflight or request.headers.get("origin") not in self._origins:
            return []
        return [
            (b"access-control-allow-methods", allow),
            (b"access-control-allow-headers", _ACCEPTED),
            (b"access-control-max-age", b"600"),
        ]
