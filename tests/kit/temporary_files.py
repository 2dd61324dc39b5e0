"""Chooses where the tests keep their temporary files: in memory, where there is enough of it."""

import os
import tempfile
from pathlib import Path

_MEMORY = Path("/dev/shm")  # noqa: S108 - pytest creates a folder of its own in it
# Three processes with a PostgreSQL each, and the files of all failed tests.
_BYTES = 6 * 2**30


def keep_in_memory() -> None:
    """Let this process and all that it starts make temporary files in memory.

    A copy of a database is hundreds of files: to write and to delete them on a disk takes ten times
    the processor time. Whoever sets TMPDIR keeps it. A memory folder that is small, as in many
    containers, or from which no program may be run, is not used.
    """
    if "TMPDIR" not in os.environ and _is_usable(_MEMORY):
        os.environ["TMPDIR"] = str(_MEMORY)
        tempfile.tempdir = None  # asks for TMPDIR again


def _is_usable(folder: Path) -> bool:
    if not os.access(folder, os.W_OK):
        return False
    status = os.statvfs(folder)
    return not status.f_flag & os.ST_NOEXEC and status.f_bavail * status.f_frsize >= _BYTES
