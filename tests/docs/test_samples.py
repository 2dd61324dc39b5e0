"""The samples of the reference and of the generated client run as they are printed."""

import json
import os
import shutil
from pathlib import Path

import pytest
from kit import docs
from kit.system import System

from tradewind.auth.model import Role

SETUP = "docs/reference/requests.md"
CLIENT = "docs/how-to/generate-a-client.md"
PAGES = (
    "docs/reference/addresses.md",
    "docs/reference/cart.md",
    "docs/reference/exports.md",
    "docs/reference/imports.md",
    "docs/reference/orders.md",
)
NODE_MODULES = docs.ROOT / "tests/openapi/node_modules"
SECONDS = 60

pytestmark = pytest.mark.xdist_group("system")


@pytest.fixture
def folder(system: System, tmp_path: Path) -> Path:
    """A directory with the file that `tradewind dev --json` writes."""
    operator = system.api.person(roles=(Role.OPERATOR, Role.APPROVER))
    running = {
        "url": system.api.url,
        "buyer": {"api_key": system.buyer.key},
        "operator": {"api_key": operator.key},
    }
    (tmp_path / "tradewind.json").write_text(json.dumps(running))
    return tmp_path


def test_the_variables_and_the_rules_of_requests(folder: Path) -> None:
    docs.check(SETUP, folder, seconds=SECONDS, environ={})


@pytest.mark.parametrize("page", PAGES)
def test_a_page_of_the_reference(page: str, folder: Path) -> None:
    setup = docs.blocks(SETUP)[:1]

    docs.check(page, folder, seconds=SECONDS, environ={}, setup=setup)


def test_the_generated_client(folder: Path) -> None:
    """Without the npm tools, which CI has, only the Python part runs."""
    has_node = NODE_MODULES.exists() and shutil.which("node") is not None
    assert has_node or os.environ.get("CI") != "true", "`make test` installs openapi-typescript"
    (folder / "package.json").write_text("{}")
    if has_node:
        (folder / "node_modules").symlink_to(NODE_MODULES)

    docs.check(
        CLIENT,
        folder,
        seconds=SECONDS,
        environ={},
        setup=docs.blocks(SETUP)[:1],
        without=None if has_node else "npx",
    )
