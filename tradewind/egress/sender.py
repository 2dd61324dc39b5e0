"""The HTTP client for webhook endpoints: checked addresses, one deadline, small responses."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from functools import lru_cache
from time import perf_counter
from typing import Final

import msgspec

from tradewind.egress import descriptors, failures, guard
from tradewind.egress.addresses import Address
from tradewind.egress.connect import ConnectFailed, OpenSocket, connect, open_socket
from tradewind.egress.connection import EndpointConnection
from tradewind.egress.deadlines import Deadlines
from tradewind.egress.failures import SendFailure
from tradewind.egress.grammar import Target, UrlRejected
from tradewind.egress.guard import AddressBlocked, Lookup, Policy
from tradewind.egress.idle_connections import IdleConnections
from tradewind.egress.resolver import LookupFailed
from tradewind.egress.result import AttemptResult, Outcome, Problem, Timings
from tradewind.egress.tls import tls_context
from tradewind.observability.logs import log

SECONDS: Final = 10.0
USER_AGENT: Final = "service-api-webhooks/1.0"
_MOST_ADDRESSES: Final = 6
_IDLE_CONNECTIONS: Final = 512
# What is read from a connection at once.
_BUFFER_BYTES: Final = 64 * 1024


class _Route(msgspec.Struct, frozen=True):
    """What is the same for all calls of a URL; no addresses where a name has to be looked up."""

    target: Target
    addresses: tuple[Address, ...] | None
    first_lines: str


class Call(msgspec.Struct, eq=False):
    """One POST under way: a kept connection, or its addresses in turn until one connects."""

    _sender: "Sender"
    _request: bytes
    _done: Callable[[AttemptResult], None] | None
    _detail: bool
    _diagnosis: bool
    _began: float
    deadline: float
    target: Target
    _fresh: bool
    _connection: EndpointConnection | None = None
    _connecting: asyncio.Task[None] | None = None
    _tried: int = 0
    _found_at: float = 0.0
    _connected_at: float | None = None
    _reused: bool = False

    def go(self, addresses: tuple[Address, ...]) -> None:
        """Try these addresses, of which there is at least one."""
        if self._done is None:
            return
        self._found_at = perf_counter()
        if not self._fresh:
            connection = self._sender.idle.take(self.target.origin, addresses)
            if connection is not None:
                self._tried = 1
                self._reused = True
                self._send(connection)
                return
        self._connecting = self._sender.start(self._connect(addresses))

    def fail(self, error: AddressBlocked | LookupFailed) -> None:
        """It ends before any address was tried."""
        self._finish(_unsent(error, perf_counter() - self._began))

    def abandon(self) -> None:
        """End it without calling back."""
        self._done = None
        self._sender.deadlines.remove(self)
        if self._connecting is not None:
            self._connecting.cancel()
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def time_out(self) -> None:
        """Its time is up: a response counts if its headers are complete."""
        connection = self._connection
        if connection is not None:
            connection.close()
            if connection.status is None:
                connection.failure = failures.RESPONSE_TIMEOUT
            self._over()

    async def _connect(self, addresses: tuple[Address, ...]) -> None:
        """Each address gets an equal share of what is left to connect in; the last gets it all."""
        try:
            for number, address in enumerate(addresses):
                self._tried = number + 1
                left = self.deadline - perf_counter()
                share = left / (len(addresses) - number)
                try:
                    connection = await self._sender.connect(self.target, address, share)
                except ConnectFailed as error:
                    is_last = self._tried == len(addresses) or perf_counter() >= self.deadline
                    if is_last or not error.may_try_next:
                        self._connected_at = error.connected_at
                        self._fail(error.failure)
                        return
                else:
                    self._connected_at = connection.connected_at
                    self._send(connection)
                    return
        except Exception as error:  # noqa: BLE001 - the caller must get a result
            log.exception("egress.call_failed", error=str(error))
            self._fail(failures.OURS)
        finally:
            self._connecting = None

    def _fail(self, failure: SendFailure) -> None:
        """It ends before anything was sent."""
        result = _failed(failure)
        self._finish(self._detailed(result, None) if self._detail else result)

    def _send(self, connection: EndpointConnection) -> None:
        self._connection = connection
        self._sender.deadlines.add(self)
        connection.send(self._request, self._over)

    def _over(self) -> None:
        """There is a response, or there will be none."""
        connection = self._connection
        if connection is None:
            return
        self._sender.deadlines.remove(self)
        self._connection = None
        result = self._result(connection)
        if connection.may_be_kept and not self._diagnosis:
            self._sender.idle.keep(connection)
        else:
            connection.close()
        try:
            self._finish(result)
        except Exception as error:  # noqa: BLE001 - one caller's mistake must not reach others
            log.exception("egress.callback_failed", error=str(error))

    def _result(self, connection: EndpointConnection) -> AttemptResult:
        status = connection.status
        if status is not None:
            outcome, problem = failures.answered(status)
            result = AttemptResult(outcome, status, problem, connection.head, connection.body)
        else:
            result = _failed(connection.failure or failures.CLOSED)
        return self._detailed(result, connection) if self._detail else result

    def _detailed(
        self, result: AttemptResult, connection: EndpointConnection | None
    ) -> AttemptResult:
        def since(moment: float | None) -> float | None:
            return None if moment is None else moment - self._began

        is_new = connection is not None and not self._reused
        return msgspec.structs.replace(
            result,
            timings=Timings(
                dns=since(self._found_at),
                connect=since(self._connected_at),
                tls=since(connection.secured_at) if connection and is_new else None,
                first_byte=since(connection.first_byte_at) if connection else None,
                total=perf_counter() - self._began,
            ),
            tried=self._tried,
            reused=result.status is not None and self._reused,
            certificate_ends=connection.certificate_ends
            if connection and self._diagnosis
            else None,
        )

    def _finish(self, result: AttemptResult) -> None:
        done, self._done = self._done, None
        if done is not None:
            done(result)


class Sender:
    """Sends POSTs over kept-alive connections, by HTTP/1.1.

    It follows no redirect, uses no proxy, keeps no cookie and unpacks nothing. One call sends one
    POST at most, whatever the endpoint does: docs/decisions/0017 says how.
    """

    def __init__(
        self,
        policy: Policy,
        lookup: Lookup,
        *,
        user_agent: str = USER_AGENT,
        authorities: str | None = None,
        idle_connections: int = _IDLE_CONNECTIONS,
        opener: OpenSocket = open_socket,
    ) -> None:
        """`authorities` is a file of certificates to trust in place of the system's.

        `opener` makes the sockets, for an address that passed the guard; tests watch it.
        """
        self._policy = policy
        self._lookup = lookup
        self._user_agent = user_agent
        self._route = lru_cache(maxsize=4096)(self._read)
        self._tls = tls_context(authorities)
        self._opener = opener
        self._buffer = memoryview(bytearray(_BUFFER_BYTES))
        self._tasks: set[asyncio.Task[None]] = set()
        self._connections: set[EndpointConnection] = set()
        self.idle = IdleConnections(idle_connections)
        self.deadlines = Deadlines()

    def begin(
        self,
        url: str,
        body: bytes,
        headers: Sequence[str],
        done: Callable[[AttemptResult], None],
        *,
        seconds: float = SECONDS,
        fresh: bool = False,
        detail: bool = False,
        diagnosis: bool = False,
    ) -> Call | None:
        """Send one POST, and call back with what became of it, at once if it must not be sent.

        `seconds` limit everything up to the head of the answer, and with what is left of them its
        body. The addresses of a name are tried in turn until one can be connected to.
        With `fresh` it uses no kept connection. With `detail` the result has times and counts. A
        `diagnosis` takes a connection of its own, so that every step is taken and timed.
        """
        began = perf_counter()
        try:
            route = self._route(url)
            resolved = route.addresses
            if resolved is None:
                remembered = self._lookup.remembered(route.target.host)
                resolved = None if remembered is None else self._checked(remembered)
        except (UrlRejected, AddressBlocked) as error:
            done(_unsent(error, perf_counter() - began))
            return None
        call = Call(
            self,
            _request(route.first_lines, headers, body),
            done,
            detail or diagnosis,
            diagnosis,
            began,
            began + seconds,
            route.target,
            fresh or diagnosis,
        )
        if resolved is not None:
            call.go(resolved)
            return call
        self.start(self._find(call, route.target))
        return call

    async def post(
        self,
        url: str,
        body: bytes,
        headers: Sequence[str],
        *,
        seconds: float = SECONDS,
        diagnosis: bool = False,
    ) -> AttemptResult:
        """Send a POST and wait for its result, with full details. Raises only cancellation."""
        over: asyncio.Future[AttemptResult] = asyncio.get_running_loop().create_future()

        def done(result: AttemptResult) -> None:
            if not over.done():
                over.set_result(result)

        call = self.begin(
            url, body, headers, done, seconds=seconds, detail=True, diagnosis=diagnosis
        )
        try:
            return await over
        except asyncio.CancelledError:
            if call is not None:
                call.abandon()
            raise

    async def connect(self, target: Target, address: Address, seconds: float) -> EndpointConnection:
        connection = await connect(
            target,
            address,
            allows=self._policy.allows,
            opener=self._opener,
            tls=self._tls,
            buffer=self._buffer,
            seconds=seconds,
        )
        self._connections.add(connection)
        connection.lost.add_done_callback(lambda _: self._connections.discard(connection))
        return connection

    async def close(self) -> None:
        """End calls under way, without calling back, and close every connection."""
        for task in list(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        self.deadlines.close()
        self.idle.close()
        for connection in list(self._connections):
            connection.close()
        if self._connections:
            await asyncio.wait([connection.lost for connection in self._connections])

    def start(self, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        """Begin a part of a call that has to wait: a lookup, or a new connection."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _find(self, call: Call, target: Target) -> None:
        """Learn the addresses of a name, and go on with the call."""
        try:
            async with asyncio.timeout(call.deadline - perf_counter()):
                resolved = await self._lookup.addresses(target.host)
            resolved = self._checked(resolved)
        except TimeoutError:
            call.fail(LookupFailed("dns_timeout", target.host))
        except (AddressBlocked, LookupFailed) as error:
            call.fail(error)
        except Exception as error:  # noqa: BLE001 - the caller must get a result
            log.exception("egress.lookup_failed", error=str(error))
            call.fail(LookupFailed("dns_failed", target.host))
        else:
            call.go(resolved)

    def _checked(self, resolved: tuple[Address, ...]) -> tuple[Address, ...]:
        return guard.checked(resolved, self._policy)[:_MOST_ADDRESSES]

    def _read(self, url: str) -> _Route:
        target, resolved = guard.read(url, self._policy)
        return _Route(
            target,
            resolved,
            f"POST {target.path} HTTP/1.1\r\n"
            f"Host: {target.authority}\r\n"
            f"User-Agent: {self._user_agent}\r\n"
            "Accept: */*\r\n"
            "Accept-Encoding: identity\r\n",
        )


def _request(first_lines: str, headers: Sequence[str], body: bytes) -> bytes:
    lines = "\r\n".join([*headers, f"Content-Length: {len(body)}\r\n\r\n"])
    return (first_lines + lines).encode("ascii") + body


def _failed(failure: SendFailure) -> AttemptResult:
    return AttemptResult(failure.outcome, problem=failure.problem)


def _unsent(error: UrlRejected | AddressBlocked | LookupFailed, total: float) -> AttemptResult:
    """The result of a call that ended before any address was tried."""
    timings = Timings(total=total)
    if isinstance(error, UrlRejected):
        problem = Problem(f"url_{error.reason}", str(error))
        return AttemptResult(Outcome.BLOCKED_ADDRESS, problem=problem, timings=timings)
    if isinstance(error, AddressBlocked):
        outcome, problem = failures.BLOCKED
        return AttemptResult(outcome, problem=problem, timings=timings)
    ours = error.reason == descriptors.NONE_LEFT.code
    problem = descriptors.NONE_LEFT if ours else Problem(error.reason, str(error))
    return AttemptResult(Outcome.DNS_ERROR, problem=problem, timings=timings)
