"""Writes the Node client: its operations, the types of the document, and declarations of all."""

import os
import re
import shutil
import subprocess
import tempfile
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path

from tools.generate_sdk.document import Document, Operation
from tradewind.dashboard.reference.samples import camel

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "sdk" / "node" / "src"
TOOLS = ROOT / "tests" / "openapi" / "node_modules"
GENERATED = "Generated from the OpenAPI document by `make client`."
_WIDTH = 100
# The shape of the sources as the compiler sees them: strict, and with the types of Node alone.
COMPILER_OPTIONS = (
    *("--allowJs", "--checkJs", "--strict", "--exactOptionalPropertyTypes"),
    *("--noUncheckedIndexedAccess", "--noImplicitReturns", "--target", "es2022"),
    *("--module", "nodenext", "--types", "node", "--skipLibCheck"),
)


class ToolMissingError(Exception):
    """A tool of Node is missing; the message says which."""


def files(document: Document, openapi: Path) -> dict[Path, str]:
    """Every generated file with its text. `openapi` is the document as a file."""
    operations = _operations_file(document.operations())
    types = _openapi_types(openapi)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _copy_sources(folder, {"operations.js": operations, "openapi.d.ts": types})
        declared = _declarations(folder)
    return {
        SOURCES / "operations.js": operations,
        SOURCES / "openapi.d.ts": types,
        **{SOURCES / name: text for name, text in declared.items()},
    }


def _tool(name: str) -> Path:
    path = TOOLS / ".bin" / name
    if shutil.which("node") is None or not path.exists():
        raise ToolMissingError(f"{name} is missing; `python3 tools/setup.py node` installs it.")
    return path


def _run(*command: str | Path, cwd: Path) -> None:
    done = subprocess.run(
        command,
        cwd=cwd,
        env={**os.environ, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(done.stdout + done.stderr)


def _openapi_types(openapi: Path) -> str:
    with tempfile.TemporaryDirectory() as name:
        target = Path(name) / "openapi.d.ts"
        options = ("--default-non-nullable=false",)
        _run(_tool("openapi-typescript"), openapi, "-o", target, *options, cwd=Path(name))
        types = target.read_text(encoding="utf-8")
    return f"// The types of the OpenAPI document. {GENERATED}\n{types}"


def _copy_sources(folder: Path, generated: Mapping[str, str]) -> None:
    (folder / "package.json").write_text('{"type": "module"}')
    (folder / "node_modules").symlink_to(TOOLS)
    for source in SOURCES.glob("*.js"):
        shutil.copy(source, folder)
    shutil.copy(SOURCES.parent / "check.js", folder / "check.js")
    check = folder / "check.js"
    check.write_text(check.read_text(encoding="utf-8").replace('"./src/', '"./'), encoding="utf-8")
    for name, text in generated.items():
        (folder / name).write_text(text, encoding="utf-8")


def _declarations(folder: Path) -> dict[str, str]:
    """Check the types of all sources, and declare what they export."""
    target = folder / "declared"
    sources = sorted(path.name for path in folder.glob("*.js"))
    options = ("--declaration", "--emitDeclarationOnly", "--outDir", target)
    _run(_tool("tsc"), *COMPILER_OPTIONS, *options, *sources, cwd=folder)
    return {
        path.name: f"// Declared by {path.name.removesuffix('.d.ts')}.js. {GENERATED}\n"
        + path.read_text(encoding="utf-8")
        for path in sorted(target.glob("*.d.ts"))
        if path.name != "check.d.ts"
    }


def _operations_file(operations: list[Operation]) -> str:
    methods = "\n".join(text for each in operations for text in _method(each))
    return f"""\
// A method for every operation of the API. {GENERATED}
import {{ Transport, segment }} from "./transport.js";

/** @typedef {{import("./openapi.js").components["schemas"]}} Schemas */
/** @typedef {{import("./openapi.js").operations}} OperationTypes */
/** @typedef {{import("./transport.js").CallOptions}} CallOptions */
/** @typedef {{import("./transport.js").StreamOptions}} StreamOptions */

/** Every operation; the name of a method is the `operationId` in camel case. */
export class Operations extends Transport {{
{methods}}}
"""


def _method(operation: Operation) -> Iterator[str]:
    yield _comment(operation)
    names = [camel(each.name) for each in operation.path_parameters]
    if operation.body:
        names.append("body")
    if operation.query:
        names.append("query")
    # An argument that is wrong rejects the promise; it throws nothing beside it.
    start = "" if operation.cursor or operation.returns_stream else "async "
    yield f"  {start}{camel(operation.name)}({', '.join([*names, 'options'])}) {{"
    yield f"    const call = {{ {', '.join(_call(operation))} }};"
    if operation.cursor:
        yield f'    return this.pages(call, "{operation.cursor}", options);'
    elif operation.returns_stream:
        yield "    return this.stream(call, options);"
    elif operation.returns_file:
        yield "    return this.raw(call, options);"
    else:
        yield "    return this.json(call, options);"
    yield "  }\n"


def _call(operation: Operation) -> Iterator[str]:
    path = re.sub(r"\{(\w+)\}", lambda each: f"${{segment({camel(each[1])})}}", operation.path)
    quote = "`" if "$" in path else '"'
    yield f'method: "{operation.method}"'
    yield f"path: {quote}{path}{quote}"
    if operation.query:
        yield "query"
    if operation.body:
        yield "body"
        if operation.body.schema is None:
            yield f'type: "{operation.body.media_type}"'
    if operation.takes_key:
        yield "keyed: true"


def _comment(operation: Operation) -> str:
    lines = [f"{operation.summary}.", ""]
    for paragraph in operation.description.split("\n\n"):
        lines += [*textwrap.wrap(paragraph.replace("*/", "* /"), _WIDTH - 5), ""]
    lines += [f"`{operation.method} {operation.path}`", ""]
    lines += [f"@param {{string}} {camel(each.name)}" for each in operation.path_parameters]
    if operation.body:
        schema = operation.body.schema
        shape = f'Schemas["{schema}"]' if schema else "Uint8Array | string"
        lines.append(f"@param {{{shape}}} {_optional('body', operation.body.is_required)}")
    if operation.query:
        is_required = any(each.is_required for each in operation.query)
        shape = f'OperationTypes["{operation.name}"]["parameters"]["query"]'
        lines.append(f"@param {{{shape}}} {_optional('query', is_required)}")
    options = "StreamOptions" if operation.returns_stream else "CallOptions"
    lines += [f"@param {{{options}}} [options]", f"@returns {{{_result(operation)}}}"]
    return "\n".join(["  /**", *(f"   * {line}".rstrip() for line in lines), "   */"])


def _optional(name: str, is_required: bool) -> str:
    return name if is_required else f"[{name}]"


def _result(operation: Operation) -> str:
    if operation.cursor:
        return f'import("./pages.js").Pages<Schemas["{operation.result}"]>'
    if operation.returns_stream:
        return 'AsyncGenerator<import("./stream.js").StreamedEvent, void, undefined>'
    if operation.returns_file:
        return "Promise<Response>"
    return f'Promise<Schemas["{operation.result}"]>' if operation.result else "Promise<void>"
