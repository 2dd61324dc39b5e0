"""The API reference: the OpenAPI document, a page that shows it offline, and the icon."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from tradewind.web.endpoint import Routes
from tradewind.web.pages import ICON, ICON_LINK, ICON_PATH
from tradewind.web.problems import RouteNotFound
from tradewind.web.response import HTML, JSON, Response

routes = Routes("", tag="Reference", hidden=True)

_CSP = (
    b"default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; "
    b"img-src 'self' data:; font-src 'self' data:; frame-ancestors 'none'; base-uri 'none'"
)
_PAGE = f"""<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>API reference · Tradewind</title>{ICON_LINK}
<link rel="stylesheet" href="/docs/swagger-ui.css"></head>
<body><div id="reference"></div>
<script src="/docs/swagger-ui-bundle.js"></script><script src="/docs/start.js"></script>
<noscript>The reference as JSON: <a href="/openapi.json">/openapi.json</a></noscript></body></html>
""".encode()
# An API key that somebody enters is kept only while the page is open. Earlier versions kept it in
# the browser's local storage, so a copy may still be there.
_START = b"""localStorage.removeItem("authorized");
SwaggerUIBundle({
  url: "/openapi.json", dom_id: "#reference", deepLinking: true, docExpansion: "list",
  defaultModelsExpandDepth: -1, persistAuthorization: false, validatorUrl: null,
});
"""
_FROM_WHEEL: Mapping[str, bytes] = {
    "swagger-ui.css": b"text/css",
    "swagger-ui-bundle.js": b"text/javascript",
}
_DAY = (b"cache-control", b"max-age=86400")


@dataclass(frozen=True, slots=True)
class Reference:
    """The OpenAPI document as the bytes that are served."""

    document: bytes


@routes.get("/openapi.json")
async def openapi_document(reference: Reference) -> Response:
    """The OpenAPI 3.1 document."""
    return Response(reference.document, content_type=JSON)


@routes.get("/docs", media_type="text/html")
async def docs_page() -> Response:
    """The reference as a page."""
    return Response(_PAGE, headers=[(b"content-security-policy", _CSP)], content_type=HTML)


@routes.get("/docs/{file}")
async def docs_file(file: str) -> Response:
    """The files of that page."""
    if file == "start.js":
        return Response(_START, headers=[_DAY], content_type=b"text/javascript")
    content_type = _FROM_WHEEL.get(file)
    if content_type is None:
        raise RouteNotFound
    return Response(_read(file), headers=[_DAY], content_type=content_type)


@routes.get(ICON_PATH, media_type="image/svg+xml")
async def icon() -> Response:
    """A sail in the wind."""
    return Response(ICON, headers=[_DAY], content_type=b"image/svg+xml")


@cache
def _read(file: str) -> bytes:
    spec = find_spec("swagger_ui")
    if spec is None or spec.origin is None:
        raise RouteNotFound
    return (Path(spec.origin).parent / "static" / file).read_bytes()
