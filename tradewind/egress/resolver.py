"""DNS lookups: all addresses of a name, within two seconds, with limited concurrency, no cache."""

import asyncio
from collections.abc import Iterable, Sequence
from ipaddress import ip_address
from typing import Final

import aiodns
import aiodns.error
import pycares

from tradewind.egress import addresses, descriptors
from tradewind.egress.addresses import Address
from tradewind.errors import TradewindError

_SECONDS: Final = 2.0
_AT_ONCE: Final = 512
_REMEMBERED: Final = 1.0
_MOST_ADDRESSES: Final = 128
_NOTHING_THERE: Final = frozenset({aiodns.error.ARES_ENODATA, aiodns.error.ARES_ENOTFOUND})

_SENTENCES: Final = {
    "name_not_found": "The name {name} has no address.",
    "too_many_addresses": "The name {name} has more addresses than we take.",
    "dns_timeout": "No name server answered for {name} in time.",
    "dns_failed": "The name servers could not answer for {name}.",
    descriptors.NONE_LEFT.code: descriptors.NONE_LEFT.message,
}


class LookupFailed(TradewindError):
    """A name has no address that we could learn. `reason` is a short code."""

    def __init__(self, reason: str, name: str) -> None:
        super().__init__(_SENTENCES[reason].format(name=name))
        self.reason = reason


class Resolver:
    """Asks name servers for A and AAAA records, without search domains and without a hosts file.

    Concurrent lookups of a name share one query. c-ares
    keeps answers for as long as their records live, up to an hour, and offers no switch; so each of
    its channels is used for `remembered` seconds only. An answer is never older than that, and the
    attempts of one delivery, a minute apart, never share one.
    """

    def __init__(
        self,
        servers: Sequence[str] = (),
        *,
        seconds: float = _SECONDS,
        at_once: int = _AT_ONCE,
        remembered: float = _REMEMBERED,
    ) -> None:
        """`servers` (`host:port`) replace the system's; ValueError for what is no address."""
        self._servers = [_server(text) for text in servers]
        self._seconds = seconds
        self._remembered = remembered
        self._slots = asyncio.Semaphore(at_once)
        self._asking: dict[str, asyncio.Task[tuple[Address, ...] | str]] = {}
        self._channel: aiodns.DNSResolver | None = None
        self._retired: list[tuple[float, aiodns.DNSResolver]] = []
        self._renew_at = 0.0

    async def addresses(self, name: str) -> tuple[Address, ...]:
        """Every address of `name`, at least one, or LookupFailed.

        Where one of the two questions fails and the other is answered, the answer counts: some
        name servers cannot answer for AAAA at all.
        """
        task = self._asking.get(name)
        if task is None:
            task = asyncio.create_task(self._ask(name))
            self._asking[name] = task
            task.add_done_callback(lambda _: self._asking.pop(name, None))
        # Cancelling one waiter must not cancel the shared lookup.
        resolved = await asyncio.shield(task)
        if isinstance(resolved, str):
            starved = resolved == "dns_failed" and not descriptors.are_left()
            raise LookupFailed(descriptors.NONE_LEFT.code if starved else resolved, name)
        return resolved

    async def close(self) -> None:
        for task in list(self._asking.values()):
            task.cancel()
        open_channels = [channel for _, channel in self._retired]
        if self._channel is not None:
            open_channels.append(self._channel)
        self._channel, self._retired = None, []
        for channel in open_channels:
            await channel.close()

    async def _ask(self, name: str) -> tuple[Address, ...] | str:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._seconds
        try:
            async with asyncio.timeout_at(deadline):
                await self._slots.acquire()
        except TimeoutError:
            return "dns_timeout"
        try:
            resolved = await _query(await self._current(loop.time()), name, deadline)
            apart = resolved == "dns_failed"
            return await self._ask_apart(name, deadline) if apart else resolved
        except pycares.AresError:  # no channel could be made
            return "dns_failed"
        finally:
            self._slots.release()

    async def _ask_apart(self, name: str, deadline: float) -> tuple[Address, ...] | str:
        """Ask once more, on a channel that nobody else uses.

        An answer that cannot be parsed ends, in c-ares, every question on the same socket: who
        has such names must not make those of others fail.
        """
        channel = self._new_channel()
        try:
            return await _query(channel, name, deadline)
        finally:
            await channel.close()

    def _new_channel(self) -> aiodns.DNSResolver:
        # Two rounds, the second twice as long, fit into the time that we wait.
        return aiodns.DNSResolver(
            nameservers=self._servers or None, timeout=self._seconds / 3, tries=2
        )

    async def _current(self, now: float) -> aiodns.DNSResolver:
        """The channel to use; one that questions may still wait on is closed when they are over."""
        if self._channel is None or now >= self._renew_at:
            if self._channel is not None:
                self._retired.append((now + 2 * self._seconds, self._channel))
            self._channel = self._new_channel()
            self._renew_at = now + self._remembered
            over = [channel for close_at, channel in self._retired if close_at <= now]
            self._retired = [(at, channel) for at, channel in self._retired if at > now]
            current = self._channel
            for channel in over:
                await channel.close()
            return current
        return self._channel


async def _query(
    channel: aiodns.DNSResolver, name: str, deadline: float
) -> tuple[Address, ...] | str:
    questions = [channel.query_dns(f"{name}.", kind) for kind in ("A", "AAAA")]
    await asyncio.wait(questions, timeout=deadline - asyncio.get_running_loop().time())
    return _read(questions)


def _read(questions: Iterable[asyncio.Future[pycares.DNSResult]]) -> tuple[Address, ...] | str:
    """The addresses in the answers, or the reason why there are none."""
    resolved: list[Address] = []
    reasons: set[str] = set()
    for question in questions:
        if not question.done():
            question.cancel()
            reasons.add("dns_timeout")
        elif (error := question.exception()) is None:
            resolved += _addresses(question.result())
        elif error.args and error.args[0] == aiodns.error.ARES_ETIMEOUT:
            reasons.add("dns_timeout")
        elif not error.args or error.args[0] not in _NOTHING_THERE:
            reasons.add("dns_failed")
    if len(resolved) > _MOST_ADDRESSES:
        return "too_many_addresses"
    if resolved:
        return tuple(resolved)
    return max(reasons, default="name_not_found")


def _addresses(result: pycares.DNSResult) -> Iterable[Address]:
    """Of every record in the answer, whatever its name: an alias brings records of other names."""
    for record in result.answer:
        if isinstance(record.data, pycares.ARecordData | pycares.AAAARecordData):
            yield ip_address(record.data.addr)


def _server(text: str) -> str:
    host, _, port = text.rpartition(":") if text.count(":") == 1 or "]:" in text else (text, "", "")
    if addresses.read(host.strip("[]")) is None or (port and not port.isdecimal()):
        raise ValueError(f"{text!r} is not the address of a name server, as in 192.0.2.1:53.")
    return text
