"""Finds every error in a value, with a pointer and in plain words. Pure.

msgspec stops decoding at the first error and describes it in the words of a programming language.
So it only decides whether a request is valid. If it is not, the value is compared here with the
same type, field by field.

A type says in `Meta(extra=…)` what its schema cannot:

- `expected`: what would be right, to follow "Must be"; required with a pattern;
- `accepts`: a function that says whether a decoded text, number or time is valid;
- `distinct_by`: of a list of objects, the fields that must not be the same in two of them.

Errors that concern several fields of a struct are found by its method `check_fields`.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date, datetime
from difflib import get_close_matches
from functools import cache
from itertools import islice
from math import isfinite
from typing import Annotated, Any, Literal

import msgspec
from msgspec import inspect

from tradewind import ids
from tradewind.errors import MOST_ERRORS, FieldError

# Limits for a hostile body: on the errors that are reported, the values that are examined, and the
# unknown names for which a similar one is suggested.
_MOST_VALUES = 10_000
_MOST_SUGGESTIONS = 10
_LONGEST_NAME = 64

# Patterns of text that must not be blank; the second may be left empty.
NOT_BLANK = r"\S"
EMPTY_OR_NOT_BLANK = r"^$|\S"

QUERY = "?"
WHOLE_NUMBER = re.compile(r"-?[0-9]{1,18}")
TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][^\s]+")

REQUIRED = "Is required."
REPEATED = "Must be sent only once."
NO_NUL = "Must not contain the character U+0000."

_ID_KINDS: Mapping[str, ids.Kind] = {kind.pattern: kind for kind in ids.OURS}
_PATH = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]")


def below(pointer: str, step: str | int) -> str:
    """The pointer to a member of what `pointer` points at."""
    escaped = str(step).replace("~", "~0").replace("/", "~1")
    return pointer + escaped if pointer == QUERY else f"{pointer}/{escaped}"


def errors_in(kind: Any, value: Any, root: str = "", *, as_text: bool = False) -> list[FieldError]:
    """All errors in JSON that should be a `kind`, at most 100.

    With `as_text`, numbers and the like are written as text, as in a query or a form.
    """
    report = _Report(as_text=as_text)
    with suppress(_LimitReached):
        rule_of(kind).examine(value, root, report)
    return report.errors


def errors_in_decoded(
    kind: Any, value: Any, root: str = "", *, as_text: bool = False
) -> list[FieldError]:
    """The errors in a value that msgspec decoded as a `kind`: those that no schema can express."""
    rule = rule_of(kind)
    if not rule.has_checks:
        return []
    report = _Report(as_text=as_text)
    with suppress(_LimitReached):
        rule.verify(value, root, report)
    return report.errors


def first_error(text: str, root: str = "") -> FieldError:
    """The error in msgspec's own message, for a value in which `errors_in` found none."""
    _, _, path = text.rpartition(" - at `")
    pointer = root
    for name, index in _PATH.findall(path.partition("[...]")[0]):
        pointer = below(pointer, name or index)
    out_of_range = "out of range" in text
    return FieldError(
        pointer,
        "Has a number that is too large." if out_of_range else "Has an invalid value.",
    )


class _LimitReached(Exception):
    """There are too many errors or values to examine more of them."""


@dataclass(slots=True)
class _Report:
    """The errors of one walk."""

    as_text: bool
    errors: list[FieldError] = field(default_factory=list)
    values: int = 0
    suggestions: int = 0

    def add(self, pointer: str, message: str, code: str = "invalid") -> None:
        self.errors.append(FieldError(pointer, message, code))
        if len(self.errors) >= MOST_ERRORS:
            raise _LimitReached

    def count(self) -> None:
        self.values += 1
        if self.values > _MOST_VALUES:
            raise _LimitReached

    def unknown(self, pointer: str, name: str, names: Sequence[str]) -> None:
        noun = "parameter" if pointer.startswith(QUERY) else "field"
        message = f"Is not a known {noun}."
        if self.suggestions < _MOST_SUGGESTIONS and len(name) <= _LONGEST_NAME:
            self.suggestions += 1
            close = get_close_matches(name, names, n=1)
            if close:
                message = f"Is not a known {noun}; did you mean `{close[0]}`?"
        self.add(pointer, message, "unknown")


class _Rule:
    """The rule of a type. This one, of `Any`, accepts everything."""

    expected = "any value"
    # How it is sent in a query or a form.
    is_text = False
    is_list = False
    is_map = False
    commas = False
    written: re.Pattern[str] | None = None

    def __init__(self, extra: Mapping[str, Any]) -> None:
        self.accepts: Callable[[Any], bool] | None = extra.get("accepts")
        self.expected = extra.get("expected", self.expected)
        self.nullable = False

    @property
    def has_checks(self) -> bool:
        """Whether there are errors that decoding alone does not find."""
        return self.accepts is not None

    def examine(self, value: Any, at: str, report: _Report) -> None:
        """Report the errors in a plain value."""
        report.count()
        if value is None and self.nullable:
            return
        self._examine(value, at, report)

    def verify(self, value: Any, at: str, report: _Report) -> None:
        """Report the errors in a decoded value that its schema does not find."""
        if value is None and self.nullable:
            return
        if self.accepts is not None and not self.accepts(value):
            self.reject(at, report)

    def is_well_written(self, text: str) -> bool:
        return self.written is None or self.written.fullmatch(text) is not None

    def reject(self, at: str, report: _Report) -> None:
        null = ", or null" if self.nullable and not report.as_text else ""
        report.add(at, f"Must be {self.expected}{null}.")

    def _examine(self, value: Any, at: str, report: _Report) -> None:
        pass


class _Leaf(_Rule):
    """A value without members, of a `kind` that msgspec converts.

    `written` is how it must be written as text, where msgspec alone would accept more.
    """

    def __init__(
        self,
        extra: Mapping[str, Any],
        kind: Any,
        expected: str,
        written: re.Pattern[str] | None = None,
    ) -> None:
        self.kind = kind
        self.expected = expected
        self.written = written
        super().__init__(extra)

    def _examine(self, value: Any, at: str, report: _Report) -> None:
        if report.as_text and isinstance(value, str) and not self.is_well_written(value):
            self.reject(at, report)
            return
        try:
            decoded = msgspec.convert(value, self.kind, strict=not report.as_text)
        except msgspec.ValidationError:
            self.reject(at, report)
            return
        if isinstance(decoded, float) and not isfinite(decoded):
            self.reject(at, report)
        else:
            self.verify(decoded, at, report)


class _Text(_Leaf):
    is_text = True

    def __init__(self, extra: Mapping[str, Any], info: inspect.StrType) -> None:
        expected = "text" + _size(info.min_length, info.max_length, "of", "characters")
        if info.pattern in (NOT_BLANK, EMPTY_OR_NOT_BLANK):
            expected += ", not only spaces"
        elif info.pattern and (kind := _ID_KINDS.get(info.pattern)):
            article = "an" if kind.noun[0] in "aeiouA" else "a"
            expected = f"the id of {article} {kind.noun}, such as {kind.example}"
        elif info.pattern and "expected" not in extra:
            raise TypeError(f"Add `expected` to Meta(extra=…) for the pattern {info.pattern}.")
        if info.pattern == EMPTY_OR_NOT_BLANK:
            extra = {"accepts": lambda text: not text.isspace(), **extra}
        elif info.pattern and info.pattern.endswith("$"):
            # `$` also matches before a line feed at the end.
            extra = {"accepts": lambda text: not text.endswith("\n"), **extra}
        super().__init__(extra, _bounded(str, info), expected)

    def _examine(self, value: Any, at: str, report: _Report) -> None:
        if isinstance(value, str) and "\0" in value:
            report.add(at, NO_NUL)
        else:
            super()._examine(value, at, report)


class _File(_Rule):
    """The content of a file that a form contains; a text is not one."""

    expected = "a file"

    def _examine(self, value: Any, at: str, report: _Report) -> None:
        if not isinstance(value, bytes):
            self.reject(at, report)


class _List(_Rule):
    is_list = True

    def __init__(
        self, extra: Mapping[str, Any], item: _Rule, least: int | None, most: int | None
    ) -> None:
        self.item = item
        self.least, self.most = least, most
        self.distinct_by: Sequence[str] = extra.get("distinct_by", ())
        self.commas = extra.get("commas", True)
        self.written = item.written
        self.expected = "a list" + _size(least, most, "of", "items")
        super().__init__(extra)

    @property
    def has_checks(self) -> bool:
        return super().has_checks or bool(self.distinct_by) or self.item.has_checks

    def _examine(self, value: Any, at: str, report: _Report) -> None:
        if not isinstance(value, list | tuple):
            self.reject(at, report)
            return
        if not _has_size(value, self.least, self.most):
            self.reject(at, report)
        right: list[tuple[int, Any]] = []
        for index, item in enumerate(islice(value, self.most)):
            before = len(report.errors)
            self.item.examine(item, below(at, index), report)
            if len(report.errors) == before:
                right.append((index, item))
        self._find_repeated(right, at, report)

    def verify(self, value: Any, at: str, report: _Report) -> None:
        super().verify(value, at, report)
        if value is None:
            return
        if self.item.has_checks:
            for index, item in enumerate(value):
                self.item.verify(item, below(at, index), report)
        self._find_repeated(enumerate(value), at, report)

    def _find_repeated(self, items: Iterable[tuple[int, Any]], at: str, report: _Report) -> None:
        if not self.distinct_by:
            return
        first_by_key: dict[tuple[Any, ...], int] = {}
        for index, item in items:
            key = tuple(_member(item, name) for name in self.distinct_by)
            first = first_by_key.setdefault(key, index)
            if first != index:
                fields = " and ".join(self.distinct_by)
                message = f"Has the same {fields} as {below(at, first)}; send them as one item."
                report.add(below(at, index), message, "duplicate")


class _Map(_Rule):
    is_map = True

    def __init__(
        self, extra: Mapping[str, Any], key: _Rule, member: _Rule, info: inspect.DictType
    ) -> None:
        self.key, self.member = key, member
        self.least, self.most = info.min_length, info.max_length
        self.expected = "an object" + _size(self.least, self.most, "with", "fields")
        super().__init__(extra)

    @property
    def has_checks(self) -> bool:
        return super().has_checks or self.key.has_checks or self.member.has_checks

    def _examine(self, value: Any, at: str, report: _Report) -> None:
        if not isinstance(value, dict):
            self.reject(at, report)
            return
        if not _has_size(value, self.least, self.most):
            self.reject(at, report)
        before = len(report.errors)
        for name, member in islice(value.items(), self.most):
            names = _Report(as_text=report.as_text)
            self.key.examine(name, "", names)
            self._report_name(name, at, names, report)
            self.member.examine(member, below(at, name), report)
        if len(report.errors) == before:
            super().verify(value, at, report)

    def verify(self, value: Any, at: str, report: _Report) -> None:
        super().verify(value, at, report)
        if value is None:
            return
        for name, member in value.items():
            names = _Report(as_text=report.as_text)
            self.key.verify(name, "", names)
            self._report_name(name, at, names, report)
            self.member.verify(member, below(at, name), report)

    def _report_name(self, name: str, at: str, names: _Report, report: _Report) -> None:
        if names.errors:
            report.add(below(at, name), f"Its name m{names.errors[0].message[1:]}")


class _Object(_Rule):
    expected = "an object"

    def __init__(self, extra: Mapping[str, Any], info: inspect.StructType) -> None:
        super().__init__(extra)
        self.kind = info.cls
        self.closed = info.forbid_unknown_fields
        self.rules = {f.encode_name: rule_for(f.type) for f in info.fields}
        self.required = [f.encode_name for f in info.fields if f.required]
        self.check_fields: Callable[[Any], Iterable[FieldError]] | None = getattr(
            info.cls, "check_fields", None
        )
        self.checked = [
            (f.encode_name, f.name, self.rules[f.encode_name])
            for f in info.fields
            if self.rules[f.encode_name].has_checks
        ]

    @property
    def has_checks(self) -> bool:
        return super().has_checks or bool(self.checked) or self.check_fields is not None

    def _examine(self, value: Any, at: str, report: _Report) -> None:
        if not isinstance(value, dict):
            self.reject(at, report)
            return
        before = len(report.errors)
        for name in self.required:
            if name not in value:
                report.add(below(at, name), REQUIRED, "missing")
        for name, member in value.items():
            if name in self.rules:
                self.rules[name].examine(member, below(at, name), report)
            elif self.closed:
                report.unknown(below(at, name), name, list(self.rules))
        if self.check_fields is not None and len(report.errors) == before:
            with suppress(msgspec.ValidationError):
                decoded = msgspec.convert(value, self.kind, strict=not report.as_text)
                self._check(decoded, at, report)

    def verify(self, value: Any, at: str, report: _Report) -> None:
        super().verify(value, at, report)
        if value is None:
            return
        before = len(report.errors)
        for encoded, name, rule in self.checked:
            rule.verify(getattr(value, name), below(at, encoded), report)
        if self.check_fields is not None and len(report.errors) == before:
            self._check(value, at, report)

    def _check(self, value: Any, at: str, report: _Report) -> None:
        assert self.check_fields is not None  # noqa: S101 - for mypy; both callers checked
        for error in self.check_fields(value):
            name = error.pointer.removeprefix("/")
            report.add(below(at, name) if name else at, error.message, error.code)


class _AnyOf(_Rule):
    """A union: a value is valid if one of its options accepts it.

    Which option was decoded is unknown, so the options' `accepts` are not called for it.
    """

    def __init__(self, extra: Mapping[str, Any], options: Sequence[_Rule]) -> None:
        self.options = options
        self.expected = " or ".join(option.expected for option in options)
        self.is_list = any(option.is_list for option in options)
        self.commas = any(option.commas for option in options)
        self.written = next((option.written for option in options if option.written), None)
        super().__init__(extra)

    def _examine(self, value: Any, at: str, report: _Report) -> None:
        tried = []
        for option in self.options:
            inner = _Report(as_text=report.as_text, values=report.values)
            with suppress(_LimitReached):
                option.examine(value, at, inner)
            if not inner.errors:
                return
            tried.append(inner.errors)
        # Errors inside an option say more, if it is clear which option was meant.
        inside = [errors for errors in tried if all(error.pointer != at for error in errors)]
        if len(inside) == 1:
            for error in inside[0]:
                report.add(error.pointer, error.message, error.code)
        else:
            self.reject(at, report)


@cache
def rule_of(kind: Any) -> _Rule:
    """The rule of a type that callers send."""
    return rule_for(inspect.type_info(kind))


def fields_of(kind: Any) -> Mapping[str, _Rule]:
    """The rules of a struct's fields, by the names that callers send."""
    rule = rule_of(kind)
    return rule.rules if isinstance(rule, _Object) else {}


def takes_bytes(kind: Any, name: str) -> bool:
    """Whether this field of a struct takes the content of a file."""
    return isinstance(fields_of(kind).get(name), _File)


def rule_for(info: inspect.Type) -> _Rule:  # noqa: C901, PLR0911, PLR0912 - one line a type
    """The rule of a type as msgspec describes it."""
    extra: dict[str, Any] = {}
    while isinstance(info, inspect.Metadata):
        extra = {**(info.extra or {}), **extra}
        info = info.type
    match info:
        case inspect.UnionType():
            return _rule_for_union(info, extra)
        case inspect.NoneType():
            return _Leaf(extra, None, "null")
        case inspect.BoolType():
            return _Leaf(extra, bool, "true or false")
        case inspect.IntType():
            expected = "a whole number" + _range(info.ge, info.le)
            return _Leaf(extra, _bounded(int, info), expected, WHOLE_NUMBER)
        case inspect.FloatType():
            return _Leaf(extra, _bounded(float, info), "a number" + _range(info.ge, info.le))
        case inspect.StrType():
            return _Text(extra, info)
        case inspect.DateTimeType():
            expected = "a time with an offset, such as 2026-11-15T01:02:03Z"
            return _Leaf(extra, _bounded(datetime, info), expected, TIME)
        case inspect.DateType():
            return _Leaf(extra, date, "a date, such as 2026-11-15")
        case inspect.EnumType():
            return _Leaf(extra, info.cls, _one_of(member.value for member in info.cls))
        case inspect.LiteralType():
            return _Leaf(extra, Literal[info.values], _one_of(info.values))
        case inspect.ListType() | inspect.VarTupleType():
            return _List(extra, rule_for(info.item_type), info.min_length, info.max_length)
        case inspect.DictType():
            return _Map(extra, rule_for(info.key_type), rule_for(info.value_type), info)
        case inspect.StructType():
            return _Object(extra, info)
        case inspect.BytesType():
            return _File(extra)
        case inspect.AnyType():
            return _Rule(extra)
        case _:
            raise TypeError(f"There is no description of {info} for callers yet.")


def _rule_for_union(info: inspect.UnionType, extra: Mapping[str, Any]) -> _Rule:
    options = [option for option in info.types if not isinstance(option, inspect.NoneType)]
    if len(options) == 1:
        rule = rule_for(inspect.Metadata(options[0], extra=dict(extra)))
    else:
        rule = _AnyOf(extra, [rule_for(option) for option in options])
    rule.nullable = len(options) < len(info.types)
    return rule


def _bounded(kind: type, info: inspect.Type) -> Any:
    """The type with the bounds that msgspec's description of it has."""
    return Annotated[kind, msgspec.Meta(**msgspec.structs.asdict(info))]


def _one_of(values: Iterable[Any]) -> str:
    return f"one of: {', '.join(map(str, values))}"


def _range(least: float | None, most: float | None) -> str:
    """The bounds of a number in words, after a blank; empty when there are none."""
    if least is not None and most is not None:
        return f" from {least:,} to {most:,}"
    if least is not None:
        return f" of at least {least:,}"
    return "" if most is None else f" of at most {most:,}"


def _size(least: int | None, most: int | None, lead: str, noun: str) -> str:
    """The allowed number of characters, items or fields in words; empty when any is."""
    if least and most is not None:
        return f" {lead} {least:,} to {most:,} {noun}"
    if least:
        return f" {lead} at least {least:,} {noun}"
    return "" if most is None else f" {lead} at most {most:,} {noun}"


def _has_size(value: Sized, least: int | None, most: int | None) -> bool:
    return (least is None or len(value) >= least) and (most is None or len(value) <= most)


def _member(item: Any, name: str) -> Any:
    return item.get(name) if isinstance(item, dict) else getattr(item, name)
