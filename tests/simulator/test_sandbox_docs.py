"""The documentation of the simulator matches it."""

import re
import shutil
from pathlib import Path

from kit import docs
from kit.blocks import ROOT
from kit.server import free_port
from tradewind_simulator import apps, magic, steps
from tradewind_simulator.alibaba import gateway as alibaba
from tradewind_simulator.faults import Mode
from tradewind_simulator.taobao import gateway as taobao

PAGE = (ROOT / "docs/reference/simulator.md").read_text()


def test_every_magic_product_is_listed() -> None:
    listed = {int(number) for number in re.findall(r"^\| `(9\d{11})`", PAGE, re.MULTILINE)}

    assert listed == {product.id for product in magic.products()}


def test_every_operation_is_listed_under_its_word() -> None:
    rows = [row for row in PAGE.splitlines() if row.startswith("| `")]
    for operation in (*alibaba.OPERATIONS.values(), *taobao.OPERATIONS.values()):
        assert any(
            f"`{operation.alias}`" in row and f"`{operation.name}`" in row for row in rows
        ), operation.name


def test_every_fault_and_every_step_is_described() -> None:
    for mode in Mode:
        assert f"| `{mode.value}` |" in PAGE
    for step in steps.STEPS:
        assert f"`{step}`" in PAGE


def test_every_demo_credential_is_shown() -> None:
    for app in apps.DEFAULT:
        row = f"`{app.key}` | `{app.secret}` | `{app.access_token}` | `{app.refresh_token}`"
        assert row in PAGE


def test_the_readme_of_the_package_runs_as_printed(tmp_path: Path) -> None:
    """It is installed from a copy, into a folder of the test's own, and runs in the background."""
    port = str(free_port())
    ignored = shutil.ignore_patterns("*.egg-info", "build", "__pycache__")
    shutil.copytree(ROOT / "simulator", tmp_path / "simulator", ignore=ignored)
    started = f"{port} > log 2>&1 &\nuntil curl -s localhost:{port}/healthz; do sleep 0.1; done"

    docs.check(
        "simulator/README.md",
        tmp_path,
        seconds=60,
        environ={
            "PIP_TARGET": str(tmp_path / "installed"),
            "PIP_NO_INDEX": "1",
            "PIP_NO_DEPS": "1",
            "PIP_NO_BUILD_ISOLATION": "0",  # pip reads it as the opposite of what it says
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PYTHONPATH": str(tmp_path / "installed"),
        },
        replace={"--port 8688": f"--port {started}", ":8688": f":{port}"},
    )

    assert (tmp_path / "installed/tradewind_simulator").is_dir()
