"""Pages of any size, put together from the marketplace's pages of at most twenty."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")

LARGEST = 20


@dataclass(frozen=True, slots=True)
class Cut:
    """Which of the marketplace's pages hold one of ours, and what to skip at their start."""

    page_size: int
    first: int
    last: int
    skip: int


def cut(page: int, size: int) -> Cut:
    if size <= LARGEST:
        return Cut(size, page, page, 0)
    begin, end = (page - 1) * size, page * size
    first = begin // LARGEST
    return Cut(LARGEST, first + 1, (end - 1) // LARGEST + 1, begin - first * LARGEST)


def joined(parts: Sequence[Sequence[T]], where: Cut, size: int) -> Sequence[T]:
    """Our page. A short part ends the results, whatever the parts after it hold."""
    found: list[T] = []
    for part in parts:
        found.extend(part)
        if len(part) < where.page_size:
            break
    return tuple(found[where.skip : where.skip + size])


def least_total(page: int, size: int, found: int, *, more: bool) -> int:
    """How many results there are at least, since the marketplace does not say how many.

    One more than were seen, while more may follow, so that there is a next page to ask for.
    """
    return (page - 1) * size + found + (1 if more else 0)


def may_follow(parts: Sequence[Sequence[T]], where: Cut, size: int) -> bool:
    """Whether there may be results after our page: every part is full, or they reach beyond it."""
    held = 0
    for part in parts:
        held += len(part)
        if len(part) < where.page_size:
            return held > where.skip + size
    return True
