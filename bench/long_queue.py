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
_PARTS = 20


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

    Each quarter is the median of its five parts: the CPU that the same work takes changes by a
    quarter for seconds, and a single part is delivered in three.
    """
    subscriptions = [await bench.subscribe(endpoints.good)]
    for _ in range(rows // _AT_A_TIME):
        await bench.queue(subscriptions, _AT_A_TIME)
    inner = [rows * part // _PARTS for part in range(1, _PARTS)]
    counts = [rows // 100, *inner, rows - rows // 100]  # not how it starts, nor how it ends
    with workers.working(bench.url, 1) as running:
        postmaster = await bench.postmaster()
        marks = await asyncio.to_thread(
            workers.marks_at, running, counts, postmaster, endpoints.good_process_id
        )
        peak = running[0].peak_mib()
    return LongDrain(
        first_against_last(
            [mark.cpu_seconds for mark in marks], [mark.endpoint_cpu_seconds for mark in marks]
        ),
        first_against_last([mark.seconds for mark in marks], counts),
        marks[-1].memory_mib / marks[_PARTS // 10].memory_mib,
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
    return median(each[:quarter]) / median(each[-quarter:])
