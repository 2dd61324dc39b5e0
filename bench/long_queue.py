"""A long queue of one subscription: what its end costs against its start, and the memory."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from bench import workers
from bench.delivery_queue import Bench
from bench.endpoints import Endpoints

_AT_A_TIME = 50_000
_MOST_PARTS = 20
# A part is a second of work or more: CPU is counted in hundredths of a second, and looked at four
# times a second.
_LEAST_IN_A_PART = 5_000


@dataclass(frozen=True)
class LongDrain:
    """How a worker drained a long queue: its first quarter against its last, and its memory.

    `cpu_ratio` is that of the CPU for a delivery, of the worker and PostgreSQL together, against
    the CPU of the endpoint. The endpoint does the same for each delivery: so a machine that becomes
    slower meanwhile does not look like a queue that costs more.
    """

    cpu_ratio: float
    rate_ratio: float
    memory_ratio: float
    peak_mib: float


async def drain_long_queue(bench: Bench, endpoints: Endpoints, rows: int) -> LongDrain:
    """Have one worker deliver `rows` pending rows of one subscription.

    What was queued is vacuumed and analyzed before: so autovacuum does not do it meanwhile, and the
    statistics are those that a long queue has had for a while. Each quarter of a hundred thousand
    rows or more is the median of its five parts: the CPU that the same work takes changes by a
    quarter for seconds, and a single part of a million is delivered in three. Fewer rows make fewer
    parts.
    """
    if rows < 4 * _LEAST_IN_A_PART:
        raise ValueError(f"A quarter of {rows} rows is too little work to measure its CPU.")
    subscriptions = [await bench.subscribe(endpoints.good)]
    for queued in range(0, rows, _AT_A_TIME):
        await bench.queue(subscriptions, min(_AT_A_TIME, rows - queued))
    await bench.settle("delivery_queue")
    parts = min(_MOST_PARTS, rows // _LEAST_IN_A_PART)
    inner = [rows * part // parts for part in range(1, parts)]
    counts = [rows // 100, *inner, rows - rows // 100]  # not how it starts, nor how it ends
    with workers.working(bench.url, 1) as running:
        postmaster = await bench.postmaster()
        marks = await asyncio.to_thread(
            workers.marks_at, running, counts, postmaster, endpoints.good_process_id
        )
        peak = running[0].peak_mib()
    # Where the machine stood still, one look may have passed two marks: that is one longer part.
    marks = list(dict.fromkeys(marks))
    return LongDrain(
        first_against_last(
            [mark.cpu_seconds for mark in marks], [mark.endpoint_cpu_seconds for mark in marks]
        ),
        first_against_last([mark.seconds for mark in marks], [mark.delivered for mark in marks]),
        marks[-1].memory_mib / marks[max(1, parts // 10)].memory_mib,
        peak,
    )


def first_against_last(spent: Sequence[float], counts: Sequence[float]) -> float:
    """What one of `counts` took in the first quarter of the parts, against the last."""
    each = [
        (spent_by - spent_before) / (count - count_before)
        for (spent_before, spent_by), (count_before, count) in zip(
            pairwise(spent), pairwise(counts), strict=True
        )
    ]
    quarter = len(each) // 4
    if not quarter:
        raise ValueError(f"{len(each)} parts have no quarters.")
    return median(each[:quarter]) / median(each[-quarter:])
