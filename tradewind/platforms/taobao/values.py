"""Values as Taobao Global writes them: numbers as texts, and texts as numbers."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

import msgspec

from tradewind.platforms.failures import UnreadableResponse
from tradewind.platforms.json_sanitize import sanitize

Json = Mapping[str, object]

# Fractions become Decimals, so that no amount ever passes through a float.
_decode = msgspec.json.Decoder(float_hook=Decimal).decode

_LARGEST_FEN = 10**18
_WHOLE = re.compile(r"-?[0-9]{1,19}")
_CHINA = timezone(timedelta(hours=8))
# Times are in milliseconds; a smaller number can only be seconds.
_LEAST_MILLISECONDS = 100_000_000_000


def decode(body: bytes | str) -> object:
    try:
        return _decode(sanitize(body.encode() if isinstance(body, str) else body))
    except (msgspec.MsgspecError, ValueError, ArithmeticError, RecursionError):
        raise UnreadableResponse("not JSON") from None


def text(raw: object) -> str | None:
    """Return a text, or a number as text; None for empty texts and other types."""
    if isinstance(raw, bool) or not isinstance(raw, str | int | Decimal):
        return None
    spelled = str(raw).strip()
    return spelled if spelled and spelled.lower() != "null" else None


def identity(raw: object) -> str | None:
    """Return an id; zero means that there is none."""
    spelled = text(raw)
    return None if spelled == "0" else spelled


def whole(raw: object) -> int | None:
    """Return a whole number; amounts that are documented in fen are read by this only."""
    spelled = text(raw)
    return int(spelled) if spelled is not None and _WHOLE.fullmatch(spelled) else None


def fen_of_yuan(raw: object) -> int | None:
    """Return the fen of an amount that is documented in yuan; None for a fraction of a fen."""
    try:
        fen = Decimal(text(raw) or "") * 100
        fits = abs(fen) <= _LARGEST_FEN and fen == fen.to_integral_value()
        return int(fen) if fits else None
    except ArithmeticError:
        return None


def amount(raw: object) -> int | None:
    """Return fen, from a number or from `{amount, currency}`."""
    return whole(raw["amount"] if isinstance(raw, Mapping) and "amount" in raw else raw)


def moment(raw: object) -> datetime | None:
    """Read milliseconds, or a written time, which is China's unless it has an offset."""
    spelled = identity(raw)
    if spelled is None:
        return None
    try:
        if _WHOLE.fullmatch(spelled):
            number = int(spelled)
            number = number if abs(number) >= _LEAST_MILLISECONDS else number * 1000
            return datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=number)
        read = datetime.fromisoformat(spelled)
        return (read if read.tzinfo else read.replace(tzinfo=_CHINA)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def picture_url(raw: object) -> str | None:
    """Return the URL of a picture, which often has no scheme."""
    url = text(raw)
    return f"https:{url}" if url and url.startswith("//") else url


def truth(raw: object) -> bool | None:
    return {"true": True, "false": False}.get(str(raw).strip().lower())


def record(raw: object) -> Json:
    """Return an object, also from a text of JSON; empty if the value is not an object."""
    value = _unpacked(raw)
    return value if isinstance(value, Mapping) else {}


def records(raw: object) -> list[Json]:
    """Return the objects of a list; a single object counts as a list."""
    return [element for element in values(raw) if isinstance(element, Mapping)]


def values(raw: object) -> list[object]:
    value = _unpacked(raw)
    if isinstance(value, Mapping):
        return [value]
    return value if isinstance(value, list) else []


def _unpacked(raw: object) -> object:
    if not isinstance(raw, str) or not raw.lstrip().startswith(("{", "[")):
        return raw
    try:
        return decode(raw)
    except UnreadableResponse:
        return None
