"""Turns into a PostgreSQL program that dies with its parent and, started by root, is nobody."""

# `storage/embedded.py` runs this file as `python -I -S <this file> <parent's pid> <program> …`. A
# small program of its own, and not a `preexec_fn`: that one would run Python between fork and exec
# in a copy of a process with other threads, where any lock of theirs may be held for ever.
import ctypes
import os
import signal
import sys
from pathlib import Path

# Exit status: this system lets root make no user namespace. PostgreSQL's programs use 0 to 3.
NO_NAMESPACE = 71

_CLONE_NEWUSER = 0x10000000
_PR_SET_PDEATHSIG = 1
_NOBODY = 65534


def main() -> None:
    parent, *command = sys.argv[1:]
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        if os.geteuid() == 0:
            _become_nobody(libc)
        # Only now, since a change of credentials clears it. SIGINT is PostgreSQL's fast shutdown.
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGINT)
    if os.getppid() != int(parent):  # it died before we asked to die with it
        sys.exit("FATAL:  the process that started PostgreSQL is gone")
    try:
        os.execv(command[0], command)  # noqa: S606 - an argument list of ours, no shell wanted
    except OSError as error:
        sys.exit(f"FATAL:  {command[0]} cannot be run: {error.strerror}")


def _become_nobody(libc: ctypes.CDLL) -> None:
    """Enter a user namespace where root is called nobody, since PostgreSQL refuses root by name.

    To the system outside we stay the owner of root's files, so no folder changes hands; what we
    give up is root's power over everybody else's.
    """
    maps = {
        "uid_map": f"{_NOBODY} {os.geteuid()} 1",
        "setgroups": "deny",
        "gid_map": f"{_NOBODY} {os.getegid()} 1",
    }
    if libc.unshare(_CLONE_NEWUSER) != 0:
        sys.exit(NO_NAMESPACE)
    try:
        for name, text in maps.items():
            Path("/proc/self", name).write_text(text, encoding="ascii")
    except OSError:
        sys.exit(NO_NAMESPACE)


if __name__ == "__main__":
    main()
