"""Bursts: a row shows the one in the middle, whatever disturbed the others."""

from bench.processes import Spent
from bench.scenarios import middle


def test_the_middle_burst_is_the_one_with_the_median_cpu() -> None:
    calm, disturbed, usual = (
        Spent(rate, appender=0.01, worker=worker, database=0.03)
        for rate, worker in ((20_000, 0.03), (900, 2.0), (16_000, 0.05))
    )

    assert middle([disturbed, calm, usual]) is usual
