"""Times as people type them into a form, and as a form shows them again. Pure."""

from datetime import UTC, datetime

from tradewind.errors import ValidationFailed
from tradewind.web.inputs import check_moment


def read_moment(name: str, text: str) -> datetime | None:
    """A time as people type it; without a zone it is UTC, as the field's label says."""
    text = text.strip()
    if not text:
        return None
    try:
        read = datetime.fromisoformat(text)
    except ValueError:
        message = "This is not a time. Write it like 2026-11-15 01:02:03."
        raise ValidationFailed(f"/{name}", message) from None
    moment = read if read.tzinfo else read.replace(tzinfo=UTC)
    check_moment(f"/{name}", moment)
    return moment


def for_input(text: str) -> tuple[str, str]:
    """What a field for a time holds, and its type: what cannot be read is kept as it was typed."""
    try:
        moment = read_moment("", text)
    except ValidationFailed:
        return text, "text"
    return (spelled(moment)[:-1] if moment else ""), "datetime-local"


def spelled(moment: datetime) -> str:
    """A time to the second, as an address carries it."""
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%S}Z"
