"""The start of a long queue against its end, by the medians of their parts."""

from itertools import accumulate

import pytest

from bench.long_queue import first_against_last

_COUNTS = range(0, 1050, 50)


def _ratio(*each: float) -> float:
    """The ratio for twenty parts of 50 deliveries, of which each takes as long as is said."""
    return first_against_last([0, *accumulate(50 * took for took in each)], _COUNTS)


def test_a_cost_that_doubles_to_the_end_is_half() -> None:
    assert _ratio(*[1] * 10, *[2] * 10) == pytest.approx(0.5)


def test_two_slow_parts_of_five_change_nothing() -> None:
    assert _ratio(9, 1, 9, *[1] * 17) == pytest.approx(1)
    assert _ratio(*[1] * 17, 9, 1, 9) == pytest.approx(1)


def test_fewer_than_four_parts_have_no_quarters() -> None:
    with pytest.raises(ValueError, match="3 parts"):
        first_against_last([0, 1, 2, 3], [0, 1, 2, 3])
