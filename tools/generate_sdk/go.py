"""Writes the Go client: a type for every schema and a method for every operation."""

import re
import shutil
import subprocess
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tools.generate_sdk.document import Document, Operation, Parameter
from tradewind.dashboard.reference.go_code import exported, go_type

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "sdk" / "go" / "api"
# The form that Go tools recognise.
_GENERATED = "// Code generated from the OpenAPI document by `make client`. DO NOT EDIT."
_WRITTEN_BY_HAND = {"CallOption", "Client", "Error", "Option", "Ptr", "StreamedEvent"}
_WIDTH = 97


def files(document: Document, openapi: Path) -> dict[Path, str]:
    """Every generated file with its text."""
    del openapi
    if shutil.which("gofmt") is None:
        raise FileNotFoundError("gofmt is missing: install Go 1.24 or newer.")
    if collisions := _WRITTEN_BY_HAND & set(document.schemas):
        raise ValueError(f"The Go package has types of these names already: {collisions}.")
    return {
        PACKAGE / "types.go": _formatted(_types_file(document)),
        PACKAGE / "operations.go": _formatted(_operations_file(document)),
    }


def _formatted(source: str) -> str:
    gofmt = shutil.which("gofmt") or "gofmt"
    done = subprocess.run([gofmt], input=source, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return done.stdout


def _comment(text: str) -> Iterator[str]:
    for paragraph in text.strip().split("\n"):
        if paragraph.strip():
            yield from (f"// {line}" for line in textwrap.wrap(paragraph, _WIDTH))
        else:
            yield "//"


# Types


def _types_file(document: Document) -> str:
    types = "\n\n".join(
        "\n".join(_type(name, schema)) for name, schema in sorted(document.schemas.items())
    )
    return f"""\
{_GENERATED}

package api

import "time"

{types}
"""


def _type(name: str, schema: Any) -> Iterator[str]:
    yield from _comment(f"{name}: {schema['description']}" if "description" in schema else "")
    if "enum" in schema:
        yield f"type {name} string\n"
        yield f"// The values of {name}; more may be added."
        yield "const ("
        for value in schema["enum"]:
            yield f'\t{name}{exported(value)} {name} = "{value}"'
        yield ")"
    elif "properties" in schema:
        yield f"type {name} struct {{"
        for field, described in schema["properties"].items():
            yield from _field(field, described, field in schema.get("required", ()))
        yield "}"
    else:
        yield f"type {name} {go_type(schema)}"


def _field(name: str, schema: Any, is_required: bool) -> Iterator[str]:
    yield from _comment(schema.get("description", ""))
    tag = name if is_required else f"{name},omitempty"
    yield f'\t{exported(name)} {go_type(schema, is_optional=not is_required)} `json:"{tag}"`'


# Operations


def _operations_file(document: Document) -> str:
    methods = "\n".join(
        "\n".join([*_query_type(each), *_method(each), *_sequence(each, document)])
        for each in document.operations()
    )
    return f"""\
{_GENERATED}

package api

import (
	"context"
	"io"
	"iter"
	"net/url"
	"time"
)

{methods}
"""


def _query_type(operation: Operation) -> Iterator[str]:
    if not operation.query:
        return
    name = f"{exported(operation.name)}Query"
    yield f"// {name} has the parameters of {exported(operation.name)}."
    yield f"type {name} struct {{"
    for each in operation.query:
        yield from _comment(each.description)
        yield f"\t{exported(each.name)} {go_type(each.schema, is_optional=not each.is_required)}"
    yield "}\n"
    yield f"func (q {name}) values() url.Values {{"
    yield "\tquery := url.Values{}"
    for each in operation.query:
        yield f"\t{_set(each)}"
    yield "\treturn query"
    yield "}\n"


def _set(parameter: Parameter) -> str:
    field = f"q.{exported(parameter.name)}"
    shape = go_type(parameter.schema, is_optional=not parameter.is_required)
    if shape.startswith("[]"):
        return f'setAll(query, "{parameter.name}", {field})'
    return f'set(query, "{parameter.name}", {field if shape.startswith("*") else "&" + field})'


def _arguments(operation: Operation) -> list[tuple[str, str]]:
    """The names and types of a method's own arguments."""
    arguments = [(each.name, "string") for each in operation.path_parameters]
    if operation.body and operation.body.schema is None:
        arguments.append(("body", "[]byte"))
    elif operation.body:
        mark = "" if operation.body.is_required else "*"
        arguments.append(("body", f"{mark}{operation.body.schema}"))
    if operation.query:
        arguments.append(("query", f"{exported(operation.name)}Query"))
    return arguments


def _signature(operation: Operation, suffix: str, result: str) -> str:
    named = "".join(f", {name} {shape}" for name, shape in _arguments(operation))
    name = f"{exported(operation.name)}{suffix}"
    start = f"func (c *Client) {name}(ctx context.Context{named}"
    return f"{start}, options ...CallOption) {result} {{"


def _method(operation: Operation) -> Iterator[str]:
    about = f"{operation.summary}.\n\n{operation.description}".strip()
    yield from _comment(
        f"{exported(operation.name)}: {about}\n\n{operation.method} {operation.path}"
    )
    if operation.returns_stream:
        yield _signature(operation, "", "iter.Seq2[StreamedEvent, error]")
    elif operation.returns_file:
        yield _signature(operation, "", "(io.ReadCloser, error)")
    elif operation.result:
        yield _signature(operation, "", f"(*{operation.result}, error)")
    else:
        yield _signature(operation, "", "error")
    yield from _request(operation)
    if operation.returns_stream:
        yield "\treturn c.follow(ctx, request, options)"
    elif operation.returns_file:
        yield "\treturn c.doFile(ctx, request, options)"
    elif operation.result:
        yield f"\treturn doJSON[{operation.result}](ctx, c, request, options)"
    else:
        yield "\treturn c.do(ctx, request, nil, options)"
    yield "}\n"


def _request(operation: Operation) -> Iterator[str]:
    parts = [f'method: "{operation.method}"']
    if operation.query:
        parts.append("query: query.values()")
    if operation.takes_key:
        parts.append("keyed: true")
    if operation.body:
        parts.append(f'media: "{operation.body.media_type}"')
        if operation.body.is_required:
            parts.append("body: body")
    yield f"\trequest := call{{{', '.join(parts)}}}"
    path = re.sub(r"\{(\w+)\}", r'" + request.segment(\1) + "', operation.path)
    yield f'\trequest.path = "{path}"'.removesuffix(' + ""')
    if operation.body and not operation.body.is_required:
        value = "body" if operation.body.schema is None else "*body"
        yield f"\tif body != nil {{\n\t\trequest.body = {value}\n\t}}"


def _sequence(operation: Operation, document: Document) -> Iterator[str]:
    if operation.cursor is None:
        return
    name = exported(operation.name)
    names = "".join(f", {name}" for name, _ in _arguments(operation))
    cursor = document.schemas[operation.result or ""]["properties"]["next_cursor"]
    mark = "" if go_type(cursor).startswith("*") else "&"
    yield f"// {name}Seq iterates over the items of all pages of {name}. An error ends it."
    yield _signature(operation, "Seq", f"iter.Seq2[{operation.item}, error]")
    yield f"\treturn sequence(func(cursor *string) ([]{operation.item}, *string, error) {{"
    yield f"\t\tif cursor != nil {{\n\t\t\tquery.{exported(operation.cursor)} = cursor\n\t\t}}"
    yield f"\t\tpage, err := c.{name}(ctx{names}, options...)"
    yield "\t\tif err != nil {\n\t\t\treturn nil, nil, err\n\t\t}"
    yield f"\t\treturn page.Items, nextCursor(page.HasMore, {mark}page.NextCursor), nil"
    yield "\t})"
    yield "}\n"
