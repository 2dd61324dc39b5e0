"""Which of the orders found under our reference are the one that we meant. Pure."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from tradewind.platforms.model import Line, PlatformOrder


@dataclass(frozen=True, slots=True)
class Match:
    """The parts that make up the order, those that are one too many, and whether any is missing."""

    parts: Sequence[PlatformOrder]
    surplus: Sequence[PlatformOrder]
    complete: bool


def match(lines: Sequence[Line], found: Sequence[PlatformOrder]) -> Match:
    """Take the earliest orders until all that was ordered is there.

    A platform may have split the order, and shows the parts one after another; or a gateway may
    have sent it twice, and then there is more than was ordered.
    """
    named = all(item.product_id for part in found for item in part.items)
    wanted: Counter[str] = Counter()
    for line in lines:
        wanted[line.product_id if named else ""] += line.quantity
    parts: list[PlatformOrder] = []
    surplus: list[PlatformOrder] = []
    for part in sorted(found, key=lambda one: (len(one.id), one.id)):
        has: Counter[str] = Counter()
        for item in part.items:
            has[(item.product_id or "") if named else ""] += item.quantity
        if not parts or any(wanted[product] >= number for product, number in has.items()):
            parts.append(part)
            wanted.subtract(has)
        else:
            surplus.append(part)
    return Match(parts, surplus, complete=all(left <= 0 for left in wanted.values()))
