"""Cells: accounts are assigned so that none is too full, and the loss of one stops a share."""

import pytest

from bench.growth import cells
from bench.growth.cells import AccountTooLarge


def test_loads_add_up_and_the_largest_comes_first() -> None:
    loads = cells.account_loads(1_000, 4, skew=1.0)

    assert sum(loads) == pytest.approx(1_000)
    assert loads == pytest.approx([480.0, 240.0, 160.0, 120.0])
    assert cells.account_loads(100, 4, skew=0.0) == [25.0] * 4


def test_each_account_goes_to_the_emptiest_cell() -> None:
    assert cells.assign([1.0, 5.0, 3.0, 2.0], 2) == [[5.0, 1.0], [3.0, 2.0]]


def test_one_cell_is_enough_as_long_as_everything_fits() -> None:
    plan = cells.plan(1_000_000, 2_000_000.0)

    assert (plan.cells, plan.after_move) == (1, None)
    assert (plan.fullest, plan.emptiest, plan.lost_orders) == pytest.approx((0.5, 0.5, 1.0))
    assert plan.lost_accounts == 1.0


@pytest.mark.parametrize("orders", [10_000_000, 30_000_000])
def test_no_cell_is_too_full_and_the_loss_of_one_stops_its_share_only(orders: int) -> None:
    plan = cells.plan(orders, 4_000_000.0)

    assert orders / 4_000_000 <= plan.cells <= orders / 4_000_000 + 1
    assert plan.emptiest <= plan.fullest <= 1.0
    assert plan.lost_orders == pytest.approx(plan.fullest * 4_000_000 / orders)
    assert plan.after_move is not None
    assert plan.fullest < plan.after_move < plan.fullest * 2
    # What is moved is what the others have more.
    assert plan.after_move == pytest.approx(orders / 4_000_000 / (plan.cells - 1), rel=0.05)


def test_an_account_that_is_larger_than_a_cell_does_not_fit() -> None:
    with pytest.raises(AccountTooLarge, match="a cell carries 1,000"):
        cells.plan(10_000_000, 1_000.0)
