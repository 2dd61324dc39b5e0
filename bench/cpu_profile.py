"""Says where the processes of a scenario spend their CPU, of this program and of an earlier one."""

import argparse
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import uvloop

from bench import servers
from bench.compare import SCENARIOS, Measure, checked_out, opened_side
from bench.servers import THIS_PROGRAM, Program
from tools.machine import ROOT
from tradewind.observability import logs
from tradewind.runtime.wiring import tune_garbage_collection

_TURNS = 5
_FOLDER = ROOT / "build/profile"
_SAMPLES_A_SECOND = 250
_SHOWN = 25
_ATTACH_SECONDS = 30
_PROCESS = re.compile(r'^process \d+:".*";?')
_OUTSIDE = "(a thread without Python code)"
# What is profiled, by a part of the command that started it.
_PROCESSES = {
    "worker": "-m tradewind worker",
    "API": "-m tradewind serve",
    "appender": "-m bench.appender",
}


@dataclass(frozen=True)
class FunctionShare:
    """A function's share of the samples: those in itself, and those in what it called too."""

    function: str
    itself: float
    whole: float


def shares(stacks: str) -> Sequence[FunctionShare]:
    """The share of each function, the largest first; a line is `caller;…;function number`.

    Before the first caller, a line names the process, by its command in quotation marks.
    """
    itself: Counter[str] = Counter()
    whole: Counter[str] = Counter()
    for line in stacks.splitlines():
        frames, _, number = line.rpartition(" ")
        called = _PROCESS.sub("", frames)
        functions = called.split(";") if called else [_OUTSIDE]
        itself[functions[-1]] += int(number)
        for function in set(functions):
            whole[function] += int(number)
    samples = itself.total()
    return [
        FunctionShare(function, number / samples, whole[function] / samples)
        for function, number in itself.most_common()
    ]


def tell(title: str, found: Sequence[FunctionShare]) -> None:
    """Print the functions with the largest shares."""
    print(f"\n{title}\n  itself   whole")
    for share in found[:_SHOWN]:
        print(f"  {share.itself:6.1%}  {share.whole:6.1%}  {share.function}")


def running_processes(parent: int) -> Mapping[str, int]:
    """The children of a process that are profiled, by what they are."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            is_child = servers.parent_of(int(folder.name)) == parent
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:  # it has ended
            continue
        for name, part in _PROCESSES.items():
            if is_child and part in command:
                found[name] = int(folder.name)
    return found


@contextmanager
def sampled(process_id: int, file: Path) -> Iterator[None]:
    """Sample the stacks of a process and its children while the block runs, into a file."""
    command = [
        *(str(Path(sys.executable).with_name("py-spy")), "record", "--pid", str(process_id)),
        *("--subprocesses", "--function", "--rate", str(_SAMPLES_A_SECOND)),
        *("--format", "raw", "--output", str(file), "--duration", "unlimited"),
    ]
    sampler = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        yield
    finally:
        sampler.send_signal(signal.SIGINT)
        said, _ = sampler.communicate(timeout=_ATTACH_SECONDS)
    if sampler.returncode or not file.exists():
        raise SystemExit(f"The process {process_id} could not be sampled: {said.strip()}")


async def profile(program: Program, label: str, names: Sequence[str], turns: int) -> None:
    """Print the shares of each process in each scenario, and keep the stacks in a folder."""
    _FOLDER.mkdir(parents=True, exist_ok=True)
    async with opened_side(program) as side:
        for name in names:
            title, scenario = SCENARIOS[name]
            async with scenario(side) as measure:
                await measure()  # until every statement is planned, and every connection open
                files = await _sample(measure, f"{label}-{name}", turns)
            for process, file in files.items():
                found = shares(file.read_text(encoding="utf-8"))
                tell(f"{label}, {title}: {process} ({file.relative_to(ROOT)})", found)


async def _sample(measure: Measure, prefix: str, turns: int) -> Mapping[str, Path]:
    """Sample every process while a scenario takes its turns; the files of their stacks."""
    files = {}
    with ExitStack() as stack:
        for process, process_id in running_processes(os.getpid()).items():
            files[process] = _FOLDER / f"{prefix}-{process}.txt"
            files[process].unlink(missing_ok=True)
            stack.enter_context(sampled(process_id, files[process]))
        for _ in range(turns):
            await measure()
    return files


async def profile_all(programs: Mapping[str, Program], names: Sequence[str], turns: int) -> None:
    """Profile one program after the other."""
    for label, program in programs.items():
        await profile(program, label, names, turns)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.cpu_profile", description=__doc__)
    parser.add_argument("--with", dest="commit", help="an earlier commit, which is profiled first")
    parser.add_argument("--turns", type=int, default=_TURNS, help="how often each is run")
    parser.add_argument("--only", nargs="+", choices=SCENARIOS, default=["fan-out", "order"])
    options = parser.parse_args()
    logs.configure("json", "error")
    tune_garbage_collection()
    programs = {"now": THIS_PROGRAM}
    if options.commit:
        before = checked_out(options.commit, ROOT / "build/compare")
        programs = {options.commit: before, **programs}
    uvloop.run(profile_all(programs, options.only, options.turns))
    return 0


if __name__ == "__main__":
    sys.exit(main())
