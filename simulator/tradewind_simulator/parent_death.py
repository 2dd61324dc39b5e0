"""Ends a process of the simulator when its parent process ends."""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def exit_with_parent() -> None:
    """Ask the kernel for a SIGTERM when our parent dies, however it dies (Linux only)."""
    if sys.platform != "linux":
        return
    parent = os.getppid()
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, int(signal.SIGTERM))
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGTERM)
