"""The headers of every response: hardening, caching, Vary, HSTS and CORS."""

from collections.abc import Mapping
from functools import cache

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
        self._common = cache(self._make_common)

    def add_to(self, headers: Headers, request: Request, *, page: bool, routed: bool) -> Headers:
        """The response's `headers` and the common ones.

        `page` is whether it is a page of the dashboard, `routed` whether the path has an endpoint.
        """
        names = {name for name, _ in headers}
        common = self._common(request.is_api, page, routed, b"etag" in names)
        if not names.isdisjoint(common):
            common = {name: header for name, header in common.items() if name not in names}
        return [*common.values(), *self._cors.headers(request), *headers]

    def _make_common(
        self, is_api: bool, page: bool, routed: bool, revalidate: bool
    ) -> Mapping[bytes, tuple[bytes, bytes]]:
        """The common headers by name; there are only a few sets of them."""
        common = list(self._fixed)
        if is_api:
            common.append(_REVALIDATE if revalidate else NO_STORE)
        vary = _vary(is_api=is_api, page=page, routed=routed)
        if self._cors.enabled:
            vary.append(b"Origin")
        if vary:
            common.append((b"vary", b", ".join(vary)))
        return {header[0]: header for header in common}


def _vary(*, is_api: bool, page: bool, routed: bool) -> list[bytes]:
    """The request headers on which the response at a URL depends."""
    if is_api:
        return [b"Authorization", b"X-Api-Key"]
    if not routed:  # a page or a problem document, as the client accepts
        return [b"Accept", b"Cookie"]
    return [b"Cookie"] if page else []
