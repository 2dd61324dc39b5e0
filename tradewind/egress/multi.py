"""libcurl's multi interface on the event loop: one watched descriptor for all connections."""

import asyncio
import contextlib
import select
import selectors
import socket
from collections.abc import Callable
from typing import Final

import pycurl

from tradewind.observability.logs import log

Done = Callable[[int], None]

_HAS_EPOLL: Final = hasattr(select, "epoll")
_WRITE: Final = select.EPOLLOUT if _HAS_EPOLL else 0
_MASKS: Final = (0, select.EPOLLIN, _WRITE, select.EPOLLIN | _WRITE) if _HAS_EPOLL else ()
_NOTHING: Final = frozenset({pycurl.POLL_REMOVE, pycurl.POLL_NONE})


class _Sockets:
    """The sockets that libcurl waits for, in its words: 1 to read, 2 to write, 3 for both.

    Those are the words of `selectors` too.
    """

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self.fileno = self._selector.fileno
        self.close = self._selector.close

    def watch(self, what: int, descriptor: int, _multi: object, _about: object) -> None:
        """Called by libcurl: wait for this from now on, or for nothing."""
        is_registered = descriptor in self._selector.get_map()
        if what not in _NOTHING:
            (self._selector.modify if is_registered else self._selector.register)(descriptor, what)
        elif is_registered:
            self._selector.unregister(descriptor)

    def expect_new(self) -> None:
        """A socket is about to be opened."""

    def ready(self) -> list[tuple[int, int]]:
        return [(key.fd, events) for key, events in self._selector.select(0)]


class _Epoll:
    """The Linux version: idle sockets stay registered.

    Most are waited for again with the next call on the same connection: so two system calls for
    each are saved. libcurl closes a socket without a word; the system then takes it out, and what
    is known of its number is forgotten before another socket can have it.

    So we see at once when an endpoint closes an idle connection, by TCP or by TLS. libcurl looks
    only once a second, and would send a request on it meanwhile. We shut the connection down, so
    that its use fails before anything is sent.
    """

    def __init__(self) -> None:
        self._epoll = select.epoll()
        self._wanted: dict[int, int] = {}
        # What libcurl waited for last, of those that it does not wait for now.
        self._left: dict[int, int] = {}
        self.fileno = self._epoll.fileno
        self.close = self._epoll.close

    def watch(self, what: int, descriptor: int, _multi: object, _about: object) -> None:
        before = self._wanted.pop(descriptor, 0) or self._left.pop(descriptor, 0)
        if what in _NOTHING:
            if before & pycurl.POLL_OUT:
                # An idle connection can always be written to, which would look like its end.
                with contextlib.suppress(OSError):
                    self._epoll.modify(descriptor, select.EPOLLIN)
                before = pycurl.POLL_IN
            self._left[descriptor] = before
            return
        self._wanted[descriptor] = what
        if before != what:
            try:
                self._epoll.modify(descriptor, _MASKS[what])
            except FileNotFoundError:
                self._epoll.register(descriptor, _MASKS[what])

    def expect_new(self) -> None:
        self._left.clear()

    def ready(self) -> list[tuple[int, int]]:
        ready = []
        for descriptor, events in self._epoll.poll(0):
            if descriptor in self._wanted:
                ready.append((descriptor, (events & _WRITE and 2) | (events & ~_WRITE and 1)))
            else:
                self._left.pop(descriptor, None)
                self._epoll.unregister(descriptor)
                _shut_down(descriptor)
        return ready


def _shut_down(descriptor: int) -> None:
    """Let nothing more be sent on a connection, which stays libcurl's to close."""
    connection = socket.socket(fileno=descriptor)
    with contextlib.suppress(OSError):  # it was reset
        connection.shutdown(socket.SHUT_RDWR)
    connection.detach()


def sockets() -> _Epoll | _Sockets:
    """An empty set, of the kind that is best here."""
    return _Epoll() if _HAS_EPOLL else _Sockets()


class Multi:
    """Performs handles, and calls back with libcurl's code when one is over.

    All sockets are in a set of our own, and the loop watches that set: what is ready is
    dealt with in one turn, however much it is. pycurl's own integration has the loop watch every
    socket, and makes a future for every call; docs/decisions/0014 has the prices.
    """

    def __init__(self, *, idle_connections: int) -> None:
        self._sockets = sockets()
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._sockets.watch)
        self._multi.setopt(pycurl.M_MAXCONNECTS, idle_connections)
        # To be called before a socket is opened.
        self.expect_new_socket = self._sockets.expect_new
        self._calls: dict[pycurl.Curl, Done] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._soon: asyncio.Handle | None = None
        self._timer: asyncio.TimerHandle | None = None

    def perform(self, curl: pycurl.Curl, done: Done) -> None:
        """Begin a call; `done` gets libcurl's code, never before this returns."""
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
            self._loop.add_reader(self._sockets.fileno(), self._act)
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
            self._loop.remove_reader(self._sockets.fileno())
        for planned in (self._soon, self._timer):
            if planned is not None:
                planned.cancel()
        self._multi.close()
        self._sockets.close()

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
        """Begin new calls, on connections that have not ended by now."""
        self._soon = None
        self._deal_with_ready()
        self._multi.socket_action(pycurl.SOCKET_TIMEOUT, 0)
        self._call_back()

    def _act(self) -> None:
        self._deal_with_ready()
        self._call_back()

    def _deal_with_ready(self) -> None:
        act = self._multi.socket_action
        for descriptor, events in self._sockets.ready():
            act(descriptor, events)

    def _call_back(self) -> None:
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
