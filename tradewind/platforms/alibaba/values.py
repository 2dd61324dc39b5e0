"""Values as 1688 writes them: fen beside yuan, numbers as strings, three formats of time."""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

from tradewind.platforms.failures import UnreadableResponse
from tradewind.platforms.json_sanitize import sanitize

Json = Mapping[str, object]

CHINA = timezone(timedelta(hours=8))
_LARGEST_FEN = 10**15
# Yuan that passed through a double, 0.30000000000000004, are this close to a whole fen.
_NEAR = Decimal("0.0001")
_SECONDS_DIGITS = 14
_MILLISECONDS_DIGITS = 17
_EPOCH_DIGITS = 13
_OFFSET_LENGTH = 5


def _no_number(name: str) -> None:
    raise ValueError(name)


_DECODER = json.JSONDecoder(parse_float=Decimal, parse_constant=_no_number)


def decode(body: bytes) -> dict[str, object]:
    """Decode a JSON object; fractions become decimals, so that no amount is ever a float."""
    try:
        value = _DECODER.decode(sanitize(body).decode(json.detect_encoding(body), "surrogatepass"))
    except (ValueError, ArithmeticError, RecursionError):
        raise UnreadableResponse("The response is not JSON.") from None
    if not isinstance(value, dict):
        raise UnreadableResponse("The response is not a JSON object.")
    return value


def encode(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def entry(value: object) -> Json:
    """Return an object; empty if the value is not an object."""
    return value if isinstance(value, dict) else {}


def entries(value: object) -> Sequence[Json]:
    """Return the objects in a list; none if the value is not a list."""
    return (
        [element for element in value if isinstance(element, dict)]
        if isinstance(value, list)
        else []
    )


def text(value: object) -> str | None:
    """Return a text, or a whole number as text; None for empty texts and other types."""
    if isinstance(value, str):
        return value.strip() or None
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return None


def need(value: object, name: str) -> str:
    required = text(value)
    if required is None:
        raise UnreadableResponse(f"The response has no {name}.")
    return required


def as_number(written: str) -> int | str:
    """Return an id as requests hold it in JSON: a number of any length, else the text itself."""
    return int(written) if written.isascii() and written.isdecimal() else written


def flag(value: object) -> bool | None:
    """Return a boolean, also from the texts `true` and `false`; None for anything else."""
    if isinstance(value, bool):
        return value
    return {"true": True, "false": False}.get(value.lower()) if isinstance(value, str) else None


def whole(value: object, name: str) -> int | None:
    """Return a whole number, from a number or a text; None when it is missing."""
    number = _decimal(value, name)
    if number is None:
        return None
    if number != number.to_integral_value():
        raise UnreadableResponse(f"{name} is not a whole number: {value}")
    return int(number)


def or_none(read: Callable[[object, str], int | None], value: object) -> int | None:
    """Read an optional number: an unreadable one counts as missing."""
    try:
        return read(value, "")
    except UnreadableResponse:
        return None


def fen(value: object, name: str) -> int | None:
    """Return an amount that is already in fen."""
    return whole(value, name)


def yuan(value: object, name: str) -> int | None:
    """Return an amount in yuan as fen; a fraction of a fen cannot be paid and is unreadable."""
    number = _decimal(value, name)
    if number is None:
        return None
    exact = number * 100
    nearest = exact.to_integral_value()
    if abs(exact - nearest) > _NEAR:
        raise UnreadableResponse(f"{name} has more than two decimals: {value}")
    return int(nearest)


def show_yuan(fen_: int) -> str:
    """Write fen as yuan, as requests do: 615 is `6.15`."""
    return f"{Decimal(fen_) / 100:.2f}"


def _decimal(value: object, name: str) -> Decimal | None:
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


def moment(value: object) -> datetime | None:
    """`20180614101942000+0800`, with or without milliseconds; `2018-06-14 10:19:42`; epoch ms.

    An unreadable time counts as missing: it must not make an order unreadable.
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
    sign = next((i for i, char in enumerate(written) if char in "+-"), len(written))
    digits, offset = written[:sign], written[sign:] or "+0800"
    if len(digits) not in (_SECONDS_DIGITS, _MILLISECONDS_DIGITS) or len(offset) != _OFFSET_LENGTH:
        raise ValueError(written)
    if not (digits.isascii() and digits.isdecimal()):  # ISO 8601 also knows weeks
        raise ValueError(written)
    # With strptime, a third of the time in which an order is read went into its dates.
    return datetime.fromisoformat(f"{digits[:8]}T{digits[8:14]}.{digits[14:] or '000'}{offset}")


def show_moment(at: datetime) -> str:
    """Write a time as requests do: `20180614101942000+0800`."""
    local = at.astimezone(CHINA)
    return f"{local:%Y%m%d%H%M%S}{local.microsecond // 1000:03d}+0800"
