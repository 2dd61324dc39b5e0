"""Connections that wait for their next request, for two seconds at most."""

import asyncio
from collections.abc import Container
from time import perf_counter
from typing import Final

from tradewind.egress.addresses import Address
from tradewind.egress.connection import EndpointConnection

# Servers close idle connections after two seconds and more, maybe while we send.
IDLE_SECONDS: Final = 2.0


class IdleConnections:
    """Kept connections by origin; the one that was used last is used first."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._number = 0
        self._origins: dict[str, list[EndpointConnection]] = {}
        self._timer: asyncio.TimerHandle | None = None

    def take(self, origin: str, addresses: Container[Address]) -> EndpointConnection | None:
        """A connection to one of these addresses that has not ended, or None."""
        connections = self._origins.get(origin)
        if not connections:
            return None
        oldest = perf_counter() - IDLE_SECONDS
        while connections:
            connection = connections.pop()
            self._number -= 1
            if (
                connection.idle_since > oldest
                and connection.address in addresses
                and connection.is_alive
            ):
                return connection
            connection.close()
        return None

    def keep(self, connection: EndpointConnection) -> None:
        """Keep a connection for its next request; if there are too many, close it."""
        if self._number >= self._most:
            connection.close()
            return
        connection.forget()
        connection.idle_since = perf_counter()
        self._number += 1
        self._origins.setdefault(connection.origin, []).append(connection)
        if self._timer is None:
            self._close_old_later()

    def close(self) -> None:
        """Close all of them."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for connections in self._origins.values():
            for connection in connections:
                connection.close()
        self._origins.clear()
        self._number = 0

    def _close_old_later(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(IDLE_SECONDS, self._close_old)

    def _close_old(self) -> None:
        """Close what was idle for too long. The connections of an origin are in their order."""
        oldest = perf_counter() - IDLE_SECONDS
        for origin, connections in list(self._origins.items()):
            old = next(
                (n for n, each in enumerate(connections) if each.idle_since > oldest),
                len(connections),
            )
            for connection in connections[:old]:
                connection.close()
            self._number -= old
            del connections[:old]
            if not connections:
                del self._origins[origin]
        self._timer = None
        if self._origins:
            self._close_old_later()
