"""The OpenAPI document, and the icon."""

from dataclasses import dataclass

from tradewind.web.endpoint import Routes
from tradewind.web.pages import ICON, ICON_PATH
from tradewind.web.response import JSON, Response

routes = Routes("", tag="Reference", hidden=True)

_DAY = (b"cache-control", b"max-age=86400")


@dataclass(frozen=True, slots=True)
class Reference:
    """The OpenAPI document as the bytes that are served."""

    document: bytes


@routes.get("/openapi.json")
async def openapi_document(reference: Reference) -> Response:
    """The OpenAPI 3.1 document."""
    return Response(reference.document, content_type=JSON)


@routes.get(ICON_PATH, media_type="image/svg+xml")
async def icon() -> Response:
    """A sail in the wind."""
    return Response(ICON, headers=[_DAY], content_type=b"image/svg+xml")
