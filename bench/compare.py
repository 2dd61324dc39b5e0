"""Compares this program with an earlier commit of it: both do the same work, turn by turn."""

import argparse
import asyncio
import io
import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    ExitStack,
    asynccontextmanager,
)
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import uvloop

from bench import orders, saved_comparison, scenarios
from bench.delivery_queue import Bench, opened
from bench.endpoints import Endpoints
from bench.saved_comparison import Compared
from bench.saved_results import PROGRAM
from bench.scenarios import FAN_OUT, FAN_OUT_EVENTS, SINGLE_EVENTS
from bench.servers import THIS_PROGRAM, Program
from tools.machine import ROOT, this_machine
from tradewind.observability import logs
from tradewind.runtime.wiring import tune_garbage_collection
from tradewind.storage import embedded

_TURNS = 5
# What was measured in a turn, by what it is.
Figures = Mapping[str, float]
Measure = Callable[[], Awaitable[Figures]]


@dataclass(frozen=True)
class Side:
    """One of the two programs, with a database of its own."""

    program: Program
    bench: Bench
    endpoints: Endpoints
    key: str
    approver: str


# Starts the processes of a side, and measures turns while they run.
Scenario = Callable[[Side], AbstractAsyncContextManager[Measure]]


def _fan_out(number: int, events: int, subscriptions: int) -> Scenario:
    @asynccontextmanager
    async def scenario(side: Side) -> AsyncIterator[Measure]:
        bench, endpoints = side.bench, side.endpoints
        async with scenarios.bursts(
            bench, endpoints, events, subscriptions, number=number, program=side.program
        ) as burst:

            async def measure() -> Figures:
                spent = await burst()
                return {"deliveries/s": spent.rate, "s of CPU for 1,000": spent.cpu}

            yield measure

    return scenario


def _latency(*, beside: bool) -> Scenario:
    @asynccontextmanager
    async def scenario(side: Side) -> AsyncIterator[Measure]:
        async with scenarios.latencies(
            side.bench, side.endpoints, beside=beside, program=side.program
        ) as percentiles:

            async def measure() -> Figures:
                p50, p99 = await percentiles()
                return {"p50 in ms": 1000 * p50, "p99 in ms": 1000 * p99}

            yield measure

    return scenario


@asynccontextmanager
async def _order(side: Side) -> AsyncIterator[Measure]:
    paying = orders.paying(side.bench.url, side.key, side.approver, side.program)
    with ExitStack() as stack:
        pay = await asyncio.to_thread(stack.enter_context, paying)

        async def measure() -> Figures:
            cpu = await asyncio.to_thread(pay)
            parts = {f"ms of it in {name}": 1000 * part for name, part in cpu.items()}
            return {"ms of CPU": 1000 * sum(cpu.values()), **parts}

        yield measure


SCENARIOS: Mapping[str, tuple[str, Scenario]] = {
    "fan-out": (
        f"{FAN_OUT_EVENTS} events for {FAN_OUT} subscriptions",
        _fan_out(1, FAN_OUT_EVENTS, FAN_OUT),
    ),
    "two-workers": (
        f"{FAN_OUT_EVENTS} events for {FAN_OUT}, two workers",
        _fan_out(2, FAN_OUT_EVENTS, FAN_OUT),
    ),
    "single": ("one event a transaction, one subscription", _fan_out(1, SINGLE_EVENTS, 1)),
    "latency": ("commit to arrival across processes", _latency(beside=False)),
    "beside": ("the same beside endpoints that never answer", _latency(beside=True)),
    "order": ("an order from its creation until it is paid", _order),
}


def checked_out(commit: str, folder: Path, root: Path = ROOT) -> Program:
    """The program as it was at a commit, in a folder of its own below `folder`."""
    find = ["git", "rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}"]
    name = subprocess.run(find, cwd=root, capture_output=True, text=True, check=False).stdout
    if not name:
        raise SystemExit(f"There is no commit {commit} here.")
    tree = folder / name.strip()[:12]
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir(parents=True)
    pack = ["git", "archive", "--format=tar", name.strip()]
    archive = subprocess.run(pack, cwd=root, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        files.extractall(tree, filter="data")
    return Program(tree)


def compared(name: str, before: Sequence[Figures], now: Sequence[Figures]) -> Sequence[Compared]:
    """The medians of each figure, and of the ratios of each turn, with the lowest and highest."""
    rows = []
    for what in now[0]:
        ratios = [new[what] / old[what] for old, new in zip(before, now, strict=True)]
        old, new = (median(figures[what] for figures in turns) for turns in (before, now))
        whole = f"{name}: {what}"
        rows.append(Compared(whole, len(now), old, new, median(ratios), min(ratios), max(ratios)))
    return rows


async def compare(before: Program, names: Sequence[str], turns: int) -> Sequence[Compared]:
    """Compare each figure; print its line as soon as its turns are over."""
    print(f"{'':65} {'before':>10} {'now':>10}   now / before (lowest to highest)")
    rows: list[Compared] = []
    async with AsyncExitStack() as stack:
        sides = [
            await stack.enter_async_context(opened_side(program))
            for program in (before, THIS_PROGRAM)
        ]
        for name in names:
            title, scenario = SCENARIOS[name]
            measured: tuple[list[Figures], list[Figures]] = ([], [])
            async with scenario(sides[0]) as measure_before, scenario(sides[1]) as measure_now:
                both = list(zip(measured, (measure_before, measure_now), strict=True))
                for turn in range(turns):
                    # Each is first in every second turn.
                    for figures, measure in both if turn % 2 else reversed(both):
                        figures.append(await measure())
            figures_of_both = compared(title, *measured)
            rows += figures_of_both
            print("\n".join(row.line for row in figures_of_both), flush=True)
    return rows


@asynccontextmanager
async def opened_side(program: Program) -> AsyncIterator[Side]:
    """A program on a new database. Tables and accounts are made by the program itself."""
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="tradewind-compare-"))
        server = await stack.enter_async_context(embedded.running(Path(folder)))
        keys = await asyncio.to_thread(_make_accounts, program, server.url())
        bench = await stack.enter_async_context(opened(server.url()))
        yield Side(program, bench, stack.enter_context(Endpoints()), *keys)


def _make_accounts(program: Program, database_url: str) -> tuple[str, str]:
    """The API keys of a buyer and of an approver."""
    environ = program.environ({"TRADEWIND_DATABASE_URL": database_url})

    def command(*words: str) -> str:
        words = (sys.executable, "-m", "tradewind", *words, "--json")
        done = subprocess.run(
            words, cwd=program.folder, env=environ, stdout=subprocess.PIPE, text=True, check=False
        )
        if done.returncode:
            raise SystemExit(f"`tradewind {words[3]}` of one of the commits failed.")
        return done.stdout

    command("migrate")
    keys = []
    for role in ("buyer", "approver"):
        email = f"{role}@compare.example"
        command("account", "create", email, "--role", role)
        keys.append(json.loads(command("keys", "create", email, "compare"))["key"])
    return keys[0], keys[1]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.compare", description=__doc__)
    parser.add_argument("commit", help="the commit to compare with")
    parser.add_argument("--turns", type=int, default=_TURNS, help="how often each is measured")
    parser.add_argument("--only", nargs="+", choices=SCENARIOS, default=list(SCENARIOS))
    parser.add_argument(
        "--json",
        type=Path,
        help="a file for the figures; performance.md beside it gets their table",
    )
    options = parser.parse_args()
    logs.configure("json", "error")
    tune_garbage_collection()
    before = checked_out(options.commit, ROOT / "build/compare")
    rows = uvloop.run(compare(before, options.only, options.turns))
    if options.json:
        saved_comparison.save(options.json, this_machine(PROGRAM), options.commit, rows)
        print(f"\nWrote {options.json} and the table on the page beside it.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
