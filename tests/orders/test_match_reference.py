"""Which of the orders found under our reference are the one that we meant."""

from collections.abc import Sequence

import pytest
from kit.orders import a_part, an_item

from tradewind.orders.match_reference import match
from tradewind.platforms.model import Item, Line, PlatformOrder

A2 = [Line("a", None, 2)]
A1B1 = [Line("a", None, 1), Line("b", "red", 1)]


def part(name: str, *items: Item) -> PlatformOrder:
    return a_part(name, items=items)


def nameless(quantity: int) -> Item:
    return Item("line", None, None, quantity, 1000, shipped=False)


CASES = [
    # what was ordered, what was found, which of it is the order, what is too much, is all there
    ("nothing was made", A2, [], [], [], False),
    ("one order", A2, [part("10", an_item("a", 2))], ["10"], [], True),
    ("split by number", A2, [part("11", an_item("a")), part("10", an_item("a"))],
     ["10", "11"], [], True),
    ("split by product", A1B1, [part("10", an_item("a")), part("11", an_item("b"))],
     ["10", "11"], [], True),
    ("half of a split", A1B1, [part("10", an_item("a"))], ["10"], [], False),
    ("sent twice", A2, [part("10", an_item("a", 2)), part("11", an_item("a", 2))],
     ["10"], ["11"], True),
    ("split, and sent twice", A1B1,
     [part("10", an_item("a")), part("11", an_item("b")),
      part("12", an_item("a")), part("13", an_item("b"))],
     ["10", "11"], ["12", "13"], True),
    ("the earlier id is the shorter one", A2,
     [part("100", an_item("a", 2)), part("99", an_item("a", 2))], ["99"], ["100"], True),
    ("a platform that names no products", A2, [part("10", nameless(2)), part("11", nameless(2))],
     ["10"], ["11"], True),
    ("no products, and a split", A1B1, [part("10", nameless(1)), part("11", nameless(1))],
     ["10", "11"], [], True),
    ("more than was ordered", A2, [part("10", an_item("a", 3))], ["10"], [], True),
]  # fmt: skip


@pytest.mark.parametrize(
    ("lines", "found", "parts", "surplus", "complete"),
    [case[1:] for case in CASES],
    ids=[case[0] for case in CASES],
)
def test_the_earliest_orders_that_make_up_what_was_ordered_are_it(
    lines: Sequence[Line],
    found: Sequence[PlatformOrder],
    parts: list[str],
    surplus: list[str],
    complete: bool,
) -> None:
    matched = match(lines, found)

    assert [part.id for part in matched.parts] == parts
    assert [item.id for item in matched.surplus] == surplus
    assert matched.complete is complete
