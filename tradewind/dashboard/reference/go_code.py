"""Go as the SDK writes it: names, types and values of the OpenAPI document. Pure."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

Json = Mapping[str, Any]

_INITIALISMS = {"api", "bom", "cny", "csv", "dns", "http", "id", "ip", "sku", "tls", "uri", "url"}
_SCALARS = {"string": "string", "boolean": "bool", "integer": "int", "number": "float64"}
_PACKAGE = "api."


def exported(name: str) -> str:
    """`order_id` as `OrderID`."""
    words = re.split(r"[^A-Za-z0-9]+", name)
    return "".join(
        each.upper() if each.lower() in _INITIALISMS else each[:1].upper() + each[1:]
        for each in words
    )


def go_type(schema: Json, *, is_optional: bool = False, package: str = "") -> str:
    """The Go type of a schema; a pointer where nothing may be there instead."""
    options = schema.get("anyOf")
    if options:
        real = [each for each in options if each.get("type") != "null"]
        if len(real) != 1:
            return "any"
        is_optional = is_optional or len(real) < len(options)
        return go_type(real[0], is_optional=is_optional, package=package)
    base = _plain_type(schema, package)
    return f"*{base}" if is_optional and not base.startswith(("[]", "map[", "any")) else base


def _plain_type(schema: Json, package: str) -> str:
    if "$ref" in schema:
        return package + schema_name(schema)
    kind = schema.get("type")
    if kind == "array":
        return f"[]{go_type(schema['items'], package=package)}"
    if kind == "object":
        values = schema.get("additionalProperties")
        of = go_type(values, package=package) if isinstance(values, dict) else "any"
        return f"map[string]{of}"
    if kind == "string" and schema.get("format") == "date-time":
        return "time.Time"
    return _SCALARS.get(str(kind), "any")


def schema_name(schema: Json) -> str:
    """The name of a schema that is used by reference."""
    reference: str = schema["$ref"]
    return reference.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class GoValues:
    """Writes values of JSON as Go does that uses the package `api`; `schemas` are those named."""

    schemas: Json

    def write(
        self, value: Any, schema: Json, depth: int, *, is_optional: bool = False, bare: bool = False
    ) -> str:
        """A value of a schema. A `bare` object leaves its type out, as in a list of its kind."""
        options = schema.get("anyOf", [schema])
        real = [each for each in options if each.get("type") != "null"]
        if value is None:
            return "nil"
        if len(real) != 1:
            return _any(value, depth)
        is_pointer = go_type(schema, is_optional=is_optional).startswith("*")
        (schema,) = real
        described = self.schemas[schema_name(schema)] if "$ref" in schema else schema
        kind = go_type(schema, package=_PACKAGE)
        if "properties" in described:
            mark = "&" if is_pointer else ""
            return ("" if bare else mark + kind) + self._fields(value, described, depth)
        if isinstance(value, list):
            members = [self.write(each, described["items"], depth + 1, bare=True) for each in value]
            return kind + _block(members, depth)
        if isinstance(value, dict):
            of = described.get("additionalProperties")
            return kind + _block(
                [
                    f"{json.dumps(name)}: "
                    + (
                        self.write(each, of, depth + 1, bare=True)
                        if isinstance(of, dict)
                        else _any(each, depth + 1)
                    )
                    for name, each in value.items()
                ],
                depth,
            )
        written = _scalar(value, kind, is_enum="enum" in described and "$ref" in schema)
        return f"{_PACKAGE}Ptr({written})" if is_pointer else written

    def _fields(self, value: Json, schema: Json, depth: int) -> str:
        required = schema.get("required", ())
        fields = [
            (
                exported(name),
                self.write(
                    each, schema["properties"][name], depth + 1, is_optional=name not in required
                ),
            )
            for name, each in value.items()
            if each is not None
        ]
        return _block(list(_aligned(fields)), depth)


def struct(kind: str, fields: Sequence[tuple[str, str]]) -> str:
    """A short value of a struct, in one line."""
    return f"{kind}{{{', '.join(f'{name}: {value}' for name, value in fields)}}}"


def _scalar(value: Any, kind: str, *, is_enum: bool) -> str:
    if is_enum:
        return kind + exported(value)
    if kind == "time.Time":
        time = datetime.fromisoformat(value).astimezone(UTC)
        parts = (time.year, time.month, time.day, time.hour, time.minute, time.second)
        return f"time.Date({', '.join(map(str, parts))}, {time.microsecond * 1000}, time.UTC)"
    if kind == "float64":
        return str(float(value))
    return json.dumps(value, ensure_ascii=False)


def _any(value: Any, depth: int) -> str:
    """A value whose type the SDK does not know."""
    if isinstance(value, dict):
        members = [f"{json.dumps(name)}: {_any(each, depth + 1)}" for name, each in value.items()]
        return "map[string]any" + _block(members, depth)
    if isinstance(value, list):
        return "[]any" + _block([_any(each, depth + 1) for each in value], depth)
    return "nil" if value is None else json.dumps(value, ensure_ascii=False)


def _block(members: Sequence[str], depth: int) -> str:
    if not members:
        return "{}"
    inner = "\t" * (depth + 1)
    return "{\n" + "".join(f"{inner}{member},\n" for member in members) + "\t" * depth + "}"


def _aligned(fields: Sequence[tuple[str, str]]) -> Iterator[str]:
    """The fields with their values in a column, as gofmt has them: up to one of several lines."""
    run: list[tuple[str, str]] = []
    for field in [*fields, ("", "\n")]:
        if "\n" not in field[1]:
            run.append(field)
            continue
        width = max((len(name) for name, _ in run), default=0)
        yield from (f"{name}:{' ' * (width - len(name))} {value}" for name, value in run)
        run = []
        if field[0]:
            yield f"{field[0]}: {field[1]}"
