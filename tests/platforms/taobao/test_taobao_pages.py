"""Our pages of any size come out exactly, whatever the marketplace's own hold."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from tradewind.platforms.taobao import products

sizes = st.integers(min_value=1, max_value=100)
page_numbers = st.integers(min_value=1, max_value=60)
# How many results there are beyond the end of our page; below zero, how many it lacks.
beyond = st.integers(min_value=-120, max_value=120)


def asked(everything: Sequence[int], where: products.PageSpan) -> list[Sequence[int]]:
    size = where.page_size
    return [everything[(no - 1) * size : no * size] for no in range(where.first, where.last + 1)]


@given(page=page_numbers, size=sizes, beyond=beyond)
def test_a_page_holds_exactly_its_slice_of_everything(page: int, size: int, beyond: int) -> None:
    everything = range(max(0, page * size + beyond))
    where = products.span_of(page, size)
    parts = asked(everything, where)

    here, _ = products.join_pages(parts, where, size)

    assert list(here) == list(everything[(page - 1) * size : page * size])
    assert where.page_size <= products.LARGEST_PAGE


@given(page=page_numbers, size=sizes, beyond=beyond)
def test_a_next_page_is_promised_when_there_is_one(page: int, size: int, beyond: int) -> None:
    total = max(0, page * size + beyond)
    where = products.span_of(page, size)
    parts = asked(range(total), where)

    _, more = products.join_pages(parts, where, size)

    # Results that end with a page of the marketplace's own do not show that they end.
    unseen_end = total == page * size == where.last * where.page_size
    assert more == (total > page * size or unseen_end)


@given(page=page_numbers, size=sizes)
def test_no_more_pages_are_asked_for_than_it_takes(page: int, size: int) -> None:
    where = products.span_of(page, size)

    assert where.last - where.first + 1 <= -(-size // products.LARGEST_PAGE) + 1
    assert 0 <= where.skip < where.page_size
