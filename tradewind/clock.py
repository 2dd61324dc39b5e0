"""Times: RFC 3339 in UTC with milliseconds."""

from datetime import UTC, datetime
from typing import Annotated

from msgspec import Meta

# A time in a response.
Timestamp = Annotated[
    str,
    Meta(
        examples=["2026-11-15T01:02:03.004Z"],
        extra_json_schema={"format": "date-time"},
    ),
]


def show(moment: datetime) -> str:
    """A moment as in every response and event: `2026-11-15T01:02:03.004Z`."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds")[:-6] + "Z"


def show_or_none(moment: datetime | None) -> str | None:
    return None if moment is None else show(moment)
