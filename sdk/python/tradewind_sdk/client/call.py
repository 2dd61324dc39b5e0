"""One call of the API: its path, query, headers and body, the same bytes in every try."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from enum import Enum
from typing import Any
from urllib.parse import quote
from uuid import uuid4

IDEMPOTENCY_KEY = "Idempotency-Key"
# These do not change anything, or change it once however often they are sent.
_REPEATABLE_METHODS = {"GET", "HEAD", "PUT", "DELETE"}


class Omitted(Enum):
    """A field that is not sent; None is sent as null."""

    OMITTED = "omitted"

    def __bool__(self) -> bool:
        return False


OMITTED = Omitted.OMITTED


@dataclass(frozen=True, slots=True)
class Call:
    """A request that can be sent again as it is."""

    method: str
    path: str
    query: Sequence[tuple[str, str]] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    content: bytes | None = field(default=None, repr=False)  # a password may be in it

    @property
    def is_repeatable(self) -> bool:
        """Whether it may be sent again although the server may have acted on it."""
        return self.method in _REPEATABLE_METHODS or IDEMPOTENCY_KEY in self.headers


def path_of(template: str, **parameters: str) -> str:
    """Fill in a path. An id that would make it another path is a ValueError."""
    for name, value in parameters.items():
        if value in {"", ".", ".."}:
            raise ValueError(f"{name} is {value!r}, and has to be an id.")
        template = template.replace("{" + name + "}", quote(value, safe=""))
    return template


def query_of(**parameters: Any) -> list[tuple[str, str]]:
    """The query of a call. None is left out, and a list is a parameter that is repeated."""
    pairs = []
    for name, value in parameters.items():
        if value is None:
            continue
        values = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
        pairs += [(name, _query_text(each)) for each in values]
    return pairs


def headers_of(**parameters: str | None) -> dict[str, str]:
    """Headers of a call; None is left out. `last_event_id` becomes Last-Event-Id."""
    return {
        name.replace("_", "-").title(): value
        for name, value in parameters.items()
        if value is not None
    }


def idempotent(key: str | None) -> dict[str, str]:
    """The header that makes a call repeatable: the caller's key, or a new one for this call."""
    return {IDEMPOTENCY_KEY: str(uuid4()) if key is None else key}


def json_of(**fields: Any) -> bytes:
    """The body of a call, without the fields that were omitted."""
    sent = {name: value for name, value in fields.items() if value is not OMITTED}
    return json.dumps(sent, default=_json_value, ensure_ascii=False, allow_nan=False).encode()


def optional_json_of(**fields: Any) -> bytes | None:
    """The same; no body at all if every field was omitted."""
    return None if all(value is OMITTED for value in fields.values()) else json_of(**fields)


def _query_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return _time_text(value) if isinstance(value, datetime) else str(value)


def _json_value(value: Any) -> Any:
    if isinstance(value, Decimal):
        return float(value)  # amounts have two decimals, which a float writes exactly
    if isinstance(value, datetime):
        return _time_text(value)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence):
        return list(value)
    raise TypeError(f"{type(value).__name__} cannot be sent as JSON.")


def _time_text(moment: datetime) -> str:
    if moment.tzinfo is None:
        raise ValueError(f"{moment} has no time zone.")
    return moment.isoformat()
