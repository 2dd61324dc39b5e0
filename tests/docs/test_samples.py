"""The samples of the reference and of the generated client run as they are printed."""

import os
import shutil
from pathlib import Path

import pytest
from kit import docs
from kit.blocks import ROOT
from kit.system import System

from tradewind.auth.model import Role

CLIENT = "docs/how-to/generate-a-client.md"
PAGES = (
    "docs/reference/addresses.md",
    "docs/reference/cart.md",
    "docs/reference/exports.md",
    "docs/reference/imports.md",
    "docs/reference/orders.md",
    "docs/reference/requests.md",
)
NODE_MODULES = ROOT / "tests/openapi/node_modules"
SECONDS = 90

pytestmark = pytest.mark.xdist_group("system")


@pytest.fixture
def environ(system: System) -> dict[str, str]:
    """The variables that `tradewind dev --credentials --shell` sets."""
    operator = system.api.person(roles=(Role.OPERATOR, Role.APPROVER))
    return {
        "TRADEWIND_URL": system.api.url,
        "TRADEWIND_API_KEY": system.buyer.key,
        "OPERATOR_API_KEY": operator.key,
    }


@pytest.mark.parametrize("page", PAGES)
def test_a_page_of_the_reference(page: str, environ: dict[str, str], tmp_path: Path) -> None:
    docs.check(page, tmp_path, seconds=SECONDS, environ=environ)


def test_the_generated_client(environ: dict[str, str], tmp_path: Path) -> None:
    """Without the npm tools, which CI has, only the Python part runs."""
    has_node = NODE_MODULES.exists() and shutil.which("node") is not None
    assert has_node or os.environ.get("CI") != "true", "`make test` installs openapi-typescript"
    (tmp_path / "package.json").write_text("{}")
    if has_node:
        (tmp_path / "node_modules").symlink_to(NODE_MODULES)

    docs.check(
        CLIENT, tmp_path, seconds=SECONDS, environ=environ, without=None if has_node else "npx"
    )
