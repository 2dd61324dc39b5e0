"""Starts a PostgreSQL program that ends with its parent, as user `nobody` if started by root."""

# `storage/embedded.py` runs this file as `python -I -S <this file> <parent's pid> <program> …`. It
# is a program and not a `preexec_fn`, which would run Python between fork and exec in a copy of a
# process with other threads, where a lock of theirs may be held forever.
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
        # After the change of credentials, which clears it. SIGINT is PostgreSQL's fast shutdown.
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGINT)
    if os.getppid() != int(parent):  # it ended before we set the signal
        sys.exit("FATAL:  the process that started PostgreSQL is gone")
    try:
        os.execv(command[0], command)  # noqa: S606 - an argument list of ours, no shell wanted
    except OSError as error:
        sys.exit(f"FATAL:  {command[0]} cannot be run: {error.strerror}")


def _become_nobody(libc: ctypes.CDLL) -> None:
    """Enter a user namespace where root is called nobody, because PostgreSQL does not run as root.

    To the system outside we stay the owner of root's files, so no directory changes its owner; we
    only lose root's access to the files of others.
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
