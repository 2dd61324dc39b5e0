"""Code that calls an operation: for a shell, and with the SDKs of Python, Node and Go. Pure."""

import json
import keyword
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from shlex import quote
from typing import Any, Literal
from urllib.parse import urlencode

from tradewind.dashboard.reference.go_code import GoValues, Json, exported, struct

# What the SDKs return: a value, a list in one page or in pages, a file, events, or nothing.
SampleResult = Literal["value", "page", "pages", "file", "events", "nothing"]

# Up to this many arguments stand in one line.
_FEW = 3
_PLURAL = re.compile(r"(?<=ss)es$|s$")


@dataclass(frozen=True, slots=True)
class SampleRequest:
    """A request as the samples send it. `body` is JSON; a file has a media type and no body."""

    operation_id: str
    method: str
    path: str
    # The values in the path, in order.
    path_values: Sequence[str]
    query: Mapping[str, str]
    needs_key: bool
    needs_idempotency_key: bool
    body: Any
    # The schema of the body, and those that it refers to.
    body_schema: Json
    body_is_required: bool
    schemas: Json
    # Whether there are parameters of the query, required or not.
    takes_query: bool
    file_type: str
    result: SampleResult

    @property
    def target(self) -> str:
        return f"{self.path}?{urlencode(self.query)}" if self.query else self.path

    @property
    def media_type(self) -> str:
        return self.file_type or ("" if self.body is None else "application/json")


def samples_of(request: SampleRequest, base_url: str) -> Mapping[str, str]:
    """The same request in each language; the key is read from TRADEWIND_API_KEY."""
    return {
        "curl": _curl(request, base_url),
        "Python": _python(request, base_url),
        "Node": _node(request, base_url),
        "Go": _go(request, base_url),
    }


def _pretty(body: Any) -> str:
    return json.dumps(body, indent=2, ensure_ascii=False)


def _curl(request: SampleRequest, base_url: str) -> str:
    lines = [f"curl {quote(base_url + request.target)}"]
    if request.method != "GET":
        lines[0] = f"curl -X {request.method} {quote(base_url + request.target)}"
    if request.needs_key:
        lines.append('-H "x-api-key: $TRADEWIND_API_KEY"')
    if request.needs_idempotency_key:
        lines.append('-H "Idempotency-Key: sample-$(date +%s)"')
    if request.media_type:
        lines.append(f"-H {quote(f'Content-Type: {request.media_type}')}")
    if request.file_type:
        lines.append("--data-binary @orders.csv")
    elif request.body is not None:
        lines.append(f"--data-raw {quote(_pretty(request.body))}")
    return " \\\n  ".join(lines)


def _python(request: SampleRequest, base_url: str) -> str:
    """A call of the Python SDK."""
    imports = [
        *(["import os"] if request.needs_key else []),
        *(["from pathlib import Path"] if request.file_type else []),
    ]
    key = ', api_key=os.environ["TRADEWIND_API_KEY"]' if request.needs_key else ""
    arguments = [f'"{value}"' for value in request.path_values]
    arguments += [f'{name}="{value}"' for name, value in request.query.items()]
    if request.file_type:
        arguments.append('content=Path("orders.csv").read_bytes()')
    for name, value in (request.body or {}).items():
        arguments.append(f"{name}={_python_value(value, 2)}")
    call = f"client.{sdk_method(request.operation_id, request.path)}("
    if request.body or len(arguments) > _FEW:
        call += "".join(f"\n        {argument}," for argument in arguments) + "\n    )"
    else:
        call += ", ".join(arguments) + ")"
    shown = {
        "nothing": call,
        "value": f"result = {call}\n    print(result)",
    }.get(request.result, f"for part in {call}:\n        print(part)")
    return "\n".join(
        [
            *imports,
            *([""] if imports else []),
            "from tradewind_sdk.client import Tradewind",
            "",
            f'with Tradewind("{base_url}"{key}) as client:',
            f"    {shown}",
        ]
    )


def sdk_method(operation_id: str, path: str) -> str:
    """The method of the Python SDK: `create_order` of `/v1/orders` is `orders.create`.

    The SDK names its methods by this rule, too; a test compares them.
    """
    steps = path.split("/")[1:]
    resource = steps[1].replace("-", "_") if steps[0] == "v1" else "server"
    if operation_id == "get_saved_address":
        return "addresses.get"
    words = f"_{operation_id}_"
    for name in (resource, _PLURAL.sub("", resource)):
        words = words.replace(f"_{name}_", "_", 1)
    name = words.strip("_")
    is_name = name.isidentifier() and not keyword.iskeyword(name)
    return f"{resource}.{name if is_name else operation_id}"


def _python_value(value: Any, depth: int) -> str:
    """A value of JSON as Python writes it, indented."""
    outer, inner = "    " * depth, "    " * (depth + 1)
    if isinstance(value, dict) and value:
        members = (
            f"{inner}{json.dumps(name, ensure_ascii=False)}: {_python_value(member, depth + 1)},\n"
            for name, member in value.items()
        )
        return "{\n" + "".join(members) + outer + "}"
    if isinstance(value, list) and value:
        items = (f"{inner}{_python_value(item, depth + 1)},\n" for item in value)
        return "[\n" + "".join(items) + outer + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return repr(value)


def _node(request: SampleRequest, base_url: str) -> str:
    """A call of the Node SDK."""
    imports = ['import { readFile } from "node:fs/promises";'] if request.file_type else []
    imports.append('import { Client } from "tradewind-sdk";')
    settings = [f'baseUrl: "{base_url}"']
    if request.needs_key:
        settings.append('apiKey: process.env.TRADEWIND_API_KEY ?? ""')
    arguments = [json.dumps(value) for value in request.path_values]
    if request.file_type:
        arguments.append('await readFile("orders.csv")')
    elif request.body is not None:
        arguments.append(_node_value(request.body, 0))
    if request.query:
        arguments.append(_node_value(request.query, 0))
    call = f"client.{camel(request.operation_id)}({', '.join(arguments)})"
    shown = {
        "nothing": f"await {call};",
        "file": f"const response = await {call};\nconsole.log(await response.text());",
        "pages": f"for await (const item of {call}) {{\n  console.log(item);\n}}",
        "events": f"for await (const event of {call}) {{\n  console.log(event);\n}}",
    }.get(request.result, f"const result = await {call};\nconsole.log(result);")
    client = f"const client = new Client({{ {', '.join(settings)} }});"
    return "\n".join([*imports, "", client, "", shown])


def camel(name: str) -> str:
    """`create_order` as `createOrder`, which is how the Node SDK names its methods."""
    first, *others = re.split(r"[_-]", name)
    return first + "".join(each.capitalize() for each in others)


def _node_value(value: Any, depth: int) -> str:
    """A value of JSON as JavaScript writes it, indented."""
    outer, inner = "  " * depth, "  " * (depth + 1)
    if isinstance(value, Mapping) and value:
        members = (
            f"{inner}{name if name.isidentifier() else json.dumps(name, ensure_ascii=False)}: "
            f"{_node_value(member, depth + 1)},\n"
            for name, member in value.items()
        )
        return "{\n" + "".join(members) + outer + "}"
    if isinstance(value, list) and value:
        items = (f"{inner}{_node_value(item, depth + 1)},\n" for item in value)
        return "[\n" + "".join(items) + outer + "]"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return json.dumps(value, ensure_ascii=False)


_GO_CHECK = "\n\tif err != nil {\n\t\tpanic(err)\n\t}"
_GO_PRINT = "json.NewEncoder(os.Stdout).Encode"


def _go(request: SampleRequest, base_url: str) -> str:
    """A call of the Go SDK."""
    key = ', api.WithAPIKey(os.Getenv("TRADEWIND_API_KEY"))' if request.needs_key else ""
    lines = [f'client, err := api.NewClient("{base_url}"{key}){_GO_CHECK}']
    arguments = ["context.Background()", *(json.dumps(value) for value in request.path_values)]
    if request.file_type:
        lines.append(f'content, err := os.ReadFile("orders.csv"){_GO_CHECK}')
        arguments.append("content")
    elif request.body_schema:
        values = GoValues(request.schemas)
        arguments.append(
            values.write(
                request.body, request.body_schema, 1, is_optional=not request.body_is_required
            )
        )
    name = exported(request.operation_id)
    if request.takes_query:
        fields = [(exported(each), json.dumps(value)) for each, value in request.query.items()]
        arguments.append(struct(f"api.{name}Query", fields))
    listed = ", ".join(arguments)
    call = f"client.{name}({listed})"
    if request.result in {"pages", "events"}:
        suffix = "Seq" if request.result == "pages" else ""
        check = _GO_CHECK.replace("\n", "\n\t")
        lines.append(
            f"for item, err := range client.{name}{suffix}({listed}) {{{check}\n"
            f"\t\t{_GO_PRINT}(item)\n\t}}"
        )
    elif request.result == "nothing":
        # The first assignment has declared `err`.
        lines.append(f"err = {call}{_GO_CHECK}")
    elif request.result == "file":
        lines.append(
            f"file, err := {call}{_GO_CHECK}\n\tdefer file.Close()\n\tio.Copy(os.Stdout, file)"
        )
    else:
        lines.append(f"result, err := {call}{_GO_CHECK}\n\t{_GO_PRINT}(result)")
    code = "".join(f"\t{line}\n" for line in lines)
    used = [
        name
        for name in ("context", "encoding/json", "io", "os", "time")
        if re.search(rf"\b{name.rpartition('/')[2]}\.[A-Z]", code)
    ]
    imports = "".join(f'\t"{name}"\n' for name in used)
    return (
        f'package main\n\nimport (\n{imports}\n\t"tradewind.example/sdk/api"\n)\n\n'
        f"func main() {{\n{code}}}"
    )
