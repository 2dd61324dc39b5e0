"""The HTTP layer alone, with one public endpoint."""

import os

from tradewind.observability import logs
from tradewind.web.application import Application
from tradewind.web.caller import Caller
from tradewind.web.endpoint import Routes
from tradewind.web.inputs import Output
from tradewind.web.request import Request

routes = Routes("/hello", tag="Bench")


class Hello(Output):
    """A greeting."""

    text: str


@routes.get()
async def hello() -> Hello:
    return Hello(text="hello")


class _Closed:
    """A gate that is never called."""

    async def admit(self, request: Request, *, urgent: bool) -> Caller:
        raise NotImplementedError(request.path, urgent)

    async def recheck(self, request: Request) -> Caller:
        raise NotImplementedError(request.path)


def create() -> Application:
    logs.configure("json", os.environ["BENCH_LOG_LEVEL"])
    return Application(routes.endpoints, {}, _Closed(), public_url="http://127.0.0.1")
