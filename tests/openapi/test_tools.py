"""The OpenAPI document with other tools: a linter, TypeScript types and a Python client."""

import importlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from kit.system import ADDRESS, PLAIN, System

from tradewind.runtime.api import reference

HERE = Path(__file__).parent
CLIENT = "generated_tradewind_client"

pytestmark = pytest.mark.xdist_group("system")


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("openapi") / "openapi.json"
    path.write_text(json.dumps(reference()))
    return path


def run(*command: str | Path, cwd: Path) -> str:
    """What a tool prints; it must succeed."""
    quiet = {"REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true", "NO_COLOR": "1"}
    done = subprocess.run(
        command,
        cwd=cwd,
        env={**os.environ, **quiet},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def node_tool(name: str) -> Path:
    path = HERE / "node_modules" / ".bin" / name
    if not path.exists() or shutil.which("node") is None:
        message = f"{name} is missing: it needs Node.js 20.19 or newer; `make test` installs it."
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    return path


def test_the_linter_finds_nothing(document: Path) -> None:
    config = HERE / "redocly.yaml"

    printed = run(
        node_tool("redocly"), "lint", document, "--config", config, "--format=json", cwd=HERE
    )

    report = json.loads(printed[printed.index("{") : printed.rindex("}") + 1])
    assert report["totals"] == {"errors": 0, "warnings": 0, "ignored": 0}, report


def test_typescript_types_compile_with_a_program_that_uses_them(
    document: Path, tmp_path: Path
) -> None:
    types = tmp_path / "tradewind.ts"
    shutil.copy(HERE / "shop.ts", tmp_path)

    printed = run(
        node_tool("openapi-typescript"),
        *(document, "-o", types, "--default-non-nullable=false"),
        cwd=tmp_path,
    )
    run(node_tool("tsc"), "--noEmit", "--strict", "--target", "es2022", "shop.ts", cwd=tmp_path)

    assert "warn" not in printed.lower()


@pytest.fixture(scope="module")
def client(document: Path) -> Iterator[None]:
    """A Python client, generated without a warning, and ready to be imported."""
    folder = document.parent
    config = folder / "config.yml"
    config.write_text("post_hooks: []\n")
    printed = run(
        Path(sys.executable).parent / "openapi-python-client",
        "generate",
        *("--path", document, "--output-path", folder / CLIENT, "--config", config),
        *("--meta", "none", "--fail-on-warning"),
        cwd=folder,
    )
    assert "warning" not in printed.lower()
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        yield


def part(name: str) -> ModuleType:
    """A module of the generated client."""
    return importlib.import_module(f"{CLIENT}.{name}")


@pytest.mark.usefixtures("client")
def test_no_schema_is_dropped_by_the_python_generator() -> None:
    models = part("models")

    expected = set(reference()["components"]["schemas"])

    assert {name for name in expected if not hasattr(models, name)} == set()


@pytest.mark.usefixtures("client")
def test_a_generated_python_client_searches_orders_and_reads(system: System) -> None:
    models: Any = part("models")
    login = models.LoginInput(email=system.buyer.email, password=system.buyer.password)
    with part("client").Client(base_url=system.api.url) as anonymous:
        tokens = part("api.authentication.login").sync(client=anonymous, body=login)
    system.api.launcher.secrets |= {tokens.access_token, tokens.refresh_token}
    with part("client").AuthenticatedClient(system.api.url, tokens.access_token) as client:
        hits = part("api.products.search_products").sync(
            client=client, body=models.SearchInput(q="dress", platform="sandbox", size=3)
        )
        product = part("api.products.get_product").sync("sandbox", PLAIN, client=client)
        line = models.LineInput(product_id=product.id, sku_id=product.skus[0].id, quantity=1)
        placed = part("api.orders.create_order").sync(
            client=client,
            idempotency_key="generated client",
            body=models.OrderInput(
                platform="sandbox",
                items=[line],
                address=models.AddressInput(**ADDRESS),
                external_id="PO-1001",
            ),
        )
        order = part("api.orders.get_order").sync(placed.id, client=client)
        page = part("api.orders.list_orders").sync(
            client=client, status=[order.status], external_id=["PO-1001"]
        )
        missing = part("api.orders.get_order").sync(f"ORD{0:026}", client=client)

    assert isinstance(tokens, models.Tokens)
    assert tokens.account.roles == [models.Role.BUYER]
    assert isinstance(hits.items[0], models.Offer)
    assert hits.paginate.size == 3
    assert isinstance(order, models.Order)
    assert order.status in models.OrderStatus
    assert isinstance(order.created_at, datetime)
    assert isinstance(page, models.OrderPage)
    assert [each.id for each in page.items] == [placed.id] == [order.id]
    assert isinstance(missing, models.Problem)
    assert missing.code == "not_found"
