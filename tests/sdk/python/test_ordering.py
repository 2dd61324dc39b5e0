"""Ordering: a stale event is ignored, an equally new one is not."""

from datetime import UTC, datetime
from typing import Any

import pytest
from tradewind_sdk.webhooks import is_stale
from tradewind_sdk.webhooks.ordering import updated_at

HELD = "2026-11-15T08:00:00.500Z"


def event(at: str) -> dict[str, Any]:
    return {"id": "evt_1", "data": {"order": {"id": "ORD1", "updated_at": at}}}


@pytest.mark.parametrize(
    ("at", "stale"),
    [
        ("2026-11-15T08:00:00.499Z", True),
        ("2026-11-15T08:00:00.500Z", False),
        ("2026-11-15T08:00:00.501Z", False),
        ("2026-11-15T09:00:00.499+01:00", True),
        ("2026-11-15T09:00:00.501+01:00", False),
    ],
)
def test_what_is_older_than_the_state_held_is_stale(at: str, stale: bool) -> None:
    assert is_stale(event(at), HELD) is stale
    assert is_stale(event(at), datetime.fromisoformat(HELD)) is stale


def test_nothing_is_old_where_nothing_is_held() -> None:
    assert not is_stale(event("1970-01-01T00:00:00.000Z"), None)


def test_a_time_without_a_zone_is_no_time() -> None:
    with pytest.raises(ValueError, match="time zone"):
        is_stale(event("2026-11-15T08:00:00"), HELD)
    with pytest.raises(ValueError, match="time zone"):
        is_stale(event(HELD), "2026-11-15T08:00:00")


@pytest.mark.parametrize("wrong", [{}, {"data": None}, {"data": {"order": {}}}, {"data": []}])
def test_an_event_without_the_time_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="updated_at"):
        updated_at(wrong)


def test_the_time_is_read_as_it_is() -> None:
    assert updated_at(event(HELD)) == datetime(2026, 11, 15, 8, 0, 0, 500_000, UTC)
