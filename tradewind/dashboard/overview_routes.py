"""The overview: what is going on, at a glance."""

from tradewind.dashboard.render import Renderer
from tradewind.web.answer import Answer
from tradewind.web.caller import Caller
from tradewind.web.endpoint import Routes
from tradewind.web.request import Request

routes = Routes("", tag="Dashboard", hidden=True, pages=True)


@routes.get("/", media_type="text/html")
async def overview(request: Request, caller: Caller, renderer: Renderer) -> Answer:
    """The page that one begins with."""
    return renderer.page("overview.html", request, caller)
