"""Runs every benchmark on an embedded PostgreSQL, and fails if a required ratio is not met."""

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path

import uvloop

from bench import deliveries, journal, marketplaces, me, orders, saved_results
from bench.results import Results
from tools.machine import TakenTime, this_machine
from tradewind.storage import embedded


async def run(results: Results) -> None:
    with tempfile.TemporaryDirectory(prefix="tradewind-bench-") as folder:
        async with embedded.running(Path(folder)) as server:
            key, token = await me.prepare(server.url())
            await asyncio.to_thread(me.run, server.url(), key, token, results)
            await asyncio.to_thread(marketplaces.run, server.url(), key, results)
            await asyncio.to_thread(orders.run, server.url(), key, results)
            await asyncio.to_thread(uvloop.run, journal.run(server.url(), results))
            await asyncio.to_thread(uvloop.run, deliveries.run(server.url(), results))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument(
        "--json",
        type=Path,
        help="a file for the rows; performance.md beside it gets their table",
    )
    options = parser.parse_args()
    results = Results()
    taken = TakenTime()
    asyncio.run(run(results))
    print(f"\nOthers took {taken.share():.0%} of the machine's time meanwhile.")
    if options.json:
        saved_results.save(
            options.json, this_machine(saved_results.PROGRAM), taken.share(), results.rows
        )
        print(f"\nWrote {options.json} and the table in {saved_results.page_of(options.json)}.")
    return 0 if results.held else 1


if __name__ == "__main__":
    sys.exit(main())
