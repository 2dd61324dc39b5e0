"""Inputs: reads body and query into typed values, and says which field is wrong."""

import re
from collections.abc import Awaitable, Callable, Hashable
from datetime import datetime
from functools import cache
from typing import Annotated, Any
from urllib.parse import parse_qsl

import msgspec
from msgspec import inspect

from tradewind.web.problems import (
    BodyTooLarge,
    MalformedJson,
    UnsupportedMediaType,
    ValidationFailed,
)
from tradewind.web.request import Request

BODY_LIMIT = 256 * 1024

# A time that callers send: any offset will do, but there must be one.
Moment = Annotated[datetime, msgspec.Meta(tz=True)]

_JSON_TYPES = frozenset({"application/json"})
_FORM_TYPES = frozenset({"application/x-www-form-urlencoded"})
_AT = re.compile(r"^(?P<message>.*?)(?: - at `(?P<at>[^`]*)`)?$", re.DOTALL)
_FIELD = re.compile(
    r"^Object (?P<what>missing required|contains unknown) field `(?P<name>.*)`$", re.DOTALL
)
_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+|\.\.\.)\]")
# U+0000 is valid in JSON and cannot be stored in PostgreSQL.
_NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")


class Input(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """What callers send: a field that we do not know is an error, never ignored."""


class Output(msgspec.Struct, kw_only=True):
    """What callers receive: every field is always there, null where there is no value."""


def body_reader(kind: Any, *, form: bool) -> Callable[[Request], Awaitable[Any]] | None:
    """What reads a body into `kind`; None where an endpoint takes no body."""
    if kind is None:
        return None
    if form:
        return lambda request: read_form(request, kind)
    decoder = msgspec.json.Decoder(kind)
    return lambda request: read_json(request, decoder)


async def read_json(request: Request, decoder: "msgspec.json.Decoder[Any]") -> Any:
    """The body as the decoder's type."""
    raw = await _read(request, _JSON_TYPES, "application/json")
    if _NUL.search(raw):
        raise ValidationFailed("", "Text must not contain the character U+0000.")
    try:
        return decoder.decode(raw)
    except msgspec.ValidationError as error:
        raise _explained(str(error), "/") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise MalformedJson(str(error).rstrip(".")) from None


async def read_form(request: Request, kind: type[Any]) -> Any:
    """A form's body as `kind`."""
    raw = await _read(request, _FORM_TYPES, "application/x-www-form-urlencoded")
    return _convert(raw, kind, "/")


def read_query(query_string: bytes, kind: type[Any]) -> Any:
    """The query string as `kind`; a field that is a list takes its values by comma."""
    return _convert(query_string, kind, "?")


def refuse_query(query_string: bytes) -> None:
    """For an endpoint that takes no query parameters: the first one is an unknown one."""
    name, _, _ = query_string.decode("latin-1").partition("&")[0].partition("=")
    raise ValidationFailed(f"?{name}", "This parameter is not known here.", "unknown")


async def _read(request: Request, allowed: frozenset[str], expected: str) -> bytes:
    media_type = (request.header(b"content-type") or "").partition(";")[0].strip().lower()
    if media_type not in allowed:
        raise UnsupportedMediaType(expected)
    raw = await request.body(BODY_LIMIT)
    if raw is None:
        raise BodyTooLarge(BODY_LIMIT)
    return raw


def _convert(raw: bytes, kind: Any, lead: str) -> Any:
    try:
        text = raw.decode()
        pairs = parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=100)
    except ValueError:
        raise ValidationFailed(lead, "This is not readable as UTF-8 parameters.") from None
    values: dict[str, Any] = {}
    lists = _list_fields(kind)
    for name, value in pairs:
        if name in values:
            raise ValidationFailed(lead + name, "This parameter is given twice.", "duplicate")
        if "\0" in value:
            raise ValidationFailed(lead + name, "Text must not contain the character U+0000.")
        values[name] = value.split(",") if name in lists else value
    try:
        return msgspec.convert(values, kind, strict=False)
    except msgspec.ValidationError as error:
        raise _explained(str(error), lead) from None


@cache
def _list_fields(kind: Hashable) -> frozenset[str]:
    info = inspect.type_info(kind)
    fields = info.fields if isinstance(info, inspect.StructType) else ()
    return frozenset(field.encode_name for field in fields if _is_list(field.type))


def _is_list(info: inspect.Type) -> bool:
    if isinstance(info, inspect.Metadata):
        return _is_list(info.type)
    if isinstance(info, inspect.UnionType):
        return any(map(_is_list, info.types))
    return isinstance(info, inspect.ListType | inspect.VarTupleType)


def _explained(text: str, lead: str) -> ValidationFailed:
    """Turn msgspec's sentence and path into ours: `$.items[0].sku` becomes `/items/0/sku`."""
    match = _AT.match(text)
    message, at = (match["message"], match["at"] or "$") if match else (text, "$")
    steps = [name or index for name, index in _STEP.findall(at.removeprefix("$"))]
    code = "invalid"
    field = _FIELD.match(message)
    if field:
        steps.append(field["name"])
        missing = field["what"] == "missing required"
        code = "missing" if missing else "unknown"
        message = "This field is required." if missing else "This field is not known here."
    else:
        message = f"{message}."
    pointer = lead + "/".join(step.replace("~", "~0").replace("/", "~1") for step in steps)
    return ValidationFailed(pointer if steps else lead.strip("/"), message, code)
