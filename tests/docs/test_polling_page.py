"""docs/how-to/move-from-polling.md: its code runs as it is printed."""

from typing import Any

import pytest
from kit.blocks import find, ran
from kit.system import System

PAGE = "docs/how-to/move-from-polling.md"


def test_the_journal_is_read_to_its_end_and_orders_are_compared(
    system: System, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TRADEWIND_URL", system.api.url)
    monkeypatch.setenv("TRADEWIND_API_KEY", system.buyer.headers["x-api-key"])
    code: dict[str, Any] = {}
    programs = find(PAGE, "python")
    for block in programs:
        exec(block.text, code)  # noqa: S102 - the page's own code
    order = system.order()

    cursor = code["read_events"](None)

    assert f"order.updated {order['id']} pending_payment unpaid" in capsys.readouterr().out
    assert code["read_events"](cursor) == cursor
    assert code["differing"]({order["id"]: order["updated_at"]}) == []
    outdated = {order["id"]: "2020-01-01T00:00:00.000Z"}
    assert [differing["id"] for differing in code["differing"](outdated)] == [order["id"]]
    code["client"].close()
    ran(programs)
