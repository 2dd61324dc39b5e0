"""A marketplace is known by name in its own folder only: adding one touches nothing else."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tradewind.platforms.registry import MARKETPLACES

ROOT = Path(__file__).parents[2] / "tradewind"
NAMES = {
    name
    for market in MARKETPLACES.values()
    if not market.simulated_only
    for name in (market.traits.platform, *market.traits.aliases)
}
# `sandbox` is also our word for the simulator: only a string that is this word alone is a
# marketplace's name, an identifier is not.
NAME = re.compile(f"(?i:{'|'.join(sorted(NAMES))}|alicdn)|^sandbox$")
ALLOWED = {
    "platforms/registry.py": "lists the marketplaces",
    "dev/demo_orders.py": "places the demo's orders on each of them",
    "dev/run.py": "starts the simulator by its command",
    "cli/products.py": "searches the simulated marketplace unless another is named",
    "cli/trigger.py": "makes events happen on the simulated marketplace",
    "events/event_types.py": "has the example orders of the catalogue",
    "events/routes.py": "has the example event of the stream",
    "web/openapi.py": "has the examples of path parameters",
    "delivery/test_delivery.py": "has the example order of a test delivery",
    "dashboard/imports/views.py": "has the example file of an import",
}


def uses(path: Path) -> Iterator[tuple[int, str]]:
    """Yield every identifier and text of the code that has a marketplace's name in it.

    Docstrings, and the examples of the API reference, may name one.
    """
    tree = ast.parse(path.read_text())
    ignored: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            ignored.add(id(node.value))
        if isinstance(node, ast.keyword) and node.arg == "examples":
            ignored |= {id(inner) for inner in ast.walk(node.value)}
    for node in ast.walk(tree):
        if id(node) in ignored:
            continue
        texts = [
            value
            for field in ("id", "attr", "arg", "name", "module", "value")
            if isinstance(value := getattr(node, field, None), str)
        ]
        for text in texts:
            named = NAME.search(text)
            if named and (text != "sandbox" or isinstance(node, ast.Constant)):
                yield getattr(node, "lineno", 0), text


def test_no_code_outside_its_folder_names_a_marketplace() -> None:
    folders = tuple(str(ROOT / "platforms" / name) + "/" for name in MARKETPLACES)
    outside = [path for path in ROOT.rglob("*.py") if not str(path).startswith(folders)]

    named = {
        f"{path.relative_to(ROOT)}:{line}": text
        for path in outside
        if str(path.relative_to(ROOT)) not in ALLOWED
        for line, text in uses(path)
    }

    assert named == {}


def test_no_page_names_a_marketplace() -> None:
    pages = [*ROOT.rglob("*.html"), *ROOT.rglob("*.js")]
    quoted = re.compile(NAME.pattern.replace("^sandbox$", "[\"']sandbox[\"']"))

    assert [page.name for page in pages if quoted.search(page.read_text())] == []
