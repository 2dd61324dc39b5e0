"""Times as the dialects write them, in China's time zone."""

from datetime import UTC, datetime, timedelta, timezone

_CHINA = timezone(timedelta(hours=8))
_MINIMUM_DIGITS = 17


def compact(at: float) -> str:
    """`20180614101942000+0800`."""
    moment = datetime.fromtimestamp(at, _CHINA)
    return f"{moment:%Y%m%d%H%M%S}{moment.microsecond // 1000:03d}+0800"


def readable(at: float) -> str:
    """`2024-08-09 09:44:24`."""
    return f"{datetime.fromtimestamp(at, _CHINA):%Y-%m-%d %H:%M:%S}"


def milliseconds(at: float) -> int:
    return int(at * 1000)


def read_compact(text: str) -> float:
    """The inverse of `compact`, and `2018-06-14 10:19:42` as well; ValueError otherwise."""
    if "-" in text[:8]:
        return datetime.strptime(text, "%Y-%m-%d %H:%M:%S").replace(tzinfo=_CHINA).timestamp()
    if len(text) < _MINIMUM_DIGITS:
        raise ValueError(text)
    whole = datetime.strptime(text[:14], "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    offset = text[17:] or "+0800"
    ahead = timedelta(hours=int(offset[1:3]), minutes=int(offset[3:5]))
    ahead = -ahead if offset[0] == "-" else ahead
    return (whole - ahead).timestamp() + int(text[14:17]) / 1000
