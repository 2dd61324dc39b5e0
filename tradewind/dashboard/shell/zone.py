"""The time zone of the viewer: the browser writes it to a cookie, for what the server groups."""

from datetime import UTC, datetime, time, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from tradewind.web.request import Request

# Written by `times.js`, for every page.
ZONE_COOKIE = "tradewind_zone"
_LONGEST = 64


def viewer_zone(request: Request) -> tzinfo:
    """The zone in the cookie; UTC without a cookie, and for a zone that does not exist."""
    name = request.cookies.get(ZONE_COOKIE, "")
    if not name or len(name) > _LONGEST or not name.isascii():
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return UTC


def week_starts(now: datetime, zone: tzinfo, weeks: int) -> list[datetime]:
    """The first moments of the last weeks, this one last; a week starts on Monday."""
    today = now.astimezone(zone).date()
    monday = today - timedelta(days=today.weekday())
    return [
        datetime.combine(monday - timedelta(weeks=ago), time(), zone)
        for ago in reversed(range(weeks))
    ]


def month_start(now: datetime, zone: tzinfo) -> datetime:
    """The first moment of this month."""
    return datetime.combine(now.astimezone(zone).date().replace(day=1), time(), zone)
