"""Processes: a child dies with its parent, and a port is really ours before we serve on it."""

import ctypes
import multiprocessing
import os
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

from tradewind.errors import CannotStart

# Set for our children: the process that they die with.
PARENT = "TRADEWIND_PARENT"

_PR_SET_PDEATHSIG = 1
_LISTEN = "0A"  # the state of a listening socket in /proc/net/tcp


def follow_parent() -> None:
    """In a child that `tradewind dev` started: end when it ends, however it does."""
    parent = os.environ.pop(PARENT, None)
    if parent is None:
        return
    die_with_parent(signal.SIGTERM)
    if os.getppid() != int(parent):  # it died before we asked
        sys.exit(1)


def die_with_parent(signum: signal.Signals) -> None:
    """Ask the kernel to send us `signum` when our parent dies, however it dies (Linux only)."""
    if sys.platform != "linux":
        return
    started_by = multiprocessing.parent_process()
    parent = os.getppid() if started_by is None else started_by.pid
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, int(signum))
    if os.getppid() != parent:  # it died before we asked, perhaps while we were still importing
        os.kill(os.getpid(), signum)


def on_signal(signum: signal.Signals, act: Callable[[], object]) -> None:
    """Also `act` when the signal comes, before whatever was to happen then.

    For a process whose loop has its handler already: the server stops when it is told to, but
    first waits for answers that only we can end. It must be called in the main thread.
    """
    before = signal.getsignal(signum)

    def handle(number: int, frame: FrameType | None) -> None:
        act()
        if callable(before):
            before(number, frame)

    signal.signal(signum, handle)


def claim_port(host: str, port: int) -> int:
    """Make sure that nobody listens on this port; 0 finds a free one.

    granian binds with SO_REUSEPORT, by which a second server on the same port would start
    silently and take half of the requests.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        # As servers do, so that connections of a server that just stopped are not in the way.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise CannotStart(
                f"Port {port} on {host} cannot be used ({error.strerror}); stop what listens "
                "there, or choose another with TRADEWIND_PORT or --port."
            ) from None
        bound: int = probe.getsockname()[1]
        return bound


def count_listeners(host: str, port: int) -> int:
    """Count the sockets that listen on a TCP port.

    On Linux each of granian's processes has a listening socket of its own. Elsewhere they share
    one that exists before them; there, this counts as many as anybody could wait for.
    """
    if sys.platform != "linux":
        return sys.maxsize if _accepts(host, port) else 0
    wanted = f":{port:04X}"
    count = 0
    for table in (Path("/proc/net/tcp"), Path("/proc/net/tcp6")):
        lines = table.read_text().splitlines()[1:] if table.exists() else []
        for line in lines:
            _, local, _, state = line.split(maxsplit=4)[:4]
            count += local.endswith(wanted) and state == _LISTEN
    return count


def _accepts(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), timeout=1).close()
    except OSError:
        return False
    return True
