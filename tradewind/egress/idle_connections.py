"""Connections that wait for their next request, for two seconds at most."""

import asyncio
from collections import defaultdict, deque
from collections.abc import Container
from time import perf_counter
from typing import Final

from tradewind.egress.addresses import Address
from tradewind.egress.connection import EndpointConnection

# Servers close idle connections after two seconds and more, maybe while we send.
IDLE_SECONDS: Final = 2.0


class IdleConnections:
    """Kept connections by origin; the one that was used last is used first.

    If there are too many, the one that has waited longest is closed: it may be for an endpoint that
    gets nothing more.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        # All of them, and those of each origin, the longest idle first.
        self._all: dict[EndpointConnection, None] = {}
        self._origins: defaultdict[str, deque[EndpointConnection]] = defaultdict(deque)
        self._timer: asyncio.TimerHandle | None = None

    def take(self, origin: str, addresses: Container[Address]) -> EndpointConnection | None:
        """A connection to one of these addresses that has not ended, or None."""
        connections = self._origins.get(origin)
        if not connections:
            return None
        oldest = perf_counter() - IDLE_SECONDS
        while connections:
            connection = connections.pop()
            del self._all[connection]
            if not connections:
                del self._origins[origin]
            if (
                connection.idle_since > oldest
                and connection.address in addresses
                and connection.is_alive
            ):
                return connection
            connection.close()
        return None

    def keep(self, connection: EndpointConnection) -> None:
        """Keep a connection for its next request."""
        connection.forget()
        connection.idle_since = perf_counter()
        self._all[connection] = None
        self._origins[connection.origin].append(connection)
        if len(self._all) > self._most:
            self._close_first()
        if self._timer is None:
            self._close_old_later()

    def close(self) -> None:
        """Close all of them."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        while self._all:
            self._close_first()

    def _close_first(self) -> None:
        connection = next(iter(self._all))
        del self._all[connection]
        connections = self._origins[connection.origin]
        connections.popleft()
        if not connections:
            del self._origins[connection.origin]
        connection.close()

    def _close_old_later(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(IDLE_SECONDS, self._close_old)

    def _close_old(self) -> None:
        oldest = perf_counter() - IDLE_SECONDS
        while self._all and next(iter(self._all)).idle_since <= oldest:
            self._close_first()
        self._timer = None
        if self._all:
            self._close_old_later()
