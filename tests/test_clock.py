"""Times: RFC 3339 in UTC with milliseconds, from any time zone."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from tradewind import clock

SHANGHAI = timezone(timedelta(hours=8))
ODD = timezone(timedelta(hours=-3, minutes=-30))


@pytest.mark.parametrize(
    ("moment", "shown"),
    [
        (datetime(2026, 11, 15, 1, 2, 3, 4000, UTC), "2026-11-15T01:02:03.004Z"),
        (datetime(2026, 11, 15, 1, 2, 3, 0, UTC), "2026-11-15T01:02:03.000Z"),
        (datetime(2026, 11, 15, 9, 2, 3, 4000, SHANGHAI), "2026-11-15T01:02:03.004Z"),
        (datetime(2026, 11, 14, 21, 32, 3, 4000, ODD), "2026-11-15T01:02:03.004Z"),
        (datetime(2024, 2, 29, 23, 59, 59, 999_000, UTC), "2024-02-29T23:59:59.999Z"),
        (datetime(1, 1, 1, 0, 0, 0, 0, UTC), "0001-01-01T00:00:00.000Z"),
        (datetime(9999, 12, 31, 23, 59, 59, 999_999, UTC), "9999-12-31T23:59:59.999Z"),
    ],
)
def test_a_moment_is_shown_in_utc_with_milliseconds(moment: datetime, shown: str) -> None:
    assert clock.show(moment) == shown
    assert clock.show_or_none(moment) == shown


def test_microseconds_are_cut_off_so_that_no_moment_is_shown_before_it_came() -> None:
    assert clock.show(datetime(2026, 1, 1, 0, 0, 0, 999_999, UTC)) == "2026-01-01T00:00:00.999Z"


def test_no_moment_stays_none() -> None:
    assert clock.show_or_none(None) is None
