"""Writes the generated part of the Python client from the OpenAPI document."""

import keyword
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tradewind.runtime.api import reference

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "sdk/python/tradewind_sdk/client/generated"
_WIDTH = 96
_PAGE_FIELDS = {"items", "has_more", "next_cursor"}
# Names that the rule in `method_name` would make worse than these.
_METHODS = {"get_saved_address": "get"}
# Paths outside /v1 are about the server itself.
_SERVER = "server"
_IDEMPOTENCY_KEY = "Idempotency-Key"

HEAD = '''\
"""Every operation of the API as a method; calls {awaited}."""

from __future__ import annotations

from collections.abc import {iterator}, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Literal

from tradewind_sdk.client.call import (
    OMITTED,
    Call,
    Omitted,
    headers_of,
    idempotent,
    json_of,
    optional_json_of,
    path_of,
    query_of,
)
from tradewind_sdk.client.generated import types
from tradewind_sdk.client.paging import {prefix}Paginator
from tradewind_sdk.client.sse import ServerSentEvent
from tradewind_sdk.client.transport import {prefix}Transport
'''


class DocumentError(Exception):
    """The document says something that this generator cannot translate."""


@dataclass(frozen=True)
class Parameter:
    """One parameter of a method."""

    name: str
    type: str
    place: str  # path, query, header or body
    wire_name: str
    is_required: bool


@dataclass(frozen=True)
class Method:
    """One operation as a method."""

    operation_id: str
    resource: str
    name: str
    verb: str
    path: str
    parameters: tuple[Parameter, ...]
    has_key: bool
    content: str  # how the body is made: json, optional json, bytes or none
    result: str  # json, page, bytes, events or none
    result_type: str
    item_type: str
    doc: str

    def of(self, place: str) -> list[Parameter]:
        return [parameter for parameter in self.parameters if parameter.place == place]


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, text in files(reference()).items():
        (FOLDER / name).write_text(text, encoding="utf-8")


def files(document: Any) -> dict[str, str]:
    """The generated files, formatted, by name."""
    translator = Translator(document)
    methods = list(translator.methods())
    names = [(method.resource, method.name) for method in methods]
    if repeated := {name for name in names if names.count(name) > 1}:
        raise DocumentError(f"Several operations would be called {repeated}.")
    made = {
        "__init__.py": '"""Written by `make client` from the OpenAPI document: do not edit."""\n',
        "types.py": translator.types(),
        "resources.py": resources(methods, is_async=False),
        "async_resources.py": resources(methods, is_async=True),
        "operations.py": operations(methods),
    }
    return {name: formatted(text) for name, text in made.items()}


def formatted(text: str) -> str:
    command = [
        sys.executable,
        "-m",
        "ruff",
        "format",
        "--stdin-filename",
        str(FOLDER / "x.py"),
        "-",
    ]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True, cwd=ROOT)
    return done.stdout


class Translator:
    """Reads the document."""

    def __init__(self, document: Any) -> None:
        self._document = document
        self._schemas = document["components"]["schemas"]

    def types(self) -> str:
        parts = [
            '"""The JSON of the API as types; servers may send more fields and values."""',
            "from __future__ import annotations",
            "from typing import Any, Literal, NotRequired, TypedDict",
            *(self._schema(name, schema) for name, schema in self._schemas.items()),
        ]
        return "\n\n".join(parts) + "\n"

    def _schema(self, name: str, schema: Any) -> str:
        if "properties" not in schema:
            return f"{name} = {self._type(schema, '')}\n{docstring(schema, '')}"
        required = schema.get("required", [])
        lines = [f"class {name}(TypedDict):", docstring(schema, "    ")]
        for field, described in schema["properties"].items():
            if not field.isidentifier() or keyword.iskeyword(field):
                raise DocumentError(f"{name}.{field} is not a name in Python.")
            kind = self._type(described, "")
            lines.append(f"    {field}: {kind if field in required else f'NotRequired[{kind}]'}")
            lines.append(docstring(described, "    "))
        return "\n".join(line for line in lines if line)

    def _type(self, schema: Any, module: str, *, is_input: bool = False) -> str:
        """The type of a value; `module` is the prefix by which schemas are named."""
        if "$ref" in schema:
            name: str = schema["$ref"].rpartition("/")[2]
            return module + name
        if "anyOf" in schema:
            options = [self._type(option, module, is_input=is_input) for option in schema["anyOf"]]
            return " | ".join(dict.fromkeys(options))
        if "enum" in schema:
            return f"Literal[{', '.join(map(repr, schema['enum']))}]"
        kind = schema.get("type")
        if kind == "array":
            item = self._type(schema["items"], module, is_input=is_input)
            return f"Sequence[{item}]" if is_input else f"list[{item}]"
        if kind == "object":
            value = schema.get("additionalProperties")
            inner = self._type(value, module) if isinstance(value, dict) else "Any"
            return f"Mapping[str, {inner}]" if is_input else f"dict[str, {inner}]"
        is_time = schema.get("format") == "date-time"
        simple = {
            "string": "str | datetime" if is_input and is_time else "str",
            "integer": "int",
            "number": "float | Decimal" if is_input else "float",
            "boolean": "bool",
            "null": "None",
        }
        return simple[kind] if kind else "Any"

    def _resolved(self, value: Any) -> Any:
        if "$ref" not in value:
            return value
        target = self._document
        for step in value["$ref"].split("/")[1:]:
            target = target[step]
        return target

    def methods(self) -> Iterator[Method]:
        for path, verbs in self._document["paths"].items():
            for verb, operation in verbs.items():
                yield self._method(path, verb.upper(), operation)

    def _method(self, path: str, verb: str, operation: Any) -> Method:
        described = [self._resolved(each) for each in operation["parameters"]]
        has_key = any(each["name"] == _IDEMPOTENCY_KEY for each in described)
        parameters = [
            self._parameter(each) for each in described if each["name"] != _IDEMPOTENCY_KEY
        ]
        content, fields = self._body(operation.get("requestBody"))
        names = [parameter.name for parameter in (*parameters, *fields)]
        if len(names) != len(set(names)):
            raise DocumentError(f"{operation['operationId']} has two parameters of one name.")
        resource = resource_name(path)
        result, result_type, item_type = self._result(operation)
        return Method(
            operation["operationId"],
            resource,
            method_name(resource, operation["operationId"]),
            verb,
            path,
            (*parameters, *fields),
            has_key,
            content,
            result,
            result_type,
            item_type,
            "\n\n".join(filter(None, [operation.get("summary"), operation.get("description")])),
        )

    def _parameter(self, described: Any) -> Parameter:
        schema = self._resolved(described["schema"])
        if schema.get("type") == "array":
            item = self._type(schema["items"], "types.", is_input=True)
            kind = f"{item} | Sequence[{item}]"
        elif described["in"] == "path":
            kind = "str"
        else:
            kind = self._type(described["schema"], "types.", is_input=True)
        return Parameter(
            python_name(described["name"]),
            kind,
            described["in"],
            described["name"],
            described.get("required", False),
        )

    def _body(self, described: Any) -> tuple[str, list[Parameter]]:
        if described is None:
            return "none", []
        schema = described["content"].get("application/json", {}).get("schema")
        if schema is None:
            return "bytes", [Parameter("content", "bytes", "body", "content", is_required=True)]
        schema = self._resolved(schema)
        required = schema.get("required", [])
        fields = [
            Parameter(
                python_name(name),
                self._type(field, "types.", is_input=True),
                "body",
                name,
                name in required,
            )
            for name, field in schema["properties"].items()
        ]
        return ("json" if described.get("required") else "optional json"), fields

    def _result(self, operation: Any) -> tuple[str, str, str]:
        """How the response is read, its type, and for a page the type of its items."""
        for status, response in operation["responses"].items():
            content = self._resolved(response).get("content")
            if not status.startswith("2") or not content:
                continue
            if "text/event-stream" in content:
                return "events", "ServerSentEvent", ""
            if "application/json" not in content:
                return "bytes", "bytes", ""
            schema = content["application/json"]["schema"]
            fields = self._resolved(schema).get("properties", {})
            name = self._type(schema, "types.")
            if set(fields) >= _PAGE_FIELDS and name.endswith("Page"):
                return "page", name, self._type(fields["items"]["items"], "types.")
            return "json", name, ""
        return "none", "None", ""


def resource_name(path: str) -> str:
    """`/v1/api-keys/{id}` belongs to `api_keys`."""
    steps = path.split("/")[1:]
    return python_name(steps[1]) if steps[0] == "v1" else _SERVER


def method_name(resource: str, operation_id: str) -> str:
    """The operation's id without the name of its resource: `create_order` is `orders.create`."""
    if operation_id in _METHODS:
        return _METHODS[operation_id]
    singular = re.sub(r"(?<=ss)es$|s$", "", resource)
    words = f"_{operation_id}_"
    for name in (resource, singular):
        words = words.replace(f"_{name}_", "_", 1)
    name = words.strip("_")
    return name if name.isidentifier() and not keyword.iskeyword(name) else operation_id


def python_name(name: str) -> str:
    """`Last-Event-ID` is `last_event_id`."""
    made = name.replace("-", "_").lower()
    if not made.isidentifier():
        raise DocumentError(f"{name} cannot be a name in Python.")
    return f"{made}_" if keyword.iskeyword(made) else made


def class_name(resource: str) -> str:
    return "".join(word.capitalize() for word in resource.split("_"))


def docstring(schema: Any, indent: str) -> str:
    text = schema.get("description", "")
    return quoted(text, indent) if text else ""


def quoted(text: str, indent: str) -> str:
    """A docstring with wrapped lines."""
    text = text.replace("\\", "\\\\").replace('"""', "'''")
    paragraphs = text.split("\n\n")
    wrapped = [
        textwrap.fill(
            " ".join(paragraph.split()),
            _WIDTH - len(indent),
            break_on_hyphens=False,
            break_long_words=False,
        )
        for paragraph in paragraphs
    ]
    body = "\n\n".join(wrapped)
    if body.endswith('"'):
        body += " "
    end = f"\n{indent}" if "\n" in body else ""
    return textwrap.indent(f'"""{body}', indent) + end + '"""'


def resources(methods: list[Method], *, is_async: bool) -> str:
    """The classes of the resources, and one that has them all."""
    prefix = "Async" if is_async else ""
    names = list(dict.fromkeys(method.resource for method in methods))
    awaited = "that await their responses" if is_async else "that wait for their responses"
    parts = [
        HEAD.format(prefix=prefix, iterator=f"{prefix}Iterator", awaited=awaited),
    ]
    for name in names:
        lines = [
            f"class {prefix}{class_name(name)}:",
            f'    """The operations of `client.{name}`."""\n',
            f"    def __init__(self, transport: {prefix}Transport) -> None:",
            "        self._transport = transport\n",
        ]
        lines += [
            definition(method, is_async=is_async) + "\n"
            for method in methods
            if method.resource == name
        ]
        parts.append("\n".join(lines))
    lines = [
        f"class {prefix}Resources:",
        '    """Every resource of the API."""\n',
        f"    def __init__(self, transport: {prefix}Transport) -> None:",
        *(f"        self.{name} = {prefix}{class_name(name)}(transport)" for name in names),
    ]
    return "\n\n\n".join([*parts, "\n".join(lines)]) + "\n"


def definition(method: Method, *, is_async: bool) -> str:
    """One method: its signature, docstring and call."""
    returns = {
        "page": f"{'Async' if is_async else ''}Paginator[{method.item_type}, {method.result_type}]",
        "bytes": f"{'Async' if is_async else ''}Iterator[bytes]",
        "events": f"{'Async' if is_async else ''}Iterator[ServerSentEvent]",
    }.get(method.result, method.result_type)
    waits = is_async and method.result in {"json", "none"}
    head = f"    {'async ' if waits else ''}def {method.name}({signature(method)}) -> {returns}:"
    return "\n".join([head, quoted(method.doc, "        "), *call(method, is_async=is_async)])


def signature(method: Method) -> str:
    parts = ["self", *(f"{each.name}: {each.type}" for each in method.of("path"))]
    named = []
    for each in (*method.of("body"), *method.of("query"), *method.of("header")):
        if each.is_required:
            named.append(f"{each.name}: {each.type}")
        elif each.place == "body":
            named.append(f"{each.name}: {each.type} | Omitted = OMITTED")
        else:
            named.append(f"{each.name}: {each.type} | None = None")
    if method.has_key:
        named.append("idempotency_key: str | None = None")
    return ", ".join([*parts, *(["*"] if named else []), *named])


def call(method: Method, *, is_async: bool) -> Iterator[str]:
    """The lines of a method that build the call and send it."""
    if method.result == "page":
        cursor = next(
            (each for each in method.of("query") if each.name in {"cursor", "after"}), None
        )
        head = f"{'async ' if is_async else ''}def fetch(page_cursor: str | None)"
        yield f"        {head} -> {method.result_type}:"
        query = query_arguments(method, {cursor.name: "page_cursor"} if cursor else {})
        unused = [] if cursor else ["            del page_cursor  # there is one page only"]
        yield from unused
        yield from sent(method, query, "            ", is_async=is_async)
        paginator = "AsyncPaginator" if is_async else "Paginator"
        yield f"        return {paginator}(fetch, {cursor.name if cursor else 'None'})"
    else:
        yield from sent(method, query_arguments(method, {}), "        ", is_async=is_async)


def sent(method: Method, query: str, indent: str, *, is_async: bool) -> Iterator[str]:
    arguments = [repr(method.verb), path_expression(method)]
    if query:
        arguments.append(f"query=query_of({query})")
    if headers := headers_expression(method):
        arguments.append(f"headers={headers}")
    fields = ", ".join(f"{keyed(each)}={each.name}" for each in method.of("body"))
    contents = {"json": "json_of", "optional json": "optional_json_of"}
    if method.content == "bytes":
        arguments.append("content=content")
    elif method.content != "none":
        arguments.append(f"content={contents[method.content]}({fields})")
    made = f"Call({', '.join(arguments)})"
    wait = "await " if is_async else ""
    if method.result == "none":
        yield f"{indent}{wait}self._transport.json({made})"
    elif method.result in {"bytes", "events"}:
        yield f"{indent}return self._transport.{method.result}({made})"
    else:
        yield f"{indent}_parsed: {method.result_type} = {wait}self._transport.json({made})"
        yield f"{indent}return _parsed"


def keyed(parameter: Parameter) -> str:
    if parameter.name != parameter.wire_name:
        raise DocumentError(f"The field {parameter.wire_name} cannot be passed by its name.")
    return parameter.wire_name


def path_expression(method: Method) -> str:
    names = ", ".join(f"{keyed(each)}={each.name}" for each in method.of("path"))
    return f"path_of({method.path!r}, {names})" if names else repr(method.path)


def query_arguments(method: Method, replaced: dict[str, str]) -> str:
    return ", ".join(
        f"{keyed(each)}={replaced.get(each.name, each.name)}" for each in method.of("query")
    )


def headers_expression(method: Method) -> str:
    parts = []
    if method.content == "bytes":
        parts.append("{'Content-Type': 'application/octet-stream'}")
    if method.result == "events":
        parts.append("{'Accept': 'text/event-stream'}")
    if method.has_key:
        parts.append("idempotent(idempotency_key)")
    if method.of("header"):
        names = ", ".join(f"{each.name}={each.name}" for each in method.of("header"))
        parts.append(f"headers_of({names})")
    return " | ".join(parts)


def operations(methods: list[Method]) -> str:
    """The table of all operations, for tests and documentation."""
    rows = "".join(
        f"    {method.operation_id!r}: {f'{method.resource}.{method.name}'!r},\n"
        for method in methods
    )
    return (
        '"""Which method of a client calls which operation of the API."""\n\n'
        f"METHODS = {{\n{rows}}}\n"
    )


if __name__ == "__main__":
    main()
