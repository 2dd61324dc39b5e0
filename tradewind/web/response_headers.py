"""The headers that every answer carries: hardening, caching, Vary, HSTS and CORS."""

from tradewind.web.cors import Cors
from tradewind.web.request import Request
from tradewind.web.response import NO_STORE, Headers

_HARDENING = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
]
_HSTS = (b"strict-transport-security", b"max-age=31536000")
# A cache may keep an answer that has an ETag for its own user, and asks whether it still holds
# before it uses it. `no-store` would leave nothing to ask about (RFC 9111, section 5.2.2).
_REVALIDATE = (b"cache-control", b"private, no-cache")


class ResponseHeaders:
    """Builds the common headers of an answer; a header that the answer sets itself wins."""

    def __init__(self, cors: Cors, *, public_url: str) -> None:
        self._cors = cors
        self._fixed = [*_HARDENING, *([_HSTS] if public_url.startswith("https:") else [])]

    def add_to(self, own: Headers, request: Request, *, page: bool, routed: bool) -> Headers:
        """The answer's `own` headers and the common ones.

        `page` is whether the dashboard answered, and `routed` whether the path has an endpoint.
        """
        names = {name for name, _ in own}
        common = list(self._fixed)
        if request.is_api:
            common.append(_REVALIDATE if b"etag" in names else NO_STORE)
        cross_origin = self._cors.headers(request)
        vary = _vary(request, page=page, routed=routed)
        if self._cors.enabled:
            vary.append(b"Origin")
        if vary:
            common.append((b"vary", b", ".join(vary)))
        return [*(header for header in common if header[0] not in names), *cross_origin, *own]


def _vary(request: Request, *, page: bool, routed: bool) -> list[bytes]:
    """The request headers that decide what is answered at a URL."""
    if request.is_api:
        return [b"Authorization", b"X-Api-Key"]
    if not routed:  # answered with a page or a problem document, as the client accepts
        return [b"Accept", b"Cookie"]
    return [b"Cookie"] if page else []
