"""Code that calls an operation: for a shell, for Python, for Node and for Go. Pure."""

import json
import keyword
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from shlex import quote
from typing import Any, Literal
from urllib.parse import urlencode

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
    file_type: str = ""
    # What the SDK returns: a value, parts (of a list, a file or a stream), or nothing.
    result: Literal["value", "parts", "nothing"] = "value"

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
        "parts": f"for part in {call}:\n        print(part)",
    }.get(request.result, f"result = {call}\n    print(result)")
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


def _headers(request: SampleRequest, key: str, idempotency_key: str, form: str) -> Sequence[str]:
    headers = []
    if request.needs_key:
        headers.append(form.format('"x-api-key"', key))
    if request.needs_idempotency_key:
        headers.append(form.format('"Idempotency-Key"', idempotency_key))
    if request.file_type:
        headers.append(form.format('"Content-Type"', f'"{request.file_type}"'))
    return headers


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
    headers = list(
        _headers(request, "process.env.TRADEWIND_API_KEY", "crypto.randomUUID()", "{}: {}")
    )
    options = [f'method: "{request.method}"'] if request.method != "GET" else []
    imports = []
    if request.file_type:
        imports.append('import { readFile } from "node:fs/promises";\n\n')
    elif request.body is not None:
        headers.append('"Content-Type": "application/json"')
    if headers:
        options.append(f"headers: {{ {', '.join(headers)} }}")
    if request.file_type:
        options.append('body: await readFile("orders.csv")')
    elif request.body is not None:
        body = _pretty(request.body).replace("\n", "\n  ")
        options.append(f"body: JSON.stringify({body})")
    call = f'"{base_url}{request.target}"'
    if options:
        call += ", {\n  " + ",\n  ".join(options) + ",\n}"
    return (
        "".join(imports)
        + f"const response = await fetch({call});\n"
        + "console.log(response.status, await response.text());"
    )


def _go(request: SampleRequest, base_url: str) -> str:
    imports = ["fmt", "io", "net/http"]
    body, before = "nil", ""
    if request.file_type:
        imports.append("os")
        before = '\tfile, err := os.Open("orders.csv")\n\tif err != nil {\n\t\tpanic(err)\n\t}\n'
        body = "file"
    elif request.body is not None:
        imports.append("strings")
        before = f"\tbody := strings.NewReader(`{_pretty(request.body)}`)\n"
        body = "body"
    lines = [
        (
            f'\trequest, err := http.NewRequest("{request.method}", '
            f'"{base_url}{request.target}", {body})'
        ),
        "\tif err != nil {\n\t\tpanic(err)\n\t}",
    ]
    if request.needs_key:
        imports.append("os")
        lines.append('\trequest.Header.Set("x-api-key", os.Getenv("TRADEWIND_API_KEY"))')
    if request.needs_idempotency_key:
        imports.append("crypto/rand")
        lines.append('\trequest.Header.Set("Idempotency-Key", rand.Text())')
    if request.media_type:
        lines.append(f'\trequest.Header.Set("Content-Type", "{request.media_type}")')
    lines += [
        "\tresponse, err := http.DefaultClient.Do(request)",
        "\tif err != nil {\n\t\tpanic(err)\n\t}",
        "\tdefer response.Body.Close()",
        "\ttext, _ := io.ReadAll(response.Body)",
        "\tfmt.Println(response.Status, string(text))",
    ]
    listed = "".join(f'\t"{name}"\n' for name in sorted(set(imports)))
    code = "\n".join(lines)
    return f"package main\n\nimport (\n{listed})\n\nfunc main() {{\n{before}{code}\n}}"
