"""The HTTP client for webhook endpoints: checked addresses, one deadline, small responses."""

import asyncio
import socket
import ssl
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from time import perf_counter
from typing import Final

import certifi
import msgspec

from tradewind.egress import descriptors, failures, guard
from tradewind.egress.addresses import Address
from tradewind.egress.exchange import Exchange, OpenSocket, open_socket
from tradewind.egress.grammar import Target, UrlRejected
from tradewind.egress.guard import AddressBlocked, Lookup, Policy
from tradewind.egress.multi import Multi
from tradewind.egress.resolver import LookupFailed
from tradewind.egress.result import AttemptResult, Outcome, Problem, Timings
from tradewind.observability.logs import log

SECONDS: Final = 10.0
USER_AGENT: Final = "service-api-webhooks/1.0"
_ALWAYS: Final = ("Accept-Encoding: identity", "Expect:")
_MOST_ADDRESSES: Final = 6
_IDLE_CONNECTIONS: Final = 512
_IDLE_HANDLES: Final = 512
_OURS: Final = Problem("failed_here", "The call failed on our side.", is_ours=True)


class Call(msgspec.Struct):
    """One POST under way: its addresses in turn, until one answers or the time is up."""

    _sender: "Sender"
    _body: bytes
    _headers: list[str]
    _done: Callable[[AttemptResult], None] | None
    _detail: bool
    _diagnosis: bool
    _began: float
    deadline: float
    target: Target
    _fresh: bool
    _exchange: Exchange | None = None
    _addresses: tuple[Address, ...] = ()
    _tried: int = 0
    _found_at: float = 0.0
    _start: float = 0.0

    def go(self, addresses: tuple[Address, ...]) -> None:
        """Try these addresses, of which there is at least one."""
        if self._done is None:
            return
        self._addresses = addresses
        self._found_at = perf_counter()
        self._exchange = self._sender.exchange(diagnosis=self._diagnosis)
        self._try_next(self._exchange)

    def fail(self, error: AddressBlocked | LookupFailed) -> None:
        """It ends before any address was tried."""
        self._finish(_unsent(error, perf_counter() - self._began))

    def abandon(self) -> None:
        """End it without calling back."""
        self._done = None
        if self._exchange is not None:
            self._sender.multi.forget(self._exchange.curl)
            self._exchange.close()  # its state is not known
            self._exchange = None

    def _try_next(self, exchange: Exchange) -> None:
        """Each address gets an equal share of what is left to connect in; the last gets it all."""
        self._start = perf_counter()
        left = self.deadline - self._start
        exchange.begin(
            self.target,
            self._addresses[self._tried],
            self._body,
            self._headers,
            seconds=left,
            connect_seconds=left / (len(self._addresses) - self._tried),
            fresh=self._fresh,
        )
        self._tried += 1
        self._sender.multi.perform(exchange.curl, self._over)

    def _over(self, code: int) -> None:
        exchange = self._exchange
        if exchange is None:
            return
        try:
            self._evaluate(exchange, code)
        except Exception as error:  # noqa: BLE001 - the caller must get a result
            log.exception("egress.call_failed", error=str(error))
            self._exchange = None
            exchange.close()
            self._finish(AttemptResult(Outcome.CONNECT_FAILED, problem=_OURS))

    def _evaluate(self, exchange: Exchange, code: int) -> None:
        """Report the result of a try, or try the next address."""
        if exchange.complete:
            status = exchange.status
            outcome, problem = failures.answered(status)
            result = AttemptResult(outcome, status, problem, exchange.head, exchange.body)
        else:
            facts = exchange.facts(code)
            if self._may_go_on(facts):
                exchange.forget()
                self._try_next(exchange)
                return
            outcome, problem = failures.explain(facts)
            result = AttemptResult(outcome, None, problem)
        if self._detail:
            result = self._detailed(exchange, result)
        self._exchange = None
        self._sender.give_back(exchange, diagnosis=self._diagnosis)
        self._finish(result)

    def _may_go_on(self, facts: failures.Facts) -> bool:
        """Whether there is time for another connection, and nothing of the request was sent."""
        if perf_counter() >= self.deadline:
            return False
        if failures.was_dead_already(facts) and not self._fresh:
            self._fresh = True
            self._tried -= 1
            return True
        return self._tried < len(self._addresses) and failures.may_try_next(facts)

    def _detailed(self, exchange: Exchange, result: AttemptResult) -> AttemptResult:
        began = self._began
        return msgspec.structs.replace(
            result,
            timings=exchange.timings(
                dns=self._found_at - began,
                before=self._start - began,
                total=perf_counter() - began,
            ),
            tried=self._tried,
            reused=result.status is not None and exchange.reused,
            certificate_ends=exchange.certificate_ends() if self._diagnosis else None,
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
        self._read = lru_cache(maxsize=4096)(partial(guard.read, policy=policy))
        self._lookup = lookup
        self._user_agent = user_agent
        self._authorities = authorities or _authorities()
        self._opener = opener
        self._free: list[Exchange] = []
        self._lookups: set[asyncio.Task[None]] = set()
        self.multi = Multi(idle_connections=idle_connections)

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
            target, resolved = self._read(url)
            if resolved is None and (kept := self._lookup.remembered(target.host)) is not None:
                resolved = self._checked(kept)
        except (UrlRejected, AddressBlocked) as error:
            done(_unsent(error, perf_counter() - began))
            return None
        call = Call(
            self,
            body,
            [*headers, *_ALWAYS],
            done,
            detail or diagnosis,
            diagnosis,
            began,
            began + seconds,
            target,
            fresh,
        )
        if resolved is not None:
            call.go(resolved)
            return call
        task = asyncio.create_task(self._find(call, target))
        self._lookups.add(task)
        task.add_done_callback(self._lookups.discard)
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

    async def close(self) -> None:
        """End calls under way, without calling back, and close every connection."""
        for task in list(self._lookups):
            task.cancel()
        if self._lookups:
            await asyncio.wait(self._lookups)
        self.multi.close()
        for exchange in self._free:
            exchange.close()
        self._free.clear()

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

    def _open(
        self, family: int, kind: int, protocol: int, address: Address
    ) -> socket.socket | None:
        self.multi.expect_new_socket()
        return self._opener(family, kind, protocol, address)

    def exchange(self, *, diagnosis: bool) -> Exchange:
        """A handle for a call; whoever takes it gives it back."""
        if self._free and not diagnosis:
            return self._free.pop()
        return Exchange(
            self._policy.allows,
            authorities=self._authorities,
            user_agent=self._user_agent,
            opener=self._open,
            diagnosis=diagnosis,
        )

    def give_back(self, exchange: Exchange, *, diagnosis: bool) -> None:
        if diagnosis or len(self._free) >= _IDLE_HANDLES:
            exchange.close()
        else:
            exchange.forget()
            self._free.append(exchange)


def _unsent(error: UrlRejected | AddressBlocked | LookupFailed, total: float) -> AttemptResult:
    """The result of a call that ended before any address was tried."""
    timings = Timings(total=total)
    if isinstance(error, UrlRejected):
        problem = Problem(f"url_{error.reason}", str(error))
        return AttemptResult(Outcome.BLOCKED_ADDRESS, problem=problem, timings=timings)
    if isinstance(error, AddressBlocked):
        return AttemptResult(Outcome.BLOCKED_ADDRESS, problem=failures.BLOCKED, timings=timings)
    ours = error.reason == descriptors.NONE_LEFT.code
    problem = descriptors.NONE_LEFT if ours else Problem(error.reason, str(error))
    return AttemptResult(Outcome.DNS_ERROR, problem=problem, timings=timings)


def _authorities() -> str:
    """The system's bundle of certificates, else the one that certifi carries."""
    return ssl.get_default_verify_paths().cafile or certifi.where()
