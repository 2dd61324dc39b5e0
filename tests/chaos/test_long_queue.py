"""A very long queue: its end is delivered as fast as its start, in constant memory."""

import os

from kit import scorecard

from bench.delivery_queue import opened
from bench.endpoints import Endpoints
from bench.long_queue import drain_long_queue

# `make chaos` has more, and a soak has a million, which takes minutes.
_FEW = 24_000
_ROWS = int(os.environ.get("SOAK_ROWS", _FEW))
_MANY = 100_000


async def test_a_long_queue_is_drained_at_one_rate_and_in_flat_memory(database_url: str) -> None:
    async with opened(database_url) as bench:
        with Endpoints() as endpoints:
            drain = await drain_long_queue(bench, endpoints, _ROWS)

    scorecard.record(
        19,
        _ROWS,
        cpu_ratio=drain.cpu_ratio,
        memory_ratio=drain.memory_ratio,
        peak_mib=drain.peak_mib,
    )
    assert drain.memory_ratio <= 1.2
    assert drain.peak_mib <= 300
    # A quarter of a few rows is a second or two, and other tests run beside it: that shows nothing.
    if _ROWS >= _MANY:
        assert drain.cpu_ratio >= 0.8
