"""The ASGI application: every request in, one answer, one wide log line and its metrics out."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from time import perf_counter
from typing import Any

from tradewind.errors import ApiError, FieldError, InsufficientPermissions, ValidationFailed
from tradewind.observability import logs, metrics
from tradewind.observability.logs import log
from tradewind.web import idempotency, inputs, problems, validation
from tradewind.web.caller import Caller, Gate
from tradewind.web.concurrency import ConcurrencyLimit
from tradewind.web.cors import Cors
from tradewind.web.endpoint import Endpoint, read_path
from tradewind.web.idempotency import IdempotencyKey, Replay
from tradewind.web.problems import BodyTooLarge, InternalError, MethodNotAllowed, RouteNotFound
from tradewind.web.request import Network, Receive, Request, Scope, Send
from tradewind.web.response import Response
from tradewind.web.response_headers import ResponseHeaders
from tradewind.web.router import Router
from tradewind.web.site import Site
from tradewind.web.streaming import send_stream

Hook = Callable[[], Awaitable[None]]

_NO_BODY = frozenset({204, 304})


class _Bound:
    """An endpoint made ready: its body's reader, its fixed arguments, its metrics by status."""

    __slots__ = ("endpoint", "fixed", "has_inputs", "read_body", "refuses_body", "route", "seen")

    def __init__(self, endpoint: Endpoint, parts: Mapping[type, Any]) -> None:
        self.endpoint = endpoint
        self.route = f"{endpoint.method} {endpoint.path}"
        self.fixed = {name: parts[kind] for name, kind in endpoint.parts.items()}
        self.read_body = inputs.body_reader(
            endpoint.body,
            form=endpoint.form,
            required=endpoint.body_required,
            page=endpoint.page,
        )
        self.refuses_body = endpoint.is_api and not endpoint.raw_body and self.read_body is None
        self.has_inputs = not (
            endpoint.query is None and self.read_body is None and endpoint.once is None
        )
        if endpoint.query is not None:
            validation.rule_of(endpoint.query)  # a type that has no words yet fails at the start
        self.seen: dict[int, metrics.Observe] = {}


class Application:
    """Answers requests by the given endpoints, whose functions ask for `parts` by type."""

    def __init__(
        self,
        endpoints: Sequence[Endpoint],
        parts: Mapping[type, Any],
        gate: Gate,
        *,
        public_url: str,
        site: Site | None = None,
        trusted_proxies: Sequence[Network] = (),
        cors_origins: Sequence[str] = (),
        on_start: Sequence[Hook] = (),
        on_stop: Sequence[Hook] = (),
    ) -> None:
        bound = [_Bound(endpoint, parts) for endpoint in endpoints]
        self._router = Router((b.endpoint.method, b.endpoint.path, b) for b in bound)
        self._gate = gate
        self._site = site
        if site is None and any(endpoint.page for endpoint in endpoints):
            raise TypeError("There are pages, and no site to open them.")
        self._public_url = public_url
        self._proxies = trusted_proxies
        self._concurrency = ConcurrencyLimit()
        self._cors = Cors(cors_origins)
        self._response_headers = ResponseHeaders(self._cors, public_url=public_url)
        self._hooks = {"lifespan.startup": on_start, "lifespan.shutdown": on_stop}
        self._unrouted: dict[int, metrics.Observe] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._serve(scope, receive, send)
        elif scope["type"] == "lifespan":
            await self._live(receive, send)

    async def _live(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            for hook in self._hooks[message["type"]]:
                await hook()
            await send({"type": f"{message['type']}.complete"})
            if message["type"] == "lifespan.shutdown":
                return

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = perf_counter()
        line = logs.begin()
        request = Request(scope, receive, self._proxies)
        bound, answer = await self._answer(request, line)
        status = answer.status or (bound.endpoint.status if bound else 200)
        body = b"" if status in _NO_BODY else answer.encoded()
        headers = self._response_headers.add_to(
            [(b"x-request-id", request.id.encode("latin-1")), *answer.headers],
            request,
            page=bound is not None and bound.endpoint.page,
            routed=bound is not None,
        )
        if status not in _NO_BODY:
            headers.append((b"content-type", answer.content_type))
            if answer.stream is None:
                headers.append((b"content-length", str(len(body)).encode()))
        await send({"type": "http.response.start", "status": status, "headers": headers})
        took = perf_counter() - started
        if answer.stream is not None and request.method != "HEAD":
            size = await send_stream(answer.stream, request, send)
        else:
            shown = b"" if request.method == "HEAD" else body
            await send({"type": "http.response.body", "body": shown})
            size = len(shown)
            took = perf_counter() - started
        self._report(request, bound, status, took, size, line)

    async def _answer(
        self, request: Request, line: dict[str, Any]
    ) -> tuple[_Bound | None, Response]:
        bound: _Bound | None = None
        spent: list[tuple[bytes, bytes]] = []
        try:
            methods, values = self._find(request)
            bound = methods.get("GET" if request.method == "HEAD" else request.method)
            if bound is None:
                return None, self._other_method(request, methods)
            result = await self._call(bound, request, values, spent)
            answer = result if isinstance(result, Response) else Response(result)
        except ApiError as refusal:
            line["refused"] = refusal.code
            budget = getattr(refusal, "budget", None)
            if budget is not None and not spent:
                spent = budget.headers()
            answer = await self._refused(refusal, bound, request)
        except Replay as replay:
            answer = replay.answer
        except Exception:  # noqa: BLE001 - the last resort: a bug becomes a 500, logged
            log.exception("request.failed", request_id=request.id, route=bound and bound.route)
            answer = await self._refused(InternalError(), bound, request)
        if spent:
            answer.headers = [*answer.headers, *spent]
        return bound, answer

    async def _refused(self, refusal: ApiError, bound: _Bound | None, request: Request) -> Response:
        """A refusal as whoever asked can read it: people a page, programs a problem document."""
        is_page = bound.endpoint.page if bound else request.wants_a_page
        if self._site is not None and (is_page or request.wants_a_page):
            return await self._site.refused(refusal, request)
        return problems.answer(refusal, self._public_url, request.id)

    def _find(self, request: Request) -> tuple[dict[str, _Bound], list[str]]:
        methods, values = self._router.find(request.path)
        # A slash that came encoded is not a slash: a proxy's rules read the path as it was sent.
        if not methods or request.hides_a_slash:
            raise RouteNotFound
        return methods, values

    async def _call(
        self,
        bound: _Bound,
        request: Request,
        values: Sequence[str],
        spent: list[tuple[bytes, bytes]],
    ) -> Any:
        endpoint = bound.endpoint
        arguments = dict(bound.fixed)
        caller = None
        if endpoint.caller is not None:
            caller = await self._admit(endpoint, request, spent)
            arguments[endpoint.caller] = caller
        if endpoint.path_kinds:
            arguments.update(read_path(endpoint.path_kinds, values))
        if endpoint.request is not None:
            arguments[endpoint.request] = request
        key = None
        if bound.has_inputs or request.query_string or not request.has_no_body:
            key = await self._read_inputs(bound, request, caller, arguments)
        if endpoint.once is not None:
            arguments[endpoint.once] = _once(caller, bound.route, key, request, arguments)
        if endpoint.expensive and caller is not None:
            async with self._concurrency.slot(caller.account_id):
                return await endpoint.handler(**arguments)
        return await endpoint.handler(**arguments)

    async def _read_inputs(
        self,
        bound: _Bound,
        request: Request,
        caller: Caller | None,
        arguments: dict[str, Any],
    ) -> str | None:
        """Add query and body to the arguments, or report what is wrong with both at once.

        Returns the Idempotency-Key.
        """
        endpoint = bound.endpoint
        wrong: list[FieldError] = []
        try:
            self._read_query(endpoint, request, arguments)
        except ValidationFailed as failed:
            wrong += failed.found
        key = _read_key(endpoint, request)
        try:
            if bound.read_body is not None:
                arguments["body"] = await bound.read_body(request)
            elif bound.refuses_body and not request.has_no_body:
                await inputs.refuse_body(request)
            elif request.declared_length > inputs.BODY_LIMIT:
                raise BodyTooLarge(inputs.BODY_LIMIT)
        except ValidationFailed as failed:
            wrong += failed.found
        if wrong:
            raise ValidationFailed.several(wrong)
        if bound.read_body is not None and endpoint.page and self._site is not None:
            self._site.check_form(request, caller, arguments["body"])
        return key

    @staticmethod
    def _read_query(endpoint: Endpoint, request: Request, arguments: dict[str, Any]) -> None:
        if endpoint.query is not None:
            arguments["query"] = inputs.read_query(
                request.query_string, endpoint.query, page=endpoint.page
            )
        elif request.query_string and endpoint.is_api:
            inputs.refuse_query(request.query_string)

    async def _admit(
        self, endpoint: Endpoint, request: Request, spent: list[tuple[bytes, bytes]]
    ) -> Caller:
        if endpoint.page and self._site is not None:
            caller = request.caller = await self._site.enter(request)
        else:
            caller = await self._gate.admit(request, urgent=endpoint.urgent)
            spent.extend(caller.budget.headers())
        if endpoint.role is not None and endpoint.role not in caller.roles:
            raise InsufficientPermissions(endpoint.role)
        return caller

    def _other_method(self, request: Request, methods: Mapping[str, Any]) -> Response:
        names = sorted({*methods, *(["HEAD"] if "GET" in methods else []), "OPTIONS"})
        allow = ", ".join(names)
        if request.method == "OPTIONS":
            preflight = self._cors.preflight(request, allow)
            return Response(None, 204, [(b"allow", allow.encode()), *preflight])
        raise MethodNotAllowed(allow)

    def _report(
        self,
        request: Request,
        bound: _Bound | None,
        status: int,
        took: float,
        size: int,
        line: dict[str, Any],
    ) -> None:
        seen, route = (bound.seen, bound.route) if bound else (self._unrouted, "none")
        observe = seen.get(status)
        if observe is None:
            observe = seen[status] = metrics.request_observer(route, status)
        observe(took)
        if bound is not None and bound.endpoint.quiet and status < 400:  # noqa: PLR2004
            return
        write = log.error if status >= 500 else log.info  # noqa: PLR2004
        write(
            "request",
            request_id=request.id,
            method=request.method,
            route=route,
            status=status,
            took_ms=round(took * 1000, 3),
            bytes=size,
            address=request.address,
            **line,
        )


def _read_key(endpoint: Endpoint, request: Request) -> str | None:
    if endpoint.once is None:
        return None
    header = request.single_header(b"idempotency-key")
    return idempotency.read_key(header, required=endpoint.once_required)


def _once(
    caller: Caller | None,
    route: str,
    key: str | None,
    request: Request,
    arguments: Mapping[str, Any],
) -> IdempotencyKey | None:
    if caller is None or key is None:
        return None
    fingerprint = idempotency.fingerprint(request.path, arguments.get("body"))
    return IdempotencyKey(caller.account_id, route, key, fingerprint)
