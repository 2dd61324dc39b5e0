"""The stream that open pages listen to."""

from tradewind.dashboard.shell.live import Live
from tradewind.web.caller import Caller
from tradewind.web.endpoint import Routes
from tradewind.web.request import Request
from tradewind.web.response import NO_STORE, Response

routes = Routes("/live", tag="Dashboard", hidden=True, quiet=True, pages=True)


@routes.get()
async def live(request: Request, caller: Caller, live: Live) -> Response:
    """Server-sent events: `change`, with the topics that did."""
    events = live.events(caller, request.headers.get("last-event-id"))
    headers = [NO_STORE, (b"x-accel-buffering", b"no")]
    return Response(headers=headers, content_type=b"text/event-stream", stream=events)
