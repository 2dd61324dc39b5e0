"""The SDK for Go: real deliveries to its example, its client, and no drift."""

import sys
from pathlib import Path

import pytest
from kit.blocks import ROOT
from kit.sdk_examples import (
    GO_OFFLINE,
    SDK,
    assert_it_follows,
    assert_it_receives,
    assert_the_readme_works,
    run,
)
from kit.system import System
from kit.toolchains import need_toolchain

GO_SDK = SDK / "go"
VECTORS = ROOT / "tests" / "data" / "signature_vectors.json"

pytestmark = pytest.mark.xdist_group("system")


@pytest.fixture(scope="module")
def go() -> str:
    need_toolchain("go")
    return "go"


@pytest.fixture(scope="module")
def programs(go: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the programs, which are built once."""
    folder = tmp_path_factory.mktemp("go")
    built = run(
        *(go, "build", "-o", f"{folder}/", "./cmd/...", "./examples/..."),
        cwd=GO_SDK,
        environ=GO_OFFLINE,
    )
    assert built.returncode == 0, built.stderr
    return folder


def test_the_example_receives_deliveries(system: System, programs: Path) -> None:
    assert_it_receives(system, [programs / "receiver"], programs)


def test_the_client_searches_orders_and_reads_events(system: System, programs: Path) -> None:
    environ = {"TRADEWIND_URL": system.api.url, "TRADEWIND_API_KEY": system.buyer.key}

    done = run(programs / "order", cwd=programs, environ=environ)

    assert done.returncode == 0, done.stderr
    total, approval, *events = done.stdout.splitlines()
    (order,) = system.ok("GET", "/v1/orders")["items"]
    amount = f"{order['payment']['amount_cny']:.2f}"
    assert total.endswith(f": {amount} CNY")
    assert approval == f"{order['id']}: {amount} CNY to be approved"
    assert events == ["order.updated unpaid", "payment.updated pending_approval"]


def test_the_client_follows_the_stream(system: System, programs: Path) -> None:
    assert_it_follows(system, [programs / "follow"], programs)


def test_the_readme_works_as_printed(
    system: System, go: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del go
    for name, value in {**GO_OFFLINE, "GOFLAGS": "-mod=mod"}.items():
        monkeypatch.setenv(name, value)

    printed = assert_the_readme_works(system, GO_SDK, tmp_path)

    assert "updated ORDTEST" in printed
    example = (GO_SDK / "examples" / "receiver" / "main.go").read_text().partition("\n")[2]
    assert f"```go\n{example}```" in (GO_SDK / "README.md").read_text()


def test_the_vectors_are_checked(programs: Path) -> None:
    done = run(programs / "check", VECTORS)

    assert (done.returncode, done.stderr) == (0, "")


def test_the_sdk_is_formatted_vetted_and_passes_its_own_tests(go: str) -> None:
    formatted = run("gofmt", "-l", ".", cwd=GO_SDK)
    tested = run(go, "test", "-vet=all", "./...", cwd=GO_SDK, environ=GO_OFFLINE)

    assert formatted.stdout == ""
    assert tested.returncode == 0, tested.stdout + tested.stderr


@pytest.mark.usefixtures("go")
def test_the_generated_files_match_the_document() -> None:
    done = run(sys.executable, "-m", "tools.generate_sdk", "go", "--check")

    assert done.returncode == 0, done.stderr
