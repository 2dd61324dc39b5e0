"""Single values as 1688 writes them: fen beside yuan, numbers as strings, three kinds of time."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

from tradewind.platforms.failures import UnreadableResponse
from tradewind.platforms.json_sanitize import sanitize

Json = Mapping[str, Any]

CHINA = timezone(timedelta(hours=8))
_LARGEST_FEN = 10**15
# Yuan that went through somebody's double, 0.30000000000000004, are this close to a whole fen.
_NEAR = Decimal("0.0001")
_SECONDS_DIGITS = 14
_MILLISECONDS_DIGITS = 17
_EPOCH_DIGITS = 13
_OFFSET_LENGTH = 5


def decode(body: bytes) -> dict[str, Any]:
    """A JSON object, whose fractions are decimals: no amount and no id goes through a float."""
    try:
        found = json.loads(sanitize(body), parse_float=Decimal, parse_constant=_no_number)
    except (ValueError, ArithmeticError, RecursionError):
        raise UnreadableResponse("The answer is not JSON.") from None
    if not isinstance(found, dict):
        raise UnreadableResponse("The answer is not a JSON object.")
    return found


def _no_number(name: str) -> None:
    raise ValueError(name)


def encode(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def entry(value: Any) -> Json:
    """The object, or an empty one where there is none."""
    return value if isinstance(value, dict) else {}


def entries(value: Any) -> Sequence[Json]:
    """The objects in a list; none where there is no list."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def text(value: Any) -> str | None:
    """Text, or a whole number as text; None for nothing, and for what can be no text or id."""
    if isinstance(value, str):
        return value.strip() or None
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return None


def text_or(value: Any, default: str) -> str:
    return text(value) or default


def need(value: Any, name: str) -> str:
    found = text(value)
    if found is None:
        raise UnreadableResponse(f"The answer has no {name}.")
    return found


def as_number(written: str) -> int | str:
    """An id as requests have it inside JSON: a number, of any length; what is none stays text."""
    return int(written) if written.isascii() and written.isdecimal() else written


def flag(value: Any) -> bool | None:
    """True and False, also as the strings that some answers have; None for anything else."""
    if isinstance(value, bool):
        return value
    return {"true": True, "false": False}.get(value.lower()) if isinstance(value, str) else None


def whole(value: Any, name: str) -> int | None:
    """A whole number, however it is written; None when it is missing."""
    number = _decimal(value, name)
    if number is None:
        return None
    if number != number.to_integral_value():
        raise UnreadableResponse(f"{name} is not a whole number: {value}")
    return int(number)


def whole_or_none(value: Any) -> int | None:
    """As `whole`, for what is nice to know: what cannot be read is missing."""
    try:
        return whole(value, "")
    except UnreadableResponse:
        return None


def fen(value: Any, name: str) -> int | None:
    """An amount that is in fen already."""
    return whole(value, name)


def yuan(value: Any, name: str) -> int | None:
    """An amount in yuan, as fen. Finer than a fen is nothing we could pay, so it is unreadable."""
    number = _decimal(value, name)
    if number is None:
        return None
    exact = number * 100
    nearest = exact.to_integral_value()
    if abs(exact - nearest) > _NEAR:
        raise UnreadableResponse(f"{name} has more than two decimals: {value}")
    return int(nearest)


def yuan_or_none(value: Any) -> int | None:
    """As `yuan`, for a price that is only shown."""
    try:
        return yuan(value, "")
    except UnreadableResponse:
        return None


def show_yuan(fen_: int) -> str:
    """Fen as the text of yuan that requests have: 615 is `6.15`."""
    return f"{Decimal(fen_) / 100:.2f}"


def _decimal(value: Any, name: str) -> Decimal | None:
    if value is None or value == "":
        return None
    if isinstance(value, bool) or not isinstance(value, str | int | Decimal):
        raise UnreadableResponse(f"{name} is not a number: {value}")
    try:
        number = Decimal(value)
    except ArithmeticError:
        raise UnreadableResponse(f"{name} is not a number: {value}") from None
    if number.is_nan() or not -_LARGEST_FEN <= number <= _LARGEST_FEN:
        raise UnreadableResponse(f"{name} is out of bounds: {value}")
    return number


def moment(value: Any) -> datetime | None:
    """`20180614101942000+0800`, with or without milliseconds; `2018-06-14 10:19:42`; epoch ms.

    What cannot be read is missing: no order is lost for the sake of a time.
    """
    written = text(value)
    if written is None:
        return None
    try:
        return _moment(written).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _moment(written: str) -> datetime:
    if "-" in written[:8]:
        return datetime.strptime(written[:19], "%Y-%m-%d %H:%M:%S").replace(tzinfo=CHINA)
    if len(written) == _EPOCH_DIGITS and written.isdecimal():
        return datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=int(written))
    at = next((i for i, letter in enumerate(written) if letter in "+-"), len(written))
    digits, offset = written[:at], written[at:] or "+0800"
    if len(digits) not in (_SECONDS_DIGITS, _MILLISECONDS_DIGITS) or len(offset) != _OFFSET_LENGTH:
        raise ValueError(written)
    whole_seconds = datetime.strptime(digits[:14] + offset, "%Y%m%d%H%M%S%z")
    return whole_seconds + timedelta(milliseconds=int(digits[14:] or "0"))


def show_moment(at: datetime) -> str:
    """A moment as requests have it: `20180614101942000+0800`."""
    local = at.astimezone(CHINA)
    return f"{local:%Y%m%d%H%M%S}{local.microsecond // 1000:03d}+0800"
