"""Where and with what a run was made: the machine, the versions, the commit of the program."""

import hashlib
import os
import platform
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic

from tradewind.storage import embedded

ROOT = Path(__file__).resolve().parents[1]
_UNKNOWN = "unknown"


@dataclass(frozen=True)
class Machine:
    """Where and with what a run was made."""

    cores: int
    processor: str
    memory_gib: float
    system: str
    python: str
    postgresql: str
    commit: str
    date: str

    def is_same(self, other: "Machine") -> bool:
        """Whether another run was of the same program on the same machine, on any day."""
        return replace(self, date="") == replace(other, date="")

    def sentence(self, command: str) -> str:
        """How a run was made, as a page about it says it."""
        return (
            f"`{command}` at commit `{self.commit}` on {self.date}: {self.cores} cores "
            f"({self.processor}), {self.memory_gib:.0f} GiB of memory, {self.system}, Python "
            f"{self.python}, PostgreSQL {self.postgresql}."
        )


class TakenTime:
    """Measures how much of the machine's time others took, from its creation on.

    On a virtual machine that is the time in which it had work to do, and no processor to do it.
    """

    def __init__(self) -> None:
        self._began = monotonic()
        self._before = _stolen_seconds()

    def share(self) -> float:
        """The share so far, of the time of all processors."""
        processors = os.cpu_count() or 1
        return (_stolen_seconds() - self._before) / ((monotonic() - self._began) * processors)


def _stolen_seconds() -> float:
    [line] = [
        line
        for line in Path("/proc/stat").read_text(encoding="utf-8").splitlines()
        if line.startswith("cpu ")
    ]
    return int(line.split()[8]) / os.sysconf("SC_CLK_TCK")


def this_machine(program: Sequence[str]) -> Machine:
    """This machine, and the commit of the folders that `program` names."""
    cpu = [
        line.partition(":")[2].strip()
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        if line.startswith("model name")
    ]
    return Machine(
        cores=len(os.sched_getaffinity(0)),
        processor=cpu[0] if cpu else platform.machine(),
        memory_gib=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30,
        system=f"{platform.system()} {platform.release().partition('-')[0]}",
        python=platform.python_version(),
        postgresql=_says(str(embedded.bin_dir() / "postgres"), "--version").split()[-1],
        commit=_program_commit(program),
        date=datetime.now(UTC).date().isoformat(),
    )


def _program_commit(program: Sequence[str]) -> str:
    """The last commit that changed the program, which a commit of its results leaves as it is."""
    commit = _says("git", "log", "-1", "--format=%h", "--", *program)
    if _says("git", "status", "--porcelain", "--", *program) == _UNKNOWN:
        return commit
    names = _says("git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *program)
    files = [ROOT / name for name in names.splitlines() if (ROOT / name).is_file()]
    content = hashlib.sha256(b"\0".join(file.read_bytes() for file in files)).hexdigest()
    return f"{commit} with changes {content[:8]}"


def _says(*command: str) -> str:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() or _UNKNOWN
