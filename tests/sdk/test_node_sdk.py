"""The SDK for Node: real deliveries to its examples, its client, its types, and no drift."""

import os
import shutil
import sys
from pathlib import Path

import pytest
from kit.blocks import ROOT
from kit.sdk_examples import (
    NODE_MODULES,
    SDK,
    assert_it_follows,
    assert_it_receives,
    assert_the_readme_works,
    node_project,
    run,
)
from kit.system import System
from kit.toolchains import need_toolchain

NODE_SDK = SDK / "node"
VECTORS = ROOT / "tests" / "data" / "signature_vectors.json"
FRAMEWORKS = ("express", "fastify", "hono", "@hono")

pytestmark = pytest.mark.xdist_group("system")


@pytest.fixture(scope="module")
def node() -> str:
    need_toolchain("node")
    return "node"


@pytest.fixture(scope="module")
def folder(node: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project that has the SDK and the frameworks, as an integrator's has."""
    del node
    if not (NODE_MODULES / "fastify").exists():
        message = "Express, Fastify and Hono are missing; run: python3 tools/setup.py node"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    project = tmp_path_factory.mktemp("node")
    modules = node_project(project)
    for name in (*FRAMEWORKS, "@types", "undici-types"):
        (modules / name).symlink_to(NODE_MODULES / name)
    for example in (NODE_SDK / "examples").glob("*.js"):
        shutil.copy(example, project)
    shutil.copy(Path(__file__).parent / "serve_next_route.js", project)
    shutil.copy(Path(__file__).parent / "typed_shop.ts", project)
    return project


@pytest.mark.parametrize(
    "example", ["http.js", "express.js", "fastify.js", "hono.js", "serve_next_route.js"]
)
def test_an_example_receives_deliveries(
    example: str, system: System, node: str, folder: Path
) -> None:
    assert_it_receives(system, [node, example], folder)


def test_the_client_searches_orders_and_reads_events(
    system: System, node: str, folder: Path
) -> None:
    environ = {"TRADEWIND_URL": system.api.url, "TRADEWIND_API_KEY": system.buyer.key}

    done = run(node, "order.js", cwd=folder, environ=environ)

    assert done.returncode == 0, done.stderr
    total, approval, *events = done.stdout.splitlines()
    (order,) = system.ok("GET", "/v1/orders")["items"]
    amount = f"{order['payment']['amount_cny']:.2f}"
    assert total.endswith(f": {amount} CNY")
    assert approval == f"{order['id']}: {amount} CNY to be approved"
    assert events == ["order.updated unpaid", "payment.updated pending_approval"]


def test_the_client_follows_the_stream(system: System, node: str, folder: Path) -> None:
    assert_it_follows(system, [node, "follow.js"], folder)


@pytest.mark.usefixtures("folder")
def test_the_readme_works_as_printed(system: System, tmp_path: Path) -> None:
    printed = assert_the_readme_works(system, NODE_SDK, tmp_path)

    assert "updated ORDTEST" in printed
    example = (NODE_SDK / "examples" / "http.js").read_text().partition("\n")[2]
    assert f"```js\n{example}```" in (NODE_SDK / "README.md").read_text()


def test_the_sdk_passes_its_own_tests(node: str) -> None:
    done = run(node, "--test", "--test-timeout=30000", "tests/", cwd=NODE_SDK)

    assert done.returncode == 0, done.stdout


def test_the_vectors_are_checked(node: str) -> None:
    done = run(node, NODE_SDK / "check.js", VECTORS)

    assert (done.returncode, done.stderr) == (0, "")


def test_the_types_catch_mistakes(folder: Path) -> None:
    compiler = NODE_MODULES / ".bin" / "tsc"
    options = ("--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext")

    done = run(compiler, *options, "--target", "es2022", "typed_shop.ts", cwd=folder)

    assert done.returncode == 0, done.stdout


@pytest.mark.usefixtures("folder")
def test_the_generated_files_match_the_document_and_the_code() -> None:
    done = run(sys.executable, "-m", "tools.generate_sdk", "node", "--check")

    assert done.returncode == 0, done.stderr
