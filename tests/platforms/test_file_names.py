"""Every marketplace's folder has the same files, so that one is read beside the other."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NINE = {
    "gateway",
    "oauth",
    "products",
    "baskets",
    "orders",
    "payments",
    "notices",
    "errors",
    "values",
}


def names(folder: str) -> set[str]:
    return {path.stem for path in (ROOT / folder).glob("*.py")} - {"__init__"}


@pytest.mark.parametrize("platform", ["alibaba", "taobao"])
def test_a_connector_and_its_simulated_counterpart_have_the_same_files(platform: str) -> None:
    connector = names(f"tradewind/platforms/{platform}")
    simulator = names(f"simulator/tradewind_simulator/{platform}")

    assert connector == NINE | {"connector", "marketplace", "links"}
    assert simulator == NINE - {"values"}
