"""libcurl's multi interface on the event loop: one watched descriptor, one turn for many calls."""

import asyncio
import select
import selectors
from collections.abc import Callable
from typing import Final

import pycurl

from tradewind.observability.logs import log

Done = Callable[[int], None]

_HAS_EPOLL: Final = hasattr(select, "epoll")
_WRITE: Final = select.EPOLLOUT if _HAS_EPOLL else 0
_WANTED: Final = (0, select.EPOLLIN, _WRITE, select.EPOLLIN | _WRITE) if _HAS_EPOLL else ()
_NOTHING: Final = frozenset({pycurl.POLL_REMOVE, pycurl.POLL_NONE})


class _Sockets:
    """The sockets that libcurl waits for, in its words: 1 to read, 2 to write, 3 for both.

    Those are the words of `selectors` too. Where there is epoll it is used bare: two sockets
    change with every call, and what `selectors` keeps of each costs more than the system call.
    """

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self.register = self._selector.register
        self.modify = self._selector.modify
        self.unregister = self._selector.unregister
        self.fileno = self._selector.fileno
        self.close = self._selector.close

    def ready(self) -> list[tuple[int, int]]:
        return [(key.fd, events) for key, events in self._selector.select(0)]


class _Epoll:
    """The same, of Linux."""

    def __init__(self) -> None:
        self._epoll = select.epoll()
        self.unregister = self._epoll.unregister
        self.fileno = self._epoll.fileno
        self.close = self._epoll.close

    def register(self, descriptor: int, wanted: int) -> None:
        self._epoll.register(descriptor, _WANTED[wanted])

    def modify(self, descriptor: int, wanted: int) -> None:
        self._epoll.modify(descriptor, _WANTED[wanted])

    def ready(self) -> list[tuple[int, int]]:
        return [
            (descriptor, (events & _WRITE and 2) | (events & ~_WRITE and 1))
            for descriptor, events in self._epoll.poll(0)
        ]


class Multi:
    """Performs handles, and calls back with libcurl's code when one is over.

    All sockets are in a set of our own, and the loop watches that set: what is ready is
    dealt with in one turn, however much it is. pycurl's own integration has the loop watch every
    socket, and makes a future for every call; docs/decisions/0014 has the prices.
    """

    def __init__(self, *, idle_connections: int) -> None:
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._watch)
        self._multi.setopt(pycurl.M_MAXCONNECTS, idle_connections)
        self._ready = _Epoll() if _HAS_EPOLL else _Sockets()
        self._watched: dict[int, int] = {}
        self._calls: dict[pycurl.Curl, Done] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._soon: asyncio.Handle | None = None
        self._timer: asyncio.TimerHandle | None = None

    def perform(self, curl: pycurl.Curl, done: Done) -> None:
        """Begin a call; `done` gets libcurl's code, never before this returns."""
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
            self._loop.add_reader(self._ready.fileno(), self._act)
        self._calls[curl] = done
        try:
            self._multi.add_handle(curl)
        except BaseException:
            del self._calls[curl]
            raise
        self._call_soon(self._loop)

    def forget(self, curl: pycurl.Curl) -> None:
        """End a call without calling back."""
        if self._calls.pop(curl, None) is not None:
            self._multi.remove_handle(curl)

    def close(self) -> None:
        """End every call without calling back, and close every connection."""
        for curl in list(self._calls):
            self.forget(curl)
        if self._loop is not None:
            self._loop.remove_reader(self._ready.fileno())
        for planned in (self._soon, self._timer):
            if planned is not None:
                planned.cancel()
        self._multi.close()
        self._ready.close()

    def _watch(self, what: int, descriptor: int, _multi: object, _about: object) -> None:
        before = self._watched.pop(descriptor, None)
        if what in _NOTHING:
            if before is not None:
                self._ready.unregister(descriptor)
            return
        if before is None:
            self._ready.register(descriptor, what)
        elif before != what:
            self._ready.modify(descriptor, what)
        self._watched[descriptor] = what

    def _plan(self) -> None:
        """Come back when libcurl wants to be called, if nothing happens before."""
        if self._loop is None:
            return
        milliseconds = self._multi.timeout()
        if milliseconds == 0:
            self._call_soon(self._loop)
        elif milliseconds > 0:
            due = self._loop.time() + milliseconds / 1000
            # A timer that is too early only looks again, so most changes cost nothing.
            if self._timer is None or self._timer.when() > due:
                self._set_timer(self._loop, due)

    def _call_soon(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._soon is None:
            self._soon = loop.call_soon(self._kick)

    def _set_timer(self, loop: asyncio.AbstractEventLoop, due: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = loop.call_at(due, self._tick)

    def _tick(self) -> None:
        self._timer = None
        self._plan()

    def _kick(self) -> None:
        self._soon = None
        self._multi.socket_action(pycurl.SOCKET_TIMEOUT, 0)
        self._hand_out()

    def _act(self) -> None:
        act = self._multi.socket_action
        for descriptor, events in self._ready.ready():
            act(descriptor, events)
        self._hand_out()

    def _hand_out(self) -> None:
        """Call back for everything that is over, and plan when to come back."""
        over: list[tuple[Done, int]] = []
        while True:
            left, well, badly = self._multi.info_read(1000)
            for curl in well:
                over.append((self._calls.pop(curl), pycurl.E_OK))
                self._multi.remove_handle(curl)
            for curl, code, _ in badly:
                over.append((self._calls.pop(curl), code))
                self._multi.remove_handle(curl)
            if not left:
                break
        for done, code in over:
            try:
                done(code)
            except Exception as error:  # noqa: BLE001 - one caller's mistake must not reach others
                log.exception("egress.callback_failed", error=str(error))
        self._plan()
