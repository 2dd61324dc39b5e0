"""The ASGI application: handles each request, logs one line for it and counts its metrics."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, aclosing, nullcontext
from functools import partial
from time import perf_counter
from typing import Any

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from tradewind.errors import (
    ApiError,
    FieldError,
    Forbidden,
    InsufficientPermissions,
    Unauthenticated,
    ValidationFailed,
)
from tradewind.observability import logs, metrics
from tradewind.observability.logs import log
from tradewind.web import idempotency, inputs, problems, validation
from tradewind.web.caller import Caller, Gate
from tradewind.web.concurrency import ConcurrencyLimit
from tradewind.web.cors import Cors
from tradewind.web.download import rechecked
from tradewind.web.endpoint import Endpoint, read_path
from tradewind.web.idempotency import IdempotencyKey, RepeatedRequest
from tradewind.web.limits import CarriesBudget
from tradewind.web.problems import BodyTooLarge, InternalError, MethodNotAllowed, RouteNotFound
from tradewind.web.request import Network, Request
from tradewind.web.response import Headers, Response
from tradewind.web.response_headers import ResponseHeaders
from tradewind.web.router import Router
from tradewind.web.scopes import ANY_SCOPE, FULL_ACCESS
from tradewind.web.site import Site

Lifespan = Callable[[], AbstractAsyncContextManager[None]]

_NO_BODY = frozenset({204, 304})


class _Route:
    """An endpoint made ready: its body's reader, its fixed arguments, its metrics by status."""

    __slots__ = ("endpoint", "fixed", "has_inputs", "name", "observers", "read_body", "takes_none")

    def __init__(self, endpoint: Endpoint, parts: Mapping[type, object]) -> None:
        self.endpoint = endpoint
        self.name = f"{endpoint.method} {endpoint.path}"
        self.fixed = {name: parts[kind] for name, kind in endpoint.parts.items()}
        self.read_body = inputs.body_reader(
            endpoint.body,
            form=endpoint.form,
            multipart=endpoint.multipart,
            limit=endpoint.body_limit,
            required=endpoint.body_required,
            page=endpoint.page,
        )
        self.takes_none = endpoint.is_api and not endpoint.raw_body and self.read_body is None
        self.has_inputs = not (
            endpoint.query is None and self.read_body is None and endpoint.idempotency_key is None
        )
        if endpoint.query is not None:
            validation.rule_of(endpoint.query)  # a type without a description fails at the start
        self.observers: dict[int, metrics.Observe] = {}


class Application:
    """Handles requests with these endpoints, whose functions get `parts` by their types."""

    def __init__(
        self,
        endpoints: Sequence[Endpoint],
        parts: Mapping[type, object],
        gate: Gate,
        *,
        public_url: str,
        site: Site | None = None,
        trusted_proxies: Sequence[Network] = (),
        cors_origins: Sequence[str] = (),
        lifespan: Lifespan = nullcontext,
    ) -> None:
        routes = [_Route(endpoint, parts) for endpoint in endpoints]
        self._router = Router((r.endpoint.method, r.endpoint.path, r) for r in routes)
        self._gate = gate
        self._site = site
        if site is None and any(endpoint.page for endpoint in endpoints):
            raise TypeError("There are pages, and no site to open them.")
        self._public_url = public_url
        self._proxies = trusted_proxies
        self._concurrency = ConcurrencyLimit()
        self._cors = Cors(cors_origins)
        self._response_headers = ResponseHeaders(self._cors, public_url=public_url)
        self._lifespan = lifespan
        self._unrouted: dict[int, metrics.Observe] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._serve(scope, receive, send)
        elif scope["type"] == "lifespan":
            await self._live(receive, send)

    async def _live(self, receive: Receive, send: Send) -> None:
        """Run the lifespan; a failure is logged and reported to the server."""
        phase = "startup"
        await receive()
        try:
            async with self._lifespan():
                await send({"type": "lifespan.startup.complete"})
                phase = "shutdown"
                await receive()
        except Exception as error:  # noqa: BLE001 - whatever it is, the server must know
            log.exception(f"api.{phase}_failed")
            await send({"type": f"lifespan.{phase}.failed", "message": type(error).__name__})
        else:
            await send({"type": "lifespan.shutdown.complete"})

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = perf_counter()
        line = logs.begin()
        request = Request(scope, receive, self._proxies)
        route, response = await self._respond(request, line)
        status = response.status or (route.endpoint.status if route else 200)
        body = b"" if status in _NO_BODY else response.encoded()
        headers = self._response_headers.add_to(
            [(b"x-request-id", request.id.encode()), *response.headers],
            request,
            page=route is not None and route.endpoint.page,
            routed=route is not None,
        )
        if status not in _NO_BODY:
            headers.append((b"content-type", response.content_type))
            if response.stream is None:
                headers.append((b"content-length", b"%d" % len(body)))
        if response.stream is not None:
            took = perf_counter() - started
            pieces = response.stream
            if response.paced and route is not None:
                recheck = partial(self._recheck, route.endpoint, request)
                pieces = rechecked(self._concurrency.paced(pieces), recheck)
            stream = _Counted(pieces)
            try:
                async with (
                    response.held or nullcontext(),
                    aclosing(response.stream),
                    aclosing(pieces),
                ):
                    streaming = StreamingResponse(
                        stream if request.method != "HEAD" else _no_chunks(), status
                    )
                    streaming.raw_headers = headers
                    sending = streaming(scope, receive, send)
                    if response.abandoned is None:
                        await sending
                    else:
                        await _until(response.abandoned, sending)
            except (Unauthenticated, Forbidden) as ended:  # the caller may not have the rest
                line.update(stream_failed=True, error_code=ended.code)
            except Exception:  # noqa: BLE001 - whatever it is, the response has begun
                # Without its last chunk the server closes the connection: the client can tell.
                line["stream_failed"] = True
                log.exception("stream.failed", request_id=request.id, route=route and route.name)
            size = stream.size
        else:
            await send({"type": "http.response.start", "status": status, "headers": headers})
            sent = b"" if request.method == "HEAD" else body
            await send({"type": "http.response.body", "body": sent})
            size = len(sent)
            took = perf_counter() - started
        self._report(request, route, status, took, size, line)
        if not request.has_no_body:
            await request.discard_body()

    async def _respond(
        self, request: Request, line: dict[str, object]
    ) -> tuple[_Route | None, Response]:
        route: _Route | None = None
        budget_headers: Headers = []
        try:
            methods, values = self._find(request)
            route = methods.get("GET" if request.method == "HEAD" else request.method)
            if route is None:
                return None, self._other_method(request, methods)
            result = await self._call(route, request, values, budget_headers)
            response = result if isinstance(result, Response) else Response(result)
        except ApiError as error:
            line["error_code"] = error.code
            if isinstance(error, CarriesBudget) and error.budget and not budget_headers:
                budget_headers = error.budget.headers()
            response = await self._error_response(error, route, request)
        except RepeatedRequest as repeated:
            response = repeated.response
        except Exception:  # noqa: BLE001 - the last resort: a bug becomes a 500, logged
            log.exception("request.failed", request_id=request.id, route=route and route.name)
            response = await self._error_response(InternalError(), route, request)
        if budget_headers:
            response.headers = [*response.headers, *budget_headers]
        return route, response

    async def _error_response(
        self, error: ApiError, route: _Route | None, request: Request
    ) -> Response:
        """A page for people, a problem document for programs."""
        is_page = route.endpoint.page if route else request.wants_html
        if self._site is not None and (is_page or request.wants_html):
            return await self._site.error_page(error, request)
        return problems.response(error, self._public_url, request.id)

    def _find(self, request: Request) -> tuple[dict[str, _Route], list[str]]:
        methods, values = self._router.find(request.path)
        # A slash that came encoded is not a slash: a proxy's rules read the path as it was sent.
        if not methods or request.has_encoded_slash:
            raise RouteNotFound
        return methods, values

    async def _call(
        self, route: _Route, request: Request, values: Sequence[str], budget_headers: Headers
    ) -> object:
        endpoint = route.endpoint
        arguments = dict(route.fixed)
        caller = None
        if endpoint.caller is not None:
            caller = await self._admit(endpoint, request, budget_headers)
            arguments[endpoint.caller] = caller
        if endpoint.path_kinds:
            arguments.update(read_path(endpoint.path_kinds, values))
        if endpoint.request is not None:
            arguments[endpoint.request] = request
        key = None
        if route.has_inputs or request.query_string or not request.has_no_body:
            key = await self._read_inputs(route, request, caller, arguments)
        if endpoint.idempotency_key is not None:
            arguments[endpoint.idempotency_key] = _idempotency_key(
                caller, route.name, key, request, arguments
            )
        if endpoint.expensive and caller is not None:
            async with AsyncExitStack() as held:
                await held.enter_async_context(self._concurrency.slot(caller.account_id))
                result = await endpoint.handler(**arguments)
                if isinstance(result, Response) and result.stream is not None:
                    result.held = held.pop_all()  # until the stream has ended
                return result
        return await endpoint.handler(**arguments)

    async def _read_inputs(
        self,
        route: _Route,
        request: Request,
        caller: Caller | None,
        arguments: dict[str, Any],
    ) -> str | None:
        """Add query and body to the arguments, or report what is wrong with both at once.

        Returns the Idempotency-Key.
        """
        endpoint = route.endpoint
        wrong: list[FieldError] = []
        try:
            self._read_query(endpoint, request, arguments)
        except ValidationFailed as failed:
            wrong += failed.errors
        key = _read_key(endpoint, request)
        try:
            if route.read_body is not None:
                arguments["body"] = await route.read_body(request)
            elif route.takes_none and not request.has_no_body:
                await inputs.reject_body(request)
            elif request.declared_length > endpoint.body_limit:
                raise BodyTooLarge(endpoint.body_limit)
        except ValidationFailed as failed:
            wrong += failed.errors
        if wrong:
            raise ValidationFailed.several(wrong)
        if route.read_body is not None and endpoint.page and self._site is not None:
            self._site.check_form(request, caller, arguments["body"])
        return key

    @staticmethod
    def _read_query(endpoint: Endpoint, request: Request, arguments: dict[str, Any]) -> None:
        if endpoint.query is not None:
            arguments["query"] = inputs.read_query(
                request.query_string, endpoint.query, page=endpoint.page
            )
        elif request.query_string and endpoint.is_api:
            inputs.reject_query(request.query_string)

    async def _admit(self, endpoint: Endpoint, request: Request, budget_headers: Headers) -> Caller:
        if endpoint.page and self._site is not None:
            caller = request.caller = await self._site.enter(request)
        else:
            caller = await self._gate.admit(request, urgent=endpoint.urgent)
            budget_headers.extend(caller.budget.headers())
        _check_permissions(endpoint, caller)
        return caller

    async def _recheck(self, endpoint: Endpoint, request: Request) -> None:
        """Raise if the caller of a response that takes long would not be admitted any more."""
        by = self._site if endpoint.page and self._site is not None else self._gate
        _check_permissions(endpoint, await by.recheck(request))

    def _other_method(self, request: Request, methods: Mapping[str, object]) -> Response:
        allowed = sorted({*methods, *(["HEAD"] if "GET" in methods else []), "OPTIONS"})
        if request.method != "OPTIONS":
            raise MethodNotAllowed(allowed)
        allow = ", ".join(allowed).encode()
        return Response(None, 204, [(b"allow", allow), *self._cors.preflight(request, allow)])

    def _report(
        self,
        request: Request,
        route: _Route | None,
        status: int,
        took: float,
        size: int,
        line: dict[str, object],
    ) -> None:
        observers, name = (route.observers, route.name) if route else (self._unrouted, "none")
        observe = observers.get(status)
        if observe is None:
            observe = observers[status] = metrics.request_observer(name, status)
        observe(took)
        if route is not None and route.endpoint.quiet and status < 400:  # noqa: PLR2004
            return
        write = log.error if status >= 500 else log.info  # noqa: PLR2004
        write(
            "request",
            request_id=request.id,
            method=request.method,
            route=name,
            status=status,
            took_ms=round(took * 1000, 3),
            bytes=size,
            address=request.address,
            **line,
        )


def _check_permissions(endpoint: Endpoint, caller: Caller) -> None:
    if caller.scopes is not None and endpoint.scope not in {ANY_SCOPE, *caller.scopes}:
        if endpoint.scope in (None, FULL_ACCESS):
            raise InsufficientPermissions.full_access()
        raise InsufficientPermissions.scope(endpoint.scope)
    if endpoint.role is not None and endpoint.role not in caller.roles:
        raise InsufficientPermissions.role(endpoint.role)


async def _no_chunks() -> AsyncIterator[bytes]:
    """Nothing to send: the response to HEAD."""
    for chunk in list[bytes]():
        yield chunk


async def _until(abandoned: asyncio.Event, sending: Coroutine[Any, Any, None]) -> None:
    """Send a stream until its end, or until it is abandoned."""
    task = asyncio.create_task(sending)
    waiting = asyncio.create_task(abandoned.wait())
    try:
        await asyncio.wait({task, waiting}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiting.cancel()
        if not task.done():
            task.cancel()
            await asyncio.wait({task})
    if not task.cancelled():
        task.result()


class _Counted:
    """A stream whose bytes are counted while they are sent."""

    def __init__(self, stream: AsyncIterator[bytes]) -> None:
        self._stream = stream
        self.size = 0

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        chunk = await anext(self._stream)
        self.size += len(chunk)
        return chunk


def _read_key(endpoint: Endpoint, request: Request) -> str | None:
    if endpoint.idempotency_key is None:
        return None
    header = request.single_header("idempotency-key")
    return idempotency.read_key(header, required=endpoint.idempotency_key_required)


def _idempotency_key(
    caller: Caller | None,
    route: str,
    key: str | None,
    request: Request,
    arguments: Mapping[str, object],
) -> IdempotencyKey | None:
    if caller is None or key is None:
        return None
    fingerprint = idempotency.fingerprint(request.path, arguments.get("body"))
    return IdempotencyKey(caller.account_id, route, key, fingerprint)
