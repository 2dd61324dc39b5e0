"""Matches the orders that a marketplace has under our reference to what was ordered. Pure."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from tradewind.platforms.model import Line, PlatformOrder


@dataclass(frozen=True, slots=True)
class Match:
    """The parts that make up the order, those beyond it, and whether no part is missing."""

    parts: Sequence[PlatformOrder]
    surplus: Sequence[PlatformOrder]
    complete: bool


def match(lines: Sequence[Line], listed: Sequence[PlatformOrder]) -> Match:
    """Take the earliest orders until everything that was ordered is covered.

    A marketplace may have split the order, and shows the parts one after another; or a gateway may
    have sent it twice, and then there is more than was ordered.
    """
    has_products = all(item.product_id for part in listed for item in part.items)
    missing: Counter[str] = Counter()
    for line in lines:
        missing[line.product_id if has_products else ""] += line.quantity
    parts: list[PlatformOrder] = []
    surplus: list[PlatformOrder] = []
    for part in sorted(listed, key=lambda part: (len(part.id), part.id)):
        contents: Counter[str] = Counter()
        for item in part.items:
            contents[(item.product_id or "") if has_products else ""] += item.quantity
        if not parts or any(missing[product] >= number for product, number in contents.items()):
            parts.append(part)
            missing.subtract(contents)
        else:
            surplus.append(part)
    return Match(parts, surplus, complete=all(left <= 0 for left in missing.values()))
