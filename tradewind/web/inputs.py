"""Inputs: reads body and query into typed values, or reports every field that is wrong."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, TypeVar
from urllib.parse import parse_qsl, urlencode
from uuid import UUID

import msgspec
from starlette.requests import ClientDisconnect

from tradewind import errors, ids, money
from tradewind.errors import FieldError, ValidationFailed
from tradewind.web import validation
from tradewind.web.multipart import file_names, split_multipart
from tradewind.web.problems import BodyTooLarge, BodyTooSlow, MalformedJson, UnsupportedMediaType
from tradewind.web.request import Request
from tradewind.web.validation import QUERY

T = TypeVar("T")

BODY_LIMIT = 256 * 1024
_BODY_SECONDS = 30
_MOST_PARAMETERS = 200

_JSON = "application/json"
_FORM = "application/x-www-form-urlencoded"
_MULTIPART = "multipart/form-data"
# U+0000 is valid in JSON and cannot be stored in PostgreSQL.
_ESCAPED_NUL = rb"\u0000"
_NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")
_EMPTY_OBJECT = re.compile(rb"[ \t\r\n]*\{[ \t\r\n]*\}[ \t\r\n]*")
_TIME_EXPECTED = "a time with an offset, such as 2026-11-15T01:02:03Z"
# A number like 1e400 is valid JSON; that it is too large for its field is reported as an error.
_PLAIN = msgspec.json.Decoder(float_hook=float)


def in_the_calendar(moment: datetime) -> bool:
    """Whether a time with an offset stays in the calendar when it is moved to UTC."""
    return moment.tzinfo is not None and 1 < moment.year < 9999  # noqa: PLR2004


# A time that callers send: with any offset, but not without one.
Moment = Annotated[
    datetime,
    msgspec.Meta(tz=True, extra={"accepts": in_the_calendar, "expected": _TIME_EXPECTED}),
]


def check_moment(pointer: str, moment: datetime) -> None:
    """Reject a time that has no equivalent in UTC. A `Moment` of a request is checked already."""
    if not in_the_calendar(moment):
        raise ValidationFailed(pointer, f"Must be {_TIME_EXPECTED}.")


def read_amount(pointer: str, cny: float | None) -> int | None:
    """An amount that callers sent, as fen; None for None. It is never rounded."""
    if cny is None:
        return None
    fen = money.read(cny)
    if fen is None:
        raise ValidationFailed(pointer, "Must be an amount in CNY with at most two decimals.")
    return fen


def id_text(kind: ids.Kind) -> msgspec.Meta:
    """How the text of an id is described, in `Annotated[str, …]`."""
    return msgspec.Meta(pattern=kind.pattern, examples=[kind.example])


def read_id(kind: ids.Kind, pointer: str, text: str | None) -> UUID | None:
    """An id that callers sent to filter by; None is no filter, so never what cannot be read."""
    if text is None:
        return None
    value = kind.read(text)
    if value is None:
        raise ValidationFailed(pointer, f"This is not the id of any {kind.noun}.")
    return value


class Input(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """What callers send: an unknown field is an error.

    A struct whose fields depend on each other has a method `check_fields`, which yields a
    `FieldError` for each wrong one, with a pointer from the struct: `/until`.
    """


class Patch(Input):
    """What to change: every field may be left out, but not all of them."""

    def check_fields(self) -> Iterator[FieldError]:
        names = self.__struct_fields__
        if all(getattr(self, name) is None for name in names):
            message = f"Must change something: at least one of {', '.join(names)}."
            yield FieldError("", message, "missing")


class Output(msgspec.Struct, kw_only=True):
    """What callers receive: every field is always present, null when it has no value."""


def body_reader(
    kind: Any,
    *,
    form: bool,
    required: bool = True,
    page: bool = False,
    multipart: bool = False,
    limit: int = BODY_LIMIT,
) -> Callable[[Request], Awaitable[Any]] | None:
    """A function that reads a body as `kind`; None for an endpoint without a body."""
    if kind is None:
        return None
    validation.rule_of(kind)  # a type without a description fails at the start, not at a request
    if multipart:
        return lambda request: read_multipart(request, kind, limit)
    if form:
        return lambda request: read_form(request, kind, page=page)
    decoder = msgspec.json.Decoder(kind)
    if required:
        return lambda request: read_json(request, decoder, limit)
    return lambda request: read_optional_json(request, decoder)


async def read_json(
    request: Request, decoder: "msgspec.json.Decoder[Any]", limit: int = BODY_LIMIT
) -> Any:
    """The body as the decoder's type."""
    _check_media_type(request, _JSON)
    return _decode(await read_body(request, limit=limit), decoder)


async def read_optional_json(request: Request, decoder: "msgspec.json.Decoder[Any]") -> Any:
    """The body as the decoder's type; None when there is no body at all.

    Only reading it shows whether there is one: HTTP/2 need not announce it.
    """
    raw = await read_body(request)
    if not raw:
        return None
    _check_media_type(request, _JSON)
    return _decode(raw, decoder)


async def read_form(request: Request, kind: type[Any], *, page: bool = False) -> Any:
    """A form's body as `kind`."""
    _check_media_type(request, _FORM)
    return _convert(await read_body(request), kind, "", page=page)


async def read_multipart(request: Request, kind: type[Any], limit: int) -> Any:
    """A form with files as `kind`: the content of a file is the value of a field of bytes."""
    _check_media_type(request, _MULTIPART)
    content_type, raw = (
        request.headers.get("content-type", ""),
        await read_body(request, limit=limit),
    )
    parts = split_multipart(content_type, raw)
    if parts is None:
        raise ValidationFailed("", "Must be a form with its files.")
    files = {name: part for name, part in parts if validation.takes_bytes(kind, name)}
    pairs = [(name, part) for name, part in parts if name not in files]
    if sum(len(part) for _, part in pairs) > BODY_LIMIT:
        raise BodyTooLarge(BODY_LIMIT)
    fields = _convert(urlencode(pairs).encode(), kind, "", page=True)
    named = {
        f"{field}_name": name
        for field, name in file_names(content_type, raw).items()
        if field in files and f"{field}_name" in kind.__struct_fields__
    }
    return msgspec.structs.replace(fields, **files, **named)


async def reject_body(request: Request) -> None:
    """For an endpoint that takes no body: reject anything but `{}`."""
    raw = await read_body(request)
    if raw and not _EMPTY_OBJECT.fullmatch(raw):
        message = "This endpoint takes no body; send none, or {}."
        raise ValidationFailed("", message, "body_not_allowed")


def read_query(query_string: bytes, kind: type[Any], *, page: bool = False) -> Any:
    """The query string as `kind`.

    A list takes several values, separated by commas or by repeating the parameter; a list whose
    values may contain a comma (`commas: False` in its `Meta(extra=…)`) only by repeating it. On a
    `page` unknown parameters are ignored: shared links contain all sorts of them.
    """
    return _convert(query_string, kind, QUERY, page=page)


def read_values(kind: type[T], /, **values: Any) -> T:
    """Values of a page as an input of the API, with the same errors."""
    value: T = _checked(values, kind, "")
    return value


def reject_query(query_string: bytes) -> None:
    """For an endpoint that takes no query parameters: every one is unknown."""
    message = "Is not a known parameter; this endpoint takes none."
    pairs = parse_qsl(query_string.decode("latin-1"), keep_blank_values=True)
    names = list(dict.fromkeys(name for name, _ in pairs))[: errors.MOST_ERRORS]
    unknown = [FieldError(validation.below(QUERY, name), message, "unknown") for name in names]
    if unknown:
        raise ValidationFailed.several(unknown)


def _check_media_type(request: Request, *expected: str) -> None:
    media_type = (request.headers.get("content-type", "")).partition(";")[0].strip().lower()
    if media_type not in expected:
        raise UnsupportedMediaType(", ".join(expected))


async def read_file(request: Request, media_types: Sequence[str], limit: int) -> bytes:
    """A body that is a file of one of these types."""
    _check_media_type(request, *media_types)
    return await read_body(request, limit=limit)


async def read_body(
    request: Request, *, seconds: int = _BODY_SECONDS, limit: int = BODY_LIMIT
) -> bytes:
    """The whole body. Headers do not matter, except when they rule out a body."""
    if request.has_no_body:
        return b""
    try:
        async with asyncio.timeout(seconds):
            raw = await request.limited_body(limit)
    except TimeoutError:
        raise BodyTooSlow(seconds) from None
    except ClientDisconnect:
        raise MalformedJson("it is incomplete") from None
    if raw is None:
        raise BodyTooLarge(limit)
    return raw


def _decode(raw: bytes, decoder: "msgspec.json.Decoder[Any]") -> Any:
    first = ""
    if _ESCAPED_NUL not in raw or not _NUL.search(raw):
        try:
            value = decoder.decode(raw)
        except msgspec.ValidationError as error:
            first = str(error)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise _malformed(error) from None
        else:
            wrong = validation.errors_in_decoded(decoder.type, value)
            if wrong:
                raise ValidationFailed.several(wrong)
            return value
    raise ValidationFailed.several(_errors_in_json(raw, decoder.type, first))


def _errors_in_json(raw: bytes, kind: Any, first: str) -> list[FieldError]:
    """Everything that is wrong with JSON that could not be decoded as `kind`."""
    try:
        plain = _PLAIN.decode(raw)
    except msgspec.ValidationError as error:  # a number that is too large for anything
        return [validation.first_error(str(error))]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _malformed(error) from None
    return validation.errors_in(kind, plain) or [validation.first_error(first)]


def _malformed(error: Exception) -> MalformedJson:
    if isinstance(error, RecursionError):
        return MalformedJson("it is nested too deeply")
    if isinstance(error, UnicodeDecodeError):
        return MalformedJson(f"it is not UTF-8 at byte {error.start}")
    return MalformedJson(str(error).rstrip("."))


def _convert(raw: bytes, kind: Any, root: str, *, page: bool) -> Any:
    """Read the pairs of a query or a form as `kind`.

    Browsers send a list by repeating its name, and every field that was left empty. So on a `page`
    an empty value means the same as a missing one, except for text. A member of a map is sent
    there as `name[member]`.
    """
    fields = validation.fields_of(kind)
    pairs = _pairs(raw, root, page=page)
    pairs, values = _take_maps(fields, pairs) if page else (pairs, {})
    repeated: dict[str, None] = {}
    for name, value in pairs:
        field = fields.get(name)
        if field is None:
            if not (page and root == QUERY):
                values.setdefault(name, value)
        elif page and not value and (field.nullable or not field.is_text):
            continue
        elif field.is_list:
            several = value.split(",") if field.commas and not page else [value]
            values.setdefault(name, []).extend(several)
        elif name in values:
            repeated[name] = None
        else:
            values[name] = value
    duplicates = [
        FieldError(validation.below(root, name), validation.REPEATED, "duplicate")
        for name in repeated
    ]
    well_written = all(
        fields[name].is_well_written(text)
        for name, value in values.items()
        if name in fields
        for text in (value if isinstance(value, list) else (value,))
    )
    if duplicates or b"%00" in raw or b"\0" in raw or not well_written:
        wrong = [*validation.errors_in(kind, values, root, as_text=True), *duplicates]
        if wrong:
            raise ValidationFailed.several(wrong[: errors.MOST_ERRORS])
    return _checked(values, kind, root)


def _take_maps(
    fields: Mapping[str, Any], pairs: list[tuple[str, str]]
) -> tuple[list[tuple[str, str]], dict[str, Any]]:
    """The pairs without those of maps, and the maps; an empty member is left out."""
    others: list[tuple[str, str]] = []
    maps: dict[str, Any] = {}
    for name, value in pairs:
        map_name, bracket, member = name.partition("[")
        if bracket and member.endswith("]") and map_name in fields and fields[map_name].is_map:
            if value:
                maps.setdefault(map_name, {})[member[:-1]] = value
        else:
            others.append((name, value))
    return others, maps


def _checked(values: Mapping[str, Any], kind: Any, root: str) -> Any:
    """Values that may be written as text, as `kind`."""
    try:
        value = msgspec.convert(values, kind, strict=False)
    except msgspec.ValidationError as error:
        wrong = validation.errors_in(kind, values, root, as_text=True)
        raise ValidationFailed.several(
            wrong or [validation.first_error(str(error), root)]
        ) from None
    wrong = validation.errors_in_decoded(kind, value, root, as_text=True)
    if wrong:
        raise ValidationFailed.several(wrong)
    return value


def _pairs(raw: bytes, root: str, *, page: bool) -> list[tuple[str, str]]:
    lenient = page and root == QUERY
    if raw.count(b"&") >= _MOST_PARAMETERS:
        raise ValidationFailed(root, f"Must have at most {_MOST_PARAMETERS} parameters.")
    try:
        text = raw.decode(errors="replace" if lenient else "strict")
        return parse_qsl(text, keep_blank_values=True, errors="replace" if lenient else "strict")
    except ValueError:
        raise ValidationFailed(root, "Must be parameters in UTF-8.") from None
