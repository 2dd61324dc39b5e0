"""Dedupe: each event is handled once, unless its handling failed."""

import pytest
from tradewind_sdk.webhooks import EventInProgress, MemoryDeduplicator


def test_a_repeat_is_recognised() -> None:
    deduplicator = MemoryDeduplicator()

    firsts = []
    for event in ("evt_1", "evt_2", "evt_1", "evt_1"):
        with deduplicator.once(event) as is_first:
            firsts.append(is_first)

    assert firsts == [True, True, False, False]


def test_an_event_whose_handling_failed_is_let_through_again() -> None:
    deduplicator = MemoryDeduplicator()

    with pytest.raises(RuntimeError), deduplicator.once("evt_1"):
        raise RuntimeError

    with deduplicator.once("evt_1") as is_first:
        assert is_first


def test_an_event_in_progress_is_neither_new_nor_done() -> None:
    deduplicator = MemoryDeduplicator()

    with (
        deduplicator.once("evt_1") as is_first,
        pytest.raises(EventInProgress),
        deduplicator.once("evt_1"),
    ):
        pytest.fail("it is in progress")

    assert is_first
    with deduplicator.once("evt_1") as is_first:
        assert not is_first


def test_only_the_last_so_many_are_remembered() -> None:
    deduplicator = MemoryDeduplicator(capacity=2)
    for event in ("evt_1", "evt_2", "evt_3"):
        with deduplicator.once(event):
            pass

    with deduplicator.once("evt_2") as is_first:
        assert not is_first
    with deduplicator.once("evt_1") as is_first:
        assert is_first
