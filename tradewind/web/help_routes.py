"""The mark of this service, for the tabs of browsers."""

from tradewind.web import pages
from tradewind.web.endpoint import Routes
from tradewind.web.response import Answer

routes = Routes("", tag="Help", hidden=True)


@routes.get(pages.ICON_PATH, media_type="image/svg+xml")
async def icon() -> Answer:
    """A sail in the wind."""
    headers = [(b"cache-control", b"max-age=86400")]
    return Answer(pages.ICON, headers=headers, content_type=b"image/svg+xml")
