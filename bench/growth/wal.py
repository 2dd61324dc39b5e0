"""Counts the commits in the WAL of transactions that wrote to logged tables."""

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tradewind.storage import embedded

_RECORD = re.compile(
    r"^rmgr: (\w+) .*?\btx: +(\d+), lsn: ([0-9A-F]+)/([0-9A-F]+), .*?desc: (\w+)", re.MULTILINE
)
_SECONDS = 120
# From one byte position of the WAL up to another.
Range = tuple[int, int]


def logged_commits(directory: Path, ranges: Sequence[Range]) -> int:
    """How many transactions committed within these ranges, in order, that changed logged tables.

    A transaction that changes unlogged tables only has nothing in the WAL but its commit, and waits
    for no disk. Everything up to the end has to be on disk.
    """
    if not ranges or ranges[0][0] == ranges[-1][1]:
        return 0
    command = [str(embedded.bin_dir() / "pg_waldump"), "--path", str(directory)]
    command += ["--start", _shown(ranges[0][0]), "--end", _shown(ranges[-1][1])]
    done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
    if done.returncode:
        raise RuntimeError(f"pg_waldump could not read the WAL: {done.stderr.strip()}")
    return count_commits(done.stdout, ranges)


def count_commits(records: str, ranges: Sequence[Range]) -> int:
    """Count them in the output of pg_waldump."""
    changed: set[str] = set()
    commits = 0
    for kind, transaction, high, low, action in _RECORD.findall(records):
        if kind != "Transaction":
            changed.add(transaction)
        elif action == "COMMIT" and transaction in changed:
            position = (int(high, 16) << 32) + int(low, 16)
            commits += any(start <= position < end for start, end in ranges)
    return commits


def _shown(position: int) -> str:
    """A position as PostgreSQL shows it."""
    return f"{position >> 32:X}/{position & 0xFFFFFFFF:08X}"
