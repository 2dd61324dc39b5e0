"""The icon of this service, for browsers."""

from tradewind.web import pages
from tradewind.web.endpoint import Routes
from tradewind.web.response import Response

routes = Routes("", tag="Help", hidden=True)


@routes.get(pages.ICON_PATH, media_type="image/svg+xml")
async def icon() -> Response:
    """A sail in the wind."""
    headers = [(b"cache-control", b"max-age=86400")]
    return Response(pages.ICON, headers=headers, content_type=b"image/svg+xml")
