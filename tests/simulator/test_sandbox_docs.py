"""The documentation of the simulator matches it."""

import re
from pathlib import Path

from tradewind_simulator import apps, magic, steps
from tradewind_simulator.alibaba import gateway as alibaba
from tradewind_simulator.faults import Mode
from tradewind_simulator.taobao import gateway as taobao

PAGE = (Path(__file__).parents[2] / "docs/reference/simulator.md").read_text()


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
