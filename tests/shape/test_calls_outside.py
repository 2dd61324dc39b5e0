"""Only egress/ calls the outside: no other folder imports anything that speaks HTTP as a client."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]
CLIENTS = {"aiodns", "aiohttp", "http.client", "httpx", "pycurl", "requests", "urllib.request"}
# It asks the server that it started itself whether it is ready.
ASKS_ITSELF = {"tradewind/dev/run.py": {"http.client"}}


def imported(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


def test_no_other_folder_has_a_client_of_its_own() -> None:
    files = [path for path in (ROOT / "tradewind").rglob("*.py") if path.parent.name != "egress"]
    found = {str(path.relative_to(ROOT)): imported(path) & CLIENTS for path in files}

    assert {name: clients for name, clients in found.items() if clients} == ASKS_ITSELF
