"""Ids: one text form each, parsed back exactly, sortable by time."""

import itertools
import re
import time
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tradewind import ids

LARGEST = UUID(int=2**128 - 1)
KINDS = [ids.ACCOUNT, ids.API_KEY, ids.AUDIT, ids.REQUEST, ids.SESSION]


@settings(deadline=None)
@given(st.uuids())
def test_an_id_is_read_back_as_what_was_shown(value: UUID) -> None:
    shown = ids.ACCOUNT.show(value)

    assert ids.ACCOUNT.read(shown) == value
    assert re.fullmatch(ids.ACCOUNT.pattern, shown)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (UUID(int=0), "acc_00000000000000000000000000"),
        (UUID(int=1), "acc_00000000000000000000000001"),
        (UUID(int=31), "acc_0000000000000000000000000Z"),
        (UUID(int=32), "acc_00000000000000000000000010"),
        (LARGEST, "acc_7ZZZZZZZZZZZZZZZZZZZZZZZZZ"),
    ],
)
def test_the_spelling_is_crockfords_base_32(value: UUID, shown: str) -> None:
    assert ids.ACCOUNT.show(value) == shown
    assert ids.ACCOUNT.read(shown) == value


@settings(deadline=None)
@given(st.uuids(), st.uuids())
def test_text_sorts_as_the_bits_do(one: UUID, other: UUID) -> None:
    assert (ids.AUDIT.show(one) < ids.AUDIT.show(other)) == (one < other)


def test_new_ids_of_one_process_sort_in_the_order_of_their_making() -> None:
    made = [ids.new() for _ in range(10_000)]

    shown = [ids.ACCOUNT.show(value) for value in made]

    assert shown == sorted(set(shown))


def test_an_id_made_later_sorts_later_whichever_thread_made_it() -> None:
    with ThreadPoolExecutor(4) as threads:
        rounds = []
        for _ in range(5):
            rounds.append([*threads.map(lambda _: ids.new(), range(200))])
            time.sleep(0.002)  # ids of different processes are ordered by the millisecond

    for earlier, later in itertools.pairwise(rounds):
        assert max(earlier) < min(later)


def test_an_id_carries_the_time_of_its_making() -> None:
    before = time.time_ns() // 1_000_000
    made = ids.new()
    after = time.time_ns() // 1_000_000

    assert before <= made.int >> 80 <= after
    assert made.version == 7


@pytest.mark.parametrize(
    "text",
    [
        "acc_06EJ4KQZC5T9XN4R5ZJ2V7M8Qw",  # lower case
        "acc_06EJ4KQZC5T9XN4R5ZJ2V7M8QI",  # the letters that Crockford leaves out
        "acc_06EJ4KQZC5T9XN4R5ZJ2V7M8QL",
        "acc_06EJ4KQZC5T9XN4R5ZJ2V7M8QO",
        "acc_06EJ4KQZC5T9XN4R5ZJ2V7M8QU",
        "key_06EJ4KQZC5T9XN4R5ZJ2V7M8QW",  # another kind's prefix
        "ACC_06EJ4KQZC5T9XN4R5ZJ2V7M8QW",
        "06EJ4KQZC5T9XN4R5ZJ2V7M8QW",  # no prefix
        "acc_acc_06EJ4KQZC5T9XN4R5ZJ2V7M8QW",  # two of them
        "acc_06EJ4KQZC5T9XN4R5ZJ2V7M8QW0",  # too long
        "acc_06EJ4KQZC5T9XN4R5ZJ2V7M8Q",  # too short
        "acc_",
        "",
        "acc_80000000000000000000000000",  # over 128 bits
        "acc_ZZZZZZZZZZZZZZZZZZZZZZZZZZ",
        " acc_06EJ4KQZC5T9XN4R5ZJ2V7M8QW",
        "acc_06EJ4KQZC5T9XN4R5ZJ2V7M8QW\n",
        "acc_06EJ4-QZC5T9XN4R5ZJ2V7M8QW",
        "acc_06EJ4KQZC5T9XN4R5ZJ2V7M8Q٣",  # a digit, but none of ours
    ],
)
def test_any_other_spelling_is_nobodys_id(text: str) -> None:
    assert ids.ACCOUNT.read(text) is None
    assert not re.fullmatch(ids.ACCOUNT.pattern, text)


@settings(deadline=None)
@given(st.text(max_size=40))
def test_the_pattern_of_the_reference_and_the_reader_agree(text: str) -> None:
    assert (ids.ACCOUNT.read(text) is not None) == bool(re.fullmatch(ids.ACCOUNT.pattern, text))


@pytest.mark.parametrize("kind", KINDS)
def test_no_kind_reads_the_id_of_another(kind: ids.Kind) -> None:
    shown = kind.show(ids.new())

    assert [other for other in KINDS if other.read(shown) is not None] == [kind]
