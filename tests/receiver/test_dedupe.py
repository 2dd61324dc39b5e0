"""Dedupe: each event is handled once, unless its handling failed."""

import pytest

from tradewind.receiver.dedupe import BeingHandled, Seen


def test_a_repeat_is_recognised() -> None:
    seen = Seen()

    firsts = []
    for event in ("evt_1", "evt_2", "evt_1", "evt_1"):
        with seen.once(event) as is_first:
            firsts.append(is_first)

    assert firsts == [True, True, False, False]


def test_an_event_whose_handling_failed_is_let_through_again() -> None:
    seen = Seen()

    with pytest.raises(RuntimeError), seen.once("evt_1"):
        raise RuntimeError

    with seen.once("evt_1") as is_first:
        assert is_first


def test_an_event_in_other_hands_is_neither_new_nor_done() -> None:
    seen = Seen()

    with seen.once("evt_1") as is_first, pytest.raises(BeingHandled), seen.once("evt_1"):
        pytest.fail("it is in other hands")

    assert is_first
    with seen.once("evt_1") as is_first:
        assert not is_first


def test_only_the_last_so_many_are_remembered() -> None:
    seen = Seen(most=2)
    for event in ("evt_1", "evt_2", "evt_3"):
        with seen.once(event):
            pass

    with seen.once("evt_2") as is_first:
        assert not is_first
    with seen.once("evt_1") as is_first:
        assert is_first
