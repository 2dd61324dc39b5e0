"""The headers of every response: hardening, caching, Vary, HSTS and CORS."""

from tradewind.web.cors import Cors
from tradewind.web.request import Request
from tradewind.web.response import NO_STORE, Headers

_HARDENING = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
]
_HSTS = (b"strict-transport-security", b"max-age=31536000")
# A private cache may store a response with an ETag, and revalidates it before each use. With
# `no-store` there would be nothing to revalidate (RFC 9111, section 5.2.2).
_REVALIDATE = (b"cache-control", b"private, no-cache")


class ResponseHeaders:
    """Adds the common headers to a response; headers that the response sets itself win."""

    def __init__(self, cors: Cors, *, public_url: str) -> None:
        self._cors = cors
        self._fixed = [*_HARDENING, *([_HSTS] if public_url.startswith("https:") else [])]

    def add_to(self, headers: Headers, request: Request, *, page: bool, routed: bool) -> Headers:
        """The response's `headers` and the common ones.

        `page` is whether it is a page of the dashboard, `routed` whether the path has an endpoint.
        """
        names = {name for name, _ in headers}
        common = list(self._fixed)
        if request.is_api:
            common.append(_REVALIDATE if b"etag" in names else NO_STORE)
        cross_origin = self._cors.headers(request)
        vary = _vary(request, page=page, routed=routed)
        if self._cors.enabled:
            vary.append(b"Origin")
        if vary:
            common.append((b"vary", b", ".join(vary)))
        return [*(header for header in common if header[0] not in names), *cross_origin, *headers]


def _vary(request: Request, *, page: bool, routed: bool) -> list[bytes]:
    """The request headers on which the response at a URL depends."""
    if request.is_api:
        return [b"Authorization", b"X-Api-Key"]
    if not routed:  # a page or a problem document, as the client accepts
        return [b"Accept", b"Cookie"]
    return [b"Cookie"] if page else []
