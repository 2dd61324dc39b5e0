"""The shape of the project: rules that keep every behaviour where a newcomer looks for it."""

import ast
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "tradewind"
LONGEST_FILE = 600
GENERATED = ROOT / "sdk/python/tradewind_sdk/client/generated"
CATCH_ALL_NAMES = {"service.py", "services.py", "utils.py", "util.py", "helpers.py", "base.py"}
CATCH_ALL_FOLDERS = {"common", "shared", "misc"}
STATEMENT = re.compile(
    r"\b(SELECT\s.+\sFROM|INSERT\s+INTO|UPDATE\s+\w+\s+SET|DELETE\s+FROM|CREATE\s+TABLE)\b",
    re.DOTALL,
)
# Words that say nothing about what they name; docs/reference/glossary.md lists better ones.
EMPTY_NAMES = {"one", "found", "told", "given", "those", "own", "so", "hand", "place"}
VERBS = {"place"}


@cache
def project_files(pattern: str = "") -> list[Path]:
    """Every file that is, or is about to be, part of the project."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", *([pattern] if pattern else [])],  # noqa: S607 - git as it is
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [ROOT / name for name in listed.stdout.split() if (ROOT / name).is_file()]


@cache
def syntax_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def package_files() -> list[Path]:
    return [path for path in project_files("*.py") if path.is_relative_to(PACKAGE)]


def holds_sql(path: Path) -> bool:
    """Statements are in `sql.py` or `sql_*.py`, and those of a page in `queries.py`."""
    return path.name in {"sql.py", "queries.py"} or path.name.startswith("sql_")


def is_routes(module: str) -> bool:
    return module.rpartition(".")[2].endswith("routes")


def imported(path: Path) -> Iterator[str]:
    """The modules that a file imports, and what it imports from them, as dotted names."""
    for node in ast.walk(syntax_of(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def shown(path: Path, line: int | None = None) -> str:
    return f"{path.relative_to(ROOT)}{'' if line is None else f':{line}'}"


def test_the_first_line_of_a_file_says_what_it_is_for() -> None:
    """`make map` is made of these lines."""
    wrong = []
    for path in project_files("*.py"):
        first = (ast.get_docstring(syntax_of(path)) or "").split("\n")[0]
        if len(first) < 20 or not first.endswith((".", "!", "?")):
            wrong.append(shown(path))

    assert wrong == []


def test_no_file_is_too_long_to_be_one_thing() -> None:
    long = [
        shown(path)
        for path in project_files("*.py")
        if len(path.read_text().splitlines()) > LONGEST_FILE and path.parent != GENERATED
    ]

    assert long == []


def test_no_file_has_a_name_that_attracts_everything() -> None:
    wrong = [
        shown(path)
        for path in project_files("*.py")
        if path.name in CATCH_ALL_NAMES
        or CATCH_ALL_FOLDERS.intersection(path.relative_to(ROOT).parts)
    ]

    assert wrong == []


def test_sql_is_in_sql_files_only() -> None:
    wrong = [
        shown(path, node.lineno)
        for path in package_files()
        if not holds_sql(path)
        for node in ast.walk(syntax_of(path))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and STATEMENT.search(node.value)
    ]

    assert wrong == []


def test_sql_files_know_nothing_of_http_or_json() -> None:
    wrong = [
        shown(path)
        for path in package_files()
        if holds_sql(path)
        and any(is_routes(name) or name.endswith(".wire") for name in imported(path))
    ]

    assert wrong == []


def test_only_the_application_imports_routes() -> None:
    """A use case is imported from its own file, never from the routes that call it."""
    applications = {PACKAGE / "runtime" / "api.py", PACKAGE / "dashboard" / "pages.py"}
    wrong = [
        f"{shown(path)} imports {name}"
        for path in package_files()
        if path not in applications
        for name in imported(path)
        if name.startswith("tradewind.") and is_routes(name)
    ]

    assert wrong == []


def test_use_cases_know_nothing_of_http() -> None:
    """Routes and pages turn the result of a use case into a response."""
    at_the_edge = ("web", "dashboard", "runtime")
    # The gate reads credentials, the audit log names the client, and demo data stores results.
    readers = {"auth/gate.py", "audit/model.py", "dev/demo_orders.py"}
    http = ("tradewind.web.request", "tradewind.web.response", "tradewind.web.endpoint")
    wrong = [
        f"{shown(path)} imports {name}"
        for path in package_files()
        if path.relative_to(PACKAGE).parts[0] not in at_the_edge
        and not path.stem.endswith("routes")
        and str(path.relative_to(PACKAGE)) not in readers
        for name in imported(path)
        if name in http
    ]

    assert wrong == []


def test_a_public_class_name_exists_once() -> None:
    """Two classes of one name are told apart by their imports only."""
    names = Counter(
        node.name
        for path in package_files()
        for node in syntax_of(path).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )

    assert [name for name, count in names.items() if count > 1] == []


def test_names_say_what_they_name() -> None:
    wrong = []
    for path in package_files():
        for node in ast.walk(syntax_of(path)):
            if isinstance(node, ast.arg):
                name = node.arg
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                name = node.id
            elif isinstance(node, ast.ClassDef):
                name = node.name
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                name = "" if node.name in VERBS else node.name
            else:
                continue
            if name.lower().strip("_") in EMPTY_NAMES:
                wrong.append(f"{shown(path, node.lineno)} {name}")

    assert wrong == []


def test_only_egress_speaks_http_as_a_client() -> None:
    """Calls outside have a deadline, a cap on the answer and a check of the address."""
    clients = {
        *("aiodns", "aiohttp", "http.client", "httptools", "httpx", "pycurl", "requests"),
        "urllib.request",
    }
    # `tradewind dev` and `tradewind health` ask a process on this machine; client commands and
    # tools of agents call a named server.
    others = {
        PACKAGE / "dev" / "run.py",
        PACKAGE / "cli" / "health.py",
        PACKAGE / "cli" / "remote.py",
        PACKAGE / "mcp" / "api_client.py",
    }
    wrong = [
        f"{shown(path)} imports {name}"
        for path in package_files()
        if path.parent.name != "egress" and path not in others
        for name in imported(path)
        if name in clients
    ]

    assert wrong == []


def test_no_address_of_a_package_index_and_no_path_of_a_machine() -> None:
    words = ("pypi" + ".org", "python" + "hosted", "/root" + "/", "/work" + "/", "/home" + "/")
    wrong = [
        (shown(path), word)
        for path in project_files()
        for word in words
        if word.encode() in path.read_bytes()
    ]

    assert wrong == []
