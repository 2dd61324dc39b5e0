"""The client for addresses that strangers gave us: guarded, one deadline, small answers, cheap."""

import asyncio
import ssl
from collections.abc import Sequence
from typing import Final

import certifi
import msgspec
import pycurl

from tradewind.egress import descriptors, failures, guard
from tradewind.egress.addresses import Address
from tradewind.egress.exchange import Exchange, OpenSocket, open_socket
from tradewind.egress.grammar import Target, UrlRefused
from tradewind.egress.guard import AddressRefused, Lookup, Policy
from tradewind.egress.resolver import LookupFailed
from tradewind.egress.result import Outcome, Problem, Result, Timings

SECONDS: Final = 10.0
_ALWAYS: Final = ("Accept-Encoding: identity", "Expect:")
_MOST_ADDRESSES: Final = 6
_IDLE_CONNECTIONS: Final = 512
_IDLE_HANDLES: Final = 512


class Sender:
    """Sends POSTs over kept-alive connections, HTTP/1.1 or HTTP/2.

    It follows no redirect, uses no proxy, keeps no cookie and unpacks nothing. libcurl sends a
    request again by itself when a kept connection turns out to be dead before an answer began:
    docs/decisions/0011 says why that is right here.
    """

    def __init__(
        self,
        policy: Policy,
        lookup: Lookup,
        *,
        user_agent: str = "service-api-webhooks/1.0",
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
        self._authorities = authorities or _authorities()
        self._opener = opener
        self._free: list[Exchange] = []
        self._multi = pycurl.AsyncCurlMulti()
        self._multi.setopt(pycurl.M_MAXCONNECTS, idle_connections)

    async def post(
        self,
        url: str,
        body: bytes,
        headers: Sequence[str],
        *,
        seconds: float = SECONDS,
        diagnosis: bool = False,
    ) -> Result:
        """Send one POST, and tell what became of it; it raises nothing but cancellation.

        `seconds` limit everything up to the head of the answer, and with what is left of them its
        body. The addresses of a name are tried in turn until one can be connected to.
        A `diagnosis` takes a connection of its own, so that every step is taken and timed.
        """
        began = asyncio.get_running_loop().time()
        deadline = began + seconds
        try:
            target = self._policy.read(url)
            addresses = await self._addresses(target, deadline)
        except (UrlRefused, AddressRefused, LookupFailed) as error:
            return _unsent(error, asyncio.get_running_loop().time() - began)
        exchange = self._exchange(diagnosis=diagnosis)
        try:
            result = await self._try_in_turn(
                exchange, target, addresses, body, [*headers, *_ALWAYS], began, deadline
            )
        except BaseException:
            # Whoever was cancelled leaves a handle in an unknown state.
            exchange.close()
            raise
        if diagnosis:
            result = msgspec.structs.replace(result, certificate_ends=exchange.certificate_ends())
        if diagnosis or len(self._free) >= _IDLE_HANDLES:
            exchange.close()
        else:
            exchange.forget()
            self._free.append(exchange)
        return result

    async def close(self) -> None:
        """End calls under way, and close every connection."""
        await self._multi.aclose()
        for exchange in self._free:
            exchange.close()
        self._free.clear()

    async def _addresses(self, target: Target, deadline: float) -> tuple[Address, ...]:
        found = guard.known(target)
        if found is None:
            try:
                async with asyncio.timeout_at(deadline):
                    found = await self._lookup.addresses(target.host)
            except TimeoutError:
                raise LookupFailed("dns_timeout", target.host) from None
        return guard.checked(found, self._policy)[:_MOST_ADDRESSES]

    async def _try_in_turn(
        self,
        exchange: Exchange,
        target: Target,
        addresses: tuple[Address, ...],
        body: bytes,
        headers: list[str],
        began: float,
        deadline: float,
    ) -> Result:
        """Each address gets an equal share of what is left to connect in; the last gets it all."""
        clock = asyncio.get_running_loop().time
        found_at = clock()
        tried = 0
        while True:
            start = clock()
            left = deadline - start
            share = left / (len(addresses) - tried)
            exchange.begin(
                target, addresses[tried], body, headers, seconds=left, connect_seconds=share
            )
            tried += 1
            code = pycurl.E_OK
            try:
                await self._multi.add_handle(exchange.curl)
            except pycurl.error as error:
                code = error.args[0]
            status = exchange.status if exchange.complete else None
            if status is not None:
                outcome, problem = failures.answered(status)
                break
            facts = exchange.facts(code)
            at_end = tried == len(addresses) or clock() >= deadline
            if at_end or not failures.may_try_next(facts):
                outcome, problem = failures.explain(facts)
                break
        timings = exchange.timings(
            dns=found_at - began, before=start - began, total=clock() - began
        )
        if status is None:
            return Result(outcome, None, problem, timings=timings, tried=tried)
        return Result(
            outcome,
            status,
            problem,
            exchange.head,
            exchange.body,
            timings,
            tried,
            reused=exchange.reused,
        )

    def _exchange(self, *, diagnosis: bool) -> Exchange:
        if self._free and not diagnosis:
            return self._free.pop()
        return Exchange(
            self._policy.allows,
            authorities=self._authorities,
            user_agent=self._user_agent,
            opener=self._opener,
            diagnosis=diagnosis,
        )


def _unsent(error: UrlRefused | AddressRefused | LookupFailed, total: float) -> Result:
    """The result of a call that ended before any address was tried."""
    timings = Timings(total=total)
    if isinstance(error, UrlRefused):
        problem = Problem(f"url_{error.reason}", str(error))
        return Result(Outcome.BLOCKED_ADDRESS, problem=problem, timings=timings)
    if isinstance(error, AddressRefused):
        return Result(Outcome.BLOCKED_ADDRESS, problem=failures.BLOCKED, timings=timings)
    ours = error.reason == descriptors.NONE_LEFT.code
    problem = descriptors.NONE_LEFT if ours else Problem(error.reason, str(error))
    return Result(Outcome.DNS_ERROR, problem=problem, timings=timings)


def _authorities() -> str:
    """The system's bundle of certificates, else the one that certifi carries."""
    return ssl.get_default_verify_paths().cafile or certifi.where()
