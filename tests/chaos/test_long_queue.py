"""A very long queue: its end is delivered as fast as its start, in constant memory."""

import os

import pytest
from kit import scorecard

from bench.delivery_queue import opened
from bench.endpoints import Endpoints
from bench.long_queue import drain_long_queue

# A soak has a million, which takes minutes.
_ROWS = int(os.environ.get("SOAK_ROWS", "0"))


@pytest.mark.skipif(not _ROWS, reason="only in a soak")
async def test_a_million_rows_are_drained_at_one_rate_and_in_flat_memory(database_url: str) -> None:
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
    assert drain.cpu_ratio >= 0.8
    assert drain.memory_ratio <= 1.2
    assert drain.peak_mib <= 300
