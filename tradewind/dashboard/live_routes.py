"""The stream that open pages listen to."""

from tradewind.dashboard.live import Live
from tradewind.web.answer import NO_STORE, Answer
from tradewind.web.caller import Caller
from tradewind.web.endpoint import Routes

routes = Routes("/live", tag="Dashboard", hidden=True, quiet=True, pages=True)


@routes.get()
async def live(caller: Caller, live: Live) -> Answer:
    """Server-sent events: `change`, with the topics that did."""
    headers = [NO_STORE, (b"x-accel-buffering", b"no")]
    return Answer(headers=headers, content_type=b"text/event-stream", stream=live.events(caller))
