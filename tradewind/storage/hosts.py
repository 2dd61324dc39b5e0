"""Several database hosts in one address: a host that does not answer holds up no other."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit

import asyncpg

_DEFAULT_PORT = 5432
# A host that is cut off or frozen does not answer: the next one is tried beside it.
_NEXT_HOST_SECONDS = 0.5
_SEVERAL = 2


class DatabaseHost(NamedTuple):
    """A host of an address, or the folder of a socket."""

    name: str
    port: int


_Connected = tuple[DatabaseHost, asyncpg.Connection]


def hosts_of(url: str) -> Sequence[DatabaseHost]:
    """The hosts that an address names, in its order; empty: it leaves that to the environment."""
    parts = urlsplit(url)
    options = parse_qs(parts.query)
    if listed := parts.netloc.rpartition("@")[2]:
        return [_host(unquote(text)) for text in listed.split(",")]
    names = ",".join(options.get("host", [])).split(",")
    ports = ",".join(options.get("port", [""])).split(",")
    if len(ports) == 1:
        ports *= len(names)
    return [
        DatabaseHost(name, int(port or _DEFAULT_PORT))
        for name, port in zip(names, ports, strict=True)
        if name
    ]


def _host(text: str) -> DatabaseHost:
    name, port = text, ""
    if text.startswith("["):
        name, _, port = text[1:].partition("]")
        port = port.removeprefix(":")
    elif ":" in text:
        name, _, port = text.rpartition(":")
    return DatabaseHost(name, int(port or _DEFAULT_PORT))


class Hosts:
    """Opens connections to one address.

    asyncpg tries the hosts one after the other within one time limit: a host that accepts
    connections and does not answer would make all others unreachable.

    `on_change` is called when a connection leads to another host than the one before. Those to the
    host before must not be used any more: an old primary that was frozen answers again, with what
    it knew before the failover.
    """

    def __init__(self, url: str, on_change: Callable[[], Awaitable[None]] | None = None) -> None:
        self._url = url
        self._hosts = list(hosts_of(url))
        self._last: DatabaseHost | None = None
        self._on_change = on_change

    async def connect(
        self,
        dsn: str | None = None,  # noqa: ARG002 - a pool passes it: it has none
        **options: Any,
    ) -> asyncpg.Connection:
        """Connect to the host that was used last, or to another that can be used."""
        if len(self._hosts) < _SEVERAL:
            return await asyncpg.connect(self._url, **options)
        has_failed = [asyncio.Event() for _ in self._hosts]

        async def attempt(number: int, host: DatabaseHost) -> _Connected:
            """Connect when the host before has failed, or has had its time."""
            if number:
                with suppress(TimeoutError):
                    async with asyncio.timeout(number * _NEXT_HOST_SECONDS):
                        await has_failed[number - 1].wait()
            try:
                return host, await asyncpg.connect(
                    self._url, host=host.name, port=host.port, **options
                )
            except Exception:
                has_failed[number].set()
                raise

        host, connection = await _first_of(
            [asyncio.create_task(attempt(*item)) for item in enumerate(self._hosts)]
        )
        self._hosts.sort(key=lambda other: other != host)
        is_changed, self._last = self._last not in {None, host}, host
        if is_changed and self._on_change is not None:
            await self._on_change()
        return connection


async def _first_of(attempts: Sequence[asyncio.Task[_Connected]]) -> _Connected:
    """The first that succeeds; the others are ended. If all fail, the error of the last one."""
    chosen: _Connected | None = None
    error: Exception | None = None
    try:
        for completed in asyncio.as_completed(attempts):
            try:
                chosen = await completed
            except Exception as failure:  # noqa: BLE001 - it is raised if no host can be used
                error = failure
            else:
                return chosen
    finally:
        for task in attempts:
            task.cancel()
        for result in await asyncio.gather(*attempts, return_exceptions=True):
            if not isinstance(result, BaseException) and result is not chosen:
                result[1].terminate()
    raise error or RuntimeError("no host was tried")
