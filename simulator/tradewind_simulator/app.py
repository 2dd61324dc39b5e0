"""The ASGI application: routes requests to the dialects, the pages and the control API."""

import asyncio
import contextlib
import os
import time
from collections.abc import Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import msgspec
import structlog

from tradewind_simulator import (
    apps,
    control,
    oauth,
    pages,
    parent_death,
    perform,
    responses,
    sender,
)
from tradewind_simulator.alibaba import errors as alibaba_errors
from tradewind_simulator.alibaba import gateway as alibaba
from tradewind_simulator.alibaba import oauth as alibaba_oauth
from tradewind_simulator.calls import Call, DialectFormat, GatewayError, Operation
from tradewind_simulator.model import App
from tradewind_simulator.responses import Response
from tradewind_simulator.sandbox import Options, Sandbox
from tradewind_simulator.taobao import errors as taobao_errors
from tradewind_simulator.taobao import gateway as taobao
from tradewind_simulator.taobao import oauth as taobao_oauth

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Asgi = Callable[[Scope, Receive, Send], Awaitable[None]]

PREFIX = "TRADEWIND_SANDBOX_"
_MOST_BYTES = 6_000_000  # a picture of 3 MiB in base64, and some of it escaped
_TICK_SECONDS = 0.2
_PROMISED = b"1000000"  # bytes of a response that never comes

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


class Request(msgspec.Struct):
    """A request, read whole."""

    method: str
    path: str
    query: str
    headers: dict[str, str]
    body: bytes

    @property
    def base(self) -> str:
        return f"http://{self.headers.get('host', 'localhost')}"

    def params(self) -> dict[str, str]:
        """Return the query and the form together; a JSON object counts as a form."""
        params = dict(parse_qsl(self.query, keep_blank_values=True))
        if self.headers.get("content-type", "").startswith("application/json"):
            return params | _flat(self.body)
        form = parse_qsl(self.body.decode("utf-8", "replace"), keep_blank_values=True)
        return params | dict(form)


def _flat(body: bytes) -> dict[str, str]:
    try:
        values = msgspec.json.decode(body or b"{}", type=dict[str, Any])
    except msgspec.MsgspecError:
        return {}
    return {
        name: value if isinstance(value, str) else msgspec.json.encode(value).decode()
        for name, value in values.items()
    }


def options() -> Options:
    """Read the options from the variables TRADEWIND_SANDBOX_*."""
    read = os.environ.get
    state = read(PREFIX + "STATE", "")
    return Options(
        apps=apps.read(read(PREFIX + "APPS", "")),
        seed=int(read(PREFIX + "SEED", "1688")),
        speed=float(read(PREFIX + "SPEED", "1")),
        products=int(read(PREFIX + "PRODUCTS", "3000")),
        pay_seconds=int(read(PREFIX + "PAY_TIMEOUT", "43200")),
        state=Path(state) if state else None,
        notify_url=read(PREFIX + "NOTIFY_URL", ""),
    )


def create(chosen: Options | None = None) -> Asgi:
    """Create the application; granian calls this without arguments."""
    if chosen is None:
        parent_death.exit_with_parent()
    sandbox = Sandbox(chosen or options())
    tasks: list[asyncio.Task[None]] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _lifespan(sandbox, tasks, receive, send)
        elif scope["type"] == "http":
            await _serve(sandbox, scope, receive, send)

    return app


async def _lifespan(
    sandbox: Sandbox, tasks: list[asyncio.Task[None]], receive: Receive, send: Send
) -> None:
    while True:
        message = await receive()
        if message["type"] == "lifespan.startup":
            tasks.append(asyncio.create_task(_tick(sandbox)))
            tasks.append(asyncio.create_task(sender.run(sandbox.notices)))
            await send({"type": "lifespan.startup.complete"})
        else:
            for task in tasks:
                task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.gather(*tasks)
            sandbox.close()
            await send({"type": "lifespan.shutdown.complete"})
            return


async def _tick(sandbox: Sandbox) -> None:
    """Take the steps that are due, also while nobody calls."""
    while True:
        sandbox.settle()
        await asyncio.sleep(_TICK_SECONDS)


async def _serve(sandbox: Sandbox, scope: Scope, receive: Receive, send: Send) -> None:
    request = await _read(scope, receive)
    if request is None:
        await _answer(responses.json({"error": "The request is too large."}, 413), receive, send)
        return
    try:
        response = await _route(sandbox, request)
    except Exception:
        log.exception("sandbox.failed", method=request.method, path=request.path)
        response = responses.json({"error": "The sandbox itself failed; its log says why."}, 500)
    await _answer(response, receive, send)


async def _read(scope: Scope, receive: Receive) -> Request | None:
    body = b""
    while True:
        message = await receive()
        body += message.get("body", b"")
        if len(body) > _MOST_BYTES:
            return None
        if not message.get("more_body", False):
            break
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
    query = scope.get("query_string", b"").decode("latin-1")
    return Request(scope["method"], scope["path"], query, headers, body)


async def _route(sandbox: Sandbox, request: Request) -> Response:
    for prefix, serve in _PREFIXES.items():
        if request.path.startswith(prefix):
            return await serve(sandbox, request)
    if request.path == "/order/cashier.htm" and request.method == "POST":
        return pages.pay(sandbox, request.query)
    is_read = request.method in ("GET", "HEAD")
    page = pages.show(sandbox, request.path, request.query) if is_read else None
    return page or responses.json({"error": f"Nothing at {request.path}."}, 404)


async def _health(_: Sandbox, __: Request) -> Response:
    return responses.json({"status": "ok"})


async def _control(sandbox: Sandbox, request: Request) -> Response:
    if not _same_origin(request):
        return responses.json({"error": "Other sites may not use the control API."}, 403)
    words = request.path.removeprefix("/_control/")
    query = dict(parse_qsl(request.query))
    return control.handle(sandbox, request.method, words, query, request.body)


async def _authorize(sandbox: Sandbox, request: Request) -> Response:
    return oauth.authorize(sandbox, request.params())


async def _alibaba_token(sandbox: Sandbox, request: Request) -> Response:
    return alibaba_oauth.token(sandbox, request.path.rpartition("/")[2], request.params())


async def _taobao_token(sandbox: Sandbox, request: Request) -> Response:
    return taobao_oauth.token(sandbox, request.path.removeprefix("/rest"), request.params())


def _same_origin(request: Request) -> bool:
    """Whether the request may control us: a page of another site may not."""
    origin = request.headers.get("origin")
    return origin is None or urlsplit(origin).netloc == request.headers.get("host")


async def _alibaba(sandbox: Sandbox, request: Request) -> Response:
    params = request.params()
    path = request.path.removeprefix("/openapi/")
    try:
        app, operation = alibaba.find(sandbox.world, path, params)
        call = _call(sandbox, app, params, request, alibaba_errors.missing)
        _pace(sandbox, call, alibaba_errors.TOO_MANY)
        alibaba.admit(call, operation)
    except GatewayError as error:
        return _gateway_error(sandbox, alibaba.FORMAT, error)
    return await _perform(sandbox, alibaba.FORMAT, operation, call)


async def _taobao(sandbox: Sandbox, request: Request) -> Response:
    params = request.params()
    path = request.path.removeprefix("/rest")
    try:
        app, operation = taobao.find(sandbox.world, path, params, time.time())
        call = _call(sandbox, app, params, request, taobao_errors.missing)
        _pace(sandbox, call, taobao_errors.TOO_MANY)
        taobao.admit(call, operation)
    except GatewayError as error:
        return _gateway_error(sandbox, taobao.FORMAT, error)
    return await _perform(sandbox, taobao.FORMAT, operation, call)


def _pace(sandbox: Sandbox, call: Call, too_many: tuple[str, str]) -> None:
    if not sandbox.limits.allow(call.app.name, call.real):
        raise GatewayError(*too_many)


def _call(
    sandbox: Sandbox,
    app: App,
    params: dict[str, str],
    request: Request,
    missing: Callable[[str], GatewayError],
) -> Call:
    return Call(
        world=sandbox.world,
        tokens=sandbox.tokens,
        notices=sandbox.notices,
        app=app,
        params=params,
        base=request.base,
        missing=missing,
        real=time.time(),
    )


def _gateway_error(
    sandbox: Sandbox, dialect_format: DialectFormat, error: GatewayError
) -> Response:
    sandbox.world.counters[f"rejected.{error.code}"] += 1
    return dialect_format.error(error.code, error.message, 0)


async def _perform(
    sandbox: Sandbox, dialect_format: DialectFormat, operation: Operation, call: Call
) -> Response:
    """Perform the call in a task of its own, which continues if the client disconnects."""
    return await asyncio.shield(
        asyncio.ensure_future(perform.perform(sandbox, dialect_format, operation, call))
    )


async def _answer(response: Response, receive: Receive, send: Send) -> None:
    if response.silence is not None:
        await _be_silent(response.silence, receive, send)
        return
    headers = [
        (b"content-type", response.content_type),
        (b"content-length", str(len(response.body)).encode()),
        *response.headers,
    ]
    await send({"type": "http.response.start", "status": response.status, "headers": headers})
    await send({"type": "http.response.body", "body": response.body})


async def _be_silent(seconds: float, receive: Receive, send: Send) -> None:
    """Say nothing until time is up or the client leaves; then cut the connection.

    It is cut by promising more than comes: whoever still waits sees an answer break off.
    """
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while (await receive())["type"] != "http.disconnect":
                pass
    start = [(b"content-type", b"application/json"), (b"content-length", _PROMISED)]
    with contextlib.suppress(Exception):
        await send({"type": "http.response.start", "status": 200, "headers": start})
        await send({"type": "http.response.body", "body": b"", "more_body": True})


_PREFIXES: dict[str, Callable[[Sandbox, Request], Awaitable[Response]]] = {
    "/openapi/param2/": _alibaba,
    "/openapi/http/1/system.oauth2/getToken/": _alibaba_token,
    "/rest/auth/token/": _taobao_token,
    "/rest/": _taobao,
    "/_control/": _control,
    "/oauth/authorize": _authorize,
    "/healthz": _health,
}
