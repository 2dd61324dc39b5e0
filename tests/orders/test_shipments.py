"""Parcels: together they never hold more of a line than was ordered."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kit.orders import NOW, a_part, an_order

from tradewind.orders.wire import OrderOut
from tradewind.platforms.model import Item, PlatformOrder, PlatformOrderStatus, Shipment


def part_with(
    quantity: int,
    parcels: list[list[str]],
    *,
    shipped: bool,
    status: PlatformOrderStatus = PlatformOrderStatus.PAID,
) -> PlatformOrder:
    """An order of one line of so many pieces, and parcels that name the lines they hold."""
    line = Item("line", "7", "red", quantity, 1000, shipped=shipped)
    shipments = [Shipment("SF", f"SF{no}", NOW, ids) for no, ids in enumerate(parcels)]
    return a_part(status=status, items=[line], shipments=shipments)


def quantities(part: PlatformOrder) -> list[list[int | None]]:
    shown = OrderOut.of(an_order(parts=[part])).shipments
    return [[item.quantity for item in parcel.items] for parcel in shown]


@pytest.mark.parametrize(
    ("quantity", "parcels", "shipped", "expected"),
    [
        (2, [["line"]], True, [[2]]),
        (2, [["line"], ["line"]], True, [[1], [1]]),
        (2, [["line"], ["line"]], False, [[1], [1]]),
        (3, [["line"], ["line"]], True, [[None], [None]]),
        (2, [["line"], ["line"], ["line"]], True, [[None], [None], [None]]),
        (2, [["line"]], False, [[None]]),
        (1, [["line"]], False, [[1]]),
        (2, [["line", "line"]], True, [[2]]),
        (2, [["line", "of somebody else"]], True, [[2]]),
        (2, [[], ["line"]], True, [[], [2]]),
    ],
)
def test_a_parcel_holds_as_many_pieces_as_are_certain(
    quantity: int, parcels: list[list[str]], shipped: bool, expected: list[list[int | None]]
) -> None:
    assert quantities(part_with(quantity, parcels, shipped=shipped)) == expected


@pytest.mark.parametrize(
    "status",
    [PlatformOrderStatus.SHIPPED, PlatformOrderStatus.RECEIVED, PlatformOrderStatus.COMPLETED],
)
def test_the_only_parcel_of_a_shipped_order_holds_the_whole_line(
    status: PlatformOrderStatus,
) -> None:
    assert quantities(part_with(4, [["line"]], shipped=False, status=status)) == [[4]]


@given(
    quantity=st.integers(1, 6),
    parcels=st.lists(st.sampled_from([["line"], [], ["line", "line"]]), max_size=6),
    shipped=st.booleans(),
    status=st.sampled_from(PlatformOrderStatus),
)
def test_parcels_never_add_up_to_more_than_was_ordered(
    quantity: int, parcels: list[list[str]], shipped: bool, status: PlatformOrderStatus
) -> None:
    shown = quantities(part_with(quantity, parcels, shipped=shipped, status=status))

    assert sum(number or 0 for parcel in shown for number in parcel) <= quantity
