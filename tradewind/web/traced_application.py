"""The ASGI application with a span for every request; used only where tracing is on."""

from typing import Any

from starlette.datastructures import Headers
from starlette.types import Receive, Scope, Send

from tradewind.observability import tracing
from tradewind.web.application import Application
from tradewind.web.request import Request

_SPAN = "tradewind.span"
_SERVER_ERROR = 500


class TracedApplication(Application):
    """Names each span by its route. Paths and queries are left out: they hold ids of customers."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await super().__call__(scope, receive, send)
            return
        with tracing.request_span(Headers(scope=scope)) as span:
            scope[_SPAN] = span
            await super().__call__(scope, receive, send)

    def _report(
        self,
        request: Request,
        route: Any,
        status: int,
        took: float,
        size: int,
        line: dict[str, object],
    ) -> None:
        span = request.scope[_SPAN]
        name = route.name if route else "none"
        span.update_name(name)
        span.set_attributes(
            {
                "http.request.method": request.method,
                "http.route": name.rpartition(" ")[2],
                "http.response.status_code": status,
                "tradewind.request": request.id,
            }
        )
        if status >= _SERVER_ERROR:
            span.set_attribute("error.type", str(line.get("error_code", status)))
        super()._report(request, route, status, took, size, line)
