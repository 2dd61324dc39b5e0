"""Simulates cells: complete clusters, to each of which accounts are assigned. Pure."""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

CELLS_ORDERS_A_DAY = (10_000_000, 30_000_000, 100_000_000)
ORDERS_AN_ACCOUNT = 1_000
# The load of the n-th largest account is in proportion to 1 / n ** SKEW.
SKEW = 0.8
_MOST_CELLS = 10_000


class AccountTooLarge(ValueError):
    """An account has more orders than one cell carries."""

    def __init__(self, orders_a_day: int, loads: Sequence[float], cell_orders: float) -> None:
        super().__init__(
            f"The largest account has {loads[0]:,.0f} orders a day, and a cell carries"
            f" {cell_orders:,.0f}."
        )
        self.accounts = len(loads)
        self.share_of_orders = loads[0] / orders_a_day
        self.share_of_cell = loads[0] / cell_orders
        self.orders = loads[0]


@dataclass(frozen=True)
class CellPlan:
    """Accounts on cells. Loads are shares of what one cell carries at its target utilisation.

    When the fullest cell is lost, its accounts stop and the others go on. `after_move` is the load
    of the fullest of the others once the accounts of the lost one were restored to them.
    """

    orders_a_day: int
    accounts: int
    largest_account: float
    cells: int
    fullest: float
    emptiest: float
    lost_orders: float
    lost_accounts: float
    after_move: float | None


def account_loads(orders_a_day: int, accounts: int, skew: float = SKEW) -> Sequence[float]:
    """The orders a day of each account, the largest first."""
    weights = [1 / (number**skew) for number in range(1, accounts + 1)]
    total = sum(weights)
    return [orders_a_day * weight / total for weight in weights]


def assign(loads: Sequence[float], cells: int) -> Sequence[Sequence[float]]:
    """The loads of each cell: every account, the largest first, goes to the emptiest cell."""
    assigned: list[list[float]] = [[] for _ in range(cells)]
    emptiest = [(0.0, number) for number in range(cells)]
    for load in sorted(loads, reverse=True):
        total, number = heapq.heappop(emptiest)
        assigned[number].append(load)
        heapq.heappush(emptiest, (total + load, number))
    return assigned


def plan(orders_a_day: int, cell_orders: float, *, skew: float = SKEW) -> CellPlan:
    """The fewest cells on which no cell has more than `cell_orders` a day."""
    accounts = max(1, orders_a_day // ORDERS_AN_ACCOUNT)
    loads = account_loads(orders_a_day, accounts, skew)
    if loads[0] > cell_orders:
        raise AccountTooLarge(orders_a_day, loads, cell_orders)
    cells = max(1, -int(-orders_a_day // cell_orders))
    while cells <= _MOST_CELLS:
        assigned = assign(loads, cells)
        fullest = max(assigned, key=sum)
        if sum(fullest) <= cell_orders:
            return _plan(orders_a_day, cell_orders, assigned, fullest, loads)
        cells += 1
    raise ValueError(f"More than {_MOST_CELLS:,} cells would be needed.")


def _plan(
    orders_a_day: int,
    cell_orders: float,
    assigned: Sequence[Sequence[float]],
    fullest: Sequence[float],
    loads: Sequence[float],
) -> CellPlan:
    totals = sorted(map(sum, assigned))
    return CellPlan(
        orders_a_day,
        len(loads),
        loads[0] / orders_a_day,
        len(assigned),
        totals[-1] / cell_orders,
        totals[0] / cell_orders,
        totals[-1] / orders_a_day,
        len(fullest) / len(loads),
        _after_move(totals[:-1], fullest, cell_orders),
    )


def _after_move(
    others: Sequence[float], moved: Sequence[float], cell_orders: float
) -> float | None:
    """The load of the fullest cell after more accounts were moved to these; None without any."""
    if not others:
        return None
    totals = list(others)
    heapq.heapify(totals)
    for load in sorted(moved, reverse=True):
        heapq.heappush(totals, heapq.heappop(totals) + load)
    return max(totals) / cell_orders
