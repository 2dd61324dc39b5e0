"""DNS lookups: all addresses of a name, within two seconds, remembered for one second at most."""

import asyncio
from collections.abc import Iterable, Sequence
from ipaddress import ip_address
from typing import Final, NamedTuple

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

# The addresses of a name, or the short code of why they are not known.
_Lookup = tuple[Address, ...] | str

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

    Concurrent lookups of a name share one query, and what it said is kept here. c-ares has a cache
    too, but it works in a thread of its own, and an answer from it costs as much as a delivery. It
    keeps answers for as long as their records live, up to an hour, and offers no switch; so each of
    its channels, with what is kept here, is used for `remembered` seconds only. An answer is never
    older than that, and the attempts of one delivery, a minute apart, never share one.
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
        self._remembered_seconds = remembered
        self._slots = asyncio.Semaphore(at_once)
        self._asking: dict[str, asyncio.Task[_Lookup]] = {}
        # What was asked on the current channel.
        self._answers: dict[str, _Lookup] = {}
        self._channel: aiodns.DNSResolver | None = None
        self._retired: list[tuple[float, aiodns.DNSResolver]] = []
        self._renew_at = 0.0

    def remembered(self, name: str) -> tuple[Address, ...] | None:
        """The addresses of `name` if they were asked for a moment ago."""
        resolved = self._remembered_answer(name)
        return None if isinstance(resolved, str) else resolved

    async def addresses(self, name: str) -> tuple[Address, ...]:
        """Every address of `name`, at least one, or LookupFailed.

        Where one of the two questions fails and the other is answered, the answer counts: some
        name servers cannot answer for AAAA at all.
        """
        resolved = self._remembered_answer(name)
        if resolved is None:
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

    def _remembered_answer(self, name: str) -> _Lookup | None:
        if asyncio.get_running_loop().time() >= self._renew_at:
            return None
        return self._answers.get(name)

    async def _ask(self, name: str) -> _Lookup:
        deadline = asyncio.get_running_loop().time() + self._seconds
        try:
            async with asyncio.timeout_at(deadline):
                await self._slots.acquire()
        except TimeoutError:
            return "dns_timeout"
        try:
            return await self._ask_and_remember(name, deadline)
        except pycares.AresError:  # no channel could be made
            return "dns_failed"
        finally:
            self._slots.release()

    async def _ask_and_remember(self, name: str, deadline: float) -> _Lookup:
        channel, answers = await self._current(asyncio.get_running_loop().time())
        answer = await _query(channel, name, deadline)
        if answer.resolved == "dns_failed":
            answer = await self._ask_apart(name, deadline)
        if answer.may_be_kept:
            answers[name] = answer.resolved
        return answer.resolved

    async def _ask_apart(self, name: str, deadline: float) -> "_Answer":
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

    async def _current(self, now: float) -> tuple[aiodns.DNSResolver, dict[str, _Lookup]]:
        """The channel to use, and the answers that belong to it.

        A channel that questions may still wait on is closed when they are over.
        """
        if self._channel is not None and now < self._renew_at:
            return self._channel, self._answers
        if self._channel is not None:
            self._retired.append((now + 2 * self._seconds, self._channel))
        self._channel = current = self._new_channel()
        answers: dict[str, _Lookup] = {}
        self._answers = answers
        self._renew_at = now + self._remembered_seconds
        over = [channel for close_at, channel in self._retired if close_at <= now]
        self._retired = [(at, channel) for at, channel in self._retired if at > now]
        for channel in over:
            await channel.close()
        return current, answers


class _Answer(NamedTuple):
    """The addresses of a name, or the reason why there are none.

    It may be kept for a moment unless a name server failed, or a record is for one use only.
    """

    resolved: _Lookup
    may_be_kept: bool


async def _query(channel: aiodns.DNSResolver, name: str, deadline: float) -> _Answer:
    questions = [channel.query_dns(f"{name}.", kind) for kind in ("A", "AAAA")]
    await asyncio.wait(questions, timeout=deadline - asyncio.get_running_loop().time())
    return _read(questions)


def _read(questions: Iterable[asyncio.Future[pycares.DNSResult]]) -> _Answer:
    records: list[pycares.DNSRecord] = []
    reasons: set[str] = set()
    for question in questions:
        if not question.done():
            question.cancel()
            reasons.add("dns_timeout")
        elif (error := question.exception()) is None:
            records += question.result().answer
        elif error.args and error.args[0] == aiodns.error.ARES_ETIMEOUT:
            reasons.add("dns_timeout")
        elif not error.args or error.args[0] not in _NOTHING_THERE:
            reasons.add("dns_failed")
    may_be_kept = not reasons and all(record.ttl for record in records)
    resolved = tuple(_addresses(records))
    if len(resolved) > _MOST_ADDRESSES:
        return _Answer("too_many_addresses", may_be_kept)
    return _Answer(resolved or max(reasons, default="name_not_found"), may_be_kept)


def _addresses(records: Iterable[pycares.DNSRecord]) -> Iterable[Address]:
    """Of every record in the answer, whatever its name: an alias brings records of other names."""
    for record in records:
        if isinstance(record.data, pycares.ARecordData | pycares.AAAARecordData):
            yield ip_address(record.data.addr)


def _server(text: str) -> str:
    host, _, port = text.rpartition(":") if text.count(":") == 1 or "]:" in text else (text, "", "")
    if addresses.read(host.strip("[]")) is None or (port and not port.isdecimal()):
        raise ValueError(f"{text!r} is not the address of a name server, as in 192.0.2.1:53.")
    return text
