"""Inputs: reads body and query into typed values, and says which field is wrong."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Hashable, Iterator, Mapping
from datetime import datetime
from functools import cache
from typing import Annotated, Any, TypeVar
from urllib.parse import parse_qsl

import msgspec
from msgspec import inspect

from tradewind import money
from tradewind.web.problems import (
    BodyTooLarge,
    BodyTooSlow,
    MalformedJson,
    UnsupportedMediaType,
    ValidationFailed,
)
from tradewind.web.request import BrokenOff, Request

T = TypeVar("T")

BODY_LIMIT = 256 * 1024
_BODY_SECONDS = 30

# A time that callers send: any offset will do, but there must be one.
Moment = Annotated[datetime, msgspec.Meta(tz=True)]

_JSON = "application/json"
_FORM = "application/x-www-form-urlencoded"
_EMPTY_OBJECT = re.compile(rb"[ \t\r\n]*\{[ \t\r\n]*\}[ \t\r\n]*")
_AT = re.compile(r"^(?P<message>.*?)(?: - at (?:`key` in )?`(?P<at>[^`]*)`)?$", re.DOTALL)
_FIELD = re.compile(
    r"^Object (?P<what>missing required|contains unknown) field `(?P<name>.*)`$", re.DOTALL
)
_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]")
_WHOLE_NUMBER = re.compile(r"-?[0-9]{1,18}")
# Years at the ends of the calendar leave it when they are moved to UTC.
_TIME = re.compile(r"(?!0001|9999)[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][^\s]+")
_EXPECTED = {
    _WHOLE_NUMBER: "Expected a whole number.",
    _TIME: "Expected a time like 2026-11-15T01:02:03Z.",
}
# U+0000 is valid in JSON and cannot be stored in PostgreSQL.
_NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")


def in_the_calendar(moment: datetime) -> bool:
    """Whether a time with an offset stays in the calendar when it is moved to UTC."""
    return moment.tzinfo is not None and 1 < moment.year < 9999  # noqa: PLR2004


def check_moment(pointer: str, moment: datetime) -> None:
    """Refuse a time of a body that cannot be told in UTC."""
    if not in_the_calendar(moment):
        raise ValidationFailed(pointer, _EXPECTED[_TIME])


def read_amount(pointer: str, cny: float | None) -> int | None:
    """An amount that callers sent, as fen; None where they sent none. It is never rounded."""
    if cny is None:
        return None
    fen = money.read(cny)
    if fen is None:
        raise ValidationFailed(pointer, "An amount has at most two decimals.")
    return fen


class Input(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """What callers send: a field that we do not know is an error, never ignored."""


class Output(msgspec.Struct, kw_only=True):
    """What callers receive: every field is always there, null where there is no value."""


def body_reader(
    kind: Any, *, form: bool, required: bool = True, page: bool = False
) -> Callable[[Request], Awaitable[Any]] | None:
    """What reads a body into `kind`; None where an endpoint takes no body."""
    if kind is None:
        return None
    if form:
        return lambda request: read_form(request, kind, page=page)
    decoder = msgspec.json.Decoder(kind)
    if required:
        return lambda request: read_json(request, decoder)
    return lambda request: read_optional_json(request, decoder)


async def read_json(request: Request, decoder: "msgspec.json.Decoder[Any]") -> Any:
    """The body as the decoder's type."""
    _check_media_type(request, _JSON)
    return _decode(await _read(request), decoder)


def _decode(raw: bytes, decoder: "msgspec.json.Decoder[Any]") -> Any:
    if _NUL.search(raw):
        raise ValidationFailed("", "Text must not contain the character U+0000.")
    try:
        return decoder.decode(raw)
    except msgspec.ValidationError as error:
        raise _explained(str(error), "/") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise MalformedJson(str(error).rstrip(".")) from None


async def read_optional_json(request: Request, decoder: "msgspec.json.Decoder[Any]") -> Any:
    """The body as the decoder's type; None when there is no body at all.

    Whether there is one shows when it is read: HTTP/2 need not announce it.
    """
    raw = await _read(request)
    if not raw:
        return None
    _check_media_type(request, _JSON)
    return _decode(raw, decoder)


async def read_form(request: Request, kind: type[Any], *, page: bool = False) -> Any:
    """A form's body as `kind`."""
    _check_media_type(request, _FORM)
    return _convert(await _read(request), kind, "/", page=page)


async def refuse_body(request: Request) -> None:
    """For an endpoint that takes no body: whatever says more than `{}` is refused."""
    raw = await _read(request)
    if raw and not _EMPTY_OBJECT.fullmatch(raw):
        message = "This endpoint takes no body; send none, or {}."
        raise ValidationFailed("", message, "body_not_allowed")


def read_query(query_string: bytes, kind: type[Any], *, page: bool = False) -> Any:
    """The query string as `kind`; a field that is a list takes its values by comma."""
    return _convert(query_string, kind, "?", page=page)


def read_values(kind: type[T], **values: Any) -> T:
    """Values that a page gathered, as what the API takes; what is wrong is said as it is there."""
    try:
        return msgspec.convert(values, kind, strict=False)
    except msgspec.ValidationError as error:
        raise _explained(str(error), "/") from None


def refuse_query(query_string: bytes) -> None:
    """For an endpoint that takes no query parameters: the first one is an unknown one."""
    name, _, _ = query_string.decode("latin-1").partition("&")[0].partition("=")
    raise ValidationFailed(f"?{name}", "This parameter is not known here.", "unknown")


def _check_media_type(request: Request, expected: str) -> None:
    media_type = (request.header(b"content-type") or "").partition(";")[0].strip().lower()
    if media_type != expected:
        raise UnsupportedMediaType(expected)


async def _read(request: Request) -> bytes:
    """The whole body. What headers announce does not matter, unless there can be no body."""
    if request.has_no_body:
        return b""
    try:
        async with asyncio.timeout(_BODY_SECONDS):
            raw = await request.body(BODY_LIMIT)
    except TimeoutError:
        raise BodyTooSlow(_BODY_SECONDS) from None
    except BrokenOff:
        raise MalformedJson("it breaks off") from None
    if raw is None:
        raise BodyTooLarge(BODY_LIMIT)
    return raw


def _convert(raw: bytes, kind: Any, lead: str, *, page: bool = False) -> Any:
    """Browsers send a list by repeating its name, and every field that was left empty.

    So on a `page` an empty value means what a missing one does, except where text is asked for.
    """
    try:
        text = raw.decode()
        pairs = parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=100)
    except ValueError:
        raise ValidationFailed(lead, "This is not readable as UTF-8 parameters.") from None
    values: dict[str, Any] = {}
    lists, forms = _list_fields(kind), _forms(kind)
    texts = _text_fields(kind) if page else frozenset()
    for name, value in pairs:
        if page and not value and name in _names(kind) and name not in texts:
            continue
        if page and name in lists and "\0" not in value:
            values.setdefault(name, []).append(value)
            continue
        if name in values:
            raise ValidationFailed(lead + name, "This parameter is given twice.", "duplicate")
        if "\0" in value:
            raise ValidationFailed(lead + name, "Text must not contain the character U+0000.")
        if name in forms and not forms[name].fullmatch(value):
            raise ValidationFailed(lead + name, _EXPECTED[forms[name]])
        values[name] = value.split(",") if name in lists else value
    try:
        return msgspec.convert(values, kind, strict=False)
    except msgspec.ValidationError as error:
        raise _explained(str(error), lead) from None


@cache
def _list_fields(kind: Hashable) -> frozenset[str]:
    wanted = (inspect.ListType, inspect.VarTupleType)
    return frozenset(name for name, info in _fields(kind) if _is_any(info, wanted))


@cache
def _names(kind: Hashable) -> frozenset[str]:
    return frozenset(name for name, _ in _fields(kind))


@cache
def _text_fields(kind: Hashable) -> frozenset[str]:
    """The fields where an empty text is a value: plain text that may not be null."""
    return frozenset(name for name, info in _fields(kind) if _is_text(info))


def _is_text(info: inspect.Type) -> bool:
    return isinstance(info.type if isinstance(info, inspect.Metadata) else info, inspect.StrType)


@cache
def _forms(kind: Hashable) -> Mapping[str, re.Pattern[str]]:
    """How the text of a number or a time must look, where msgspec alone would take more."""
    found = {}
    for name, info in _fields(kind):
        if _is_any(info, (inspect.IntType,)):
            found[name] = _WHOLE_NUMBER
        elif _is_any(info, (inspect.DateTimeType,)):
            found[name] = _TIME
    return found


def _fields(kind: Any) -> Iterator[tuple[str, inspect.Type]]:
    info = inspect.type_info(kind)
    for field in info.fields if isinstance(info, inspect.StructType) else ():
        yield field.encode_name, field.type


def _is_any(info: inspect.Type, wanted: tuple[type, ...]) -> bool:
    if isinstance(info, inspect.Metadata):
        return _is_any(info.type, wanted)
    if isinstance(info, inspect.UnionType):
        return any(_is_any(option, wanted) for option in info.types)
    return isinstance(info, wanted)


def _explained(text: str, lead: str) -> ValidationFailed:
    """Turn msgspec's sentence and path into ours: `$.items[0].sku` becomes `/items/0/sku`."""
    match = _AT.match(text)
    message, at = (match["message"], match["at"] or "$") if match else (text, "$")
    at = at.removeprefix("$").partition("[...]")[0]  # under which key of a map, it does not say
    steps = [name or index for name, index in _STEP.findall(at)]
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
