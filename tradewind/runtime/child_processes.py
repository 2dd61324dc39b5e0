"""Child processes: they end with their parent, and a port is checked before we serve on it."""

import ctypes
import multiprocessing
import os
import re
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

from tradewind.errors import CannotStart

# The environment variable that names the parent of a child process.
PARENT = "TRADEWIND_PARENT"

_PR_SET_PDEATHSIG = 1
_LISTEN = "0A"  # the state of a listening socket in /proc/net/tcp


def follow_parent() -> None:
    """End this process when `tradewind dev`, which started it, ends for any reason."""
    parent = os.environ.pop(PARENT, None)
    if parent is None:
        return
    die_with_parent(signal.SIGTERM)
    if os.getppid() != int(parent):  # it ended before we asked
        sys.exit(1)


def die_with_parent(signum: signal.Signals) -> None:
    """Make the kernel send us `signum` when our parent ends for any reason (Linux only)."""
    if sys.platform != "linux":
        return
    started_by = multiprocessing.parent_process()
    parent = os.getppid() if started_by is None else started_by.pid
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, int(signum))
    if os.getppid() != parent:  # it ended before we asked, perhaps during our imports
        os.kill(os.getpid(), signum)


def on_signal(signum: signal.Signals, callback: Callable[[], object]) -> None:
    """Call `callback` when the signal comes, before the handler that is already set.

    The server stops on a signal, but first waits for responses that only we can end. Call this in
    the main thread.
    """
    handler = signal.getsignal(signum)

    def handle(number: int, frame: FrameType | None) -> None:
        callback()
        if callable(handler):
            handler(number, frame)

    signal.signal(signum, handle)


def claim_port(host: str, port: int) -> int:
    """Check that no process listens on this port; 0 finds a free one.

    granian binds with SO_REUSEPORT: a second server on the same port would start without an error
    and take half of the requests.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        # As servers do, so that old connections of a stopped server do not block the port.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise CannotStart(
                f"Port {port} on {host} cannot be used ({error.strerror}); stop the process that "
                "listens there, or choose another port with TRADEWIND_PORT or --port."
            ) from None
        bound: int = probe.getsockname()[1]
        return bound


def count_listeners(host: str, port: int) -> int:
    """Count the sockets that listen on a TCP port.

    On Linux each of granian's processes has its own listening socket. Elsewhere they share one,
    which exists before them, so the count there is the largest possible one.
    """
    if sys.platform != "linux":
        return sys.maxsize if _accepts(host, port) else 0
    table = Path("/proc/net/tcp6" if ":" in host else "/proc/net/tcp")
    # Each line begins with its number, the local address, the remote address and the state.
    listening = re.compile(rf"^ *\d+: [0-9A-F]+:{port:04X} [0-9A-F]+:0000 {_LISTEN} ", re.MULTILINE)
    return len(listening.findall(table.read_text()))


def _accepts(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), timeout=1).close()
    except OSError:
        return False
    return True
