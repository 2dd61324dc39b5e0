"""What changed since, and the addresses of lists: pure decisions of the desk's pages."""

from types import SimpleNamespace
from typing import Any

import pytest

from tradewind.dashboard.orders.changes import told
from tradewind.dashboard.shell import listing


@pytest.mark.parametrize(
    ("rows", "lines"),
    [
        ([], []),
        (
            [{"total_amount_cny": {"from": 15.0, "to": 1234.5}}],
            ["total ¥15.00 → ¥1,234.50"],
        ),
        (
            [
                {"total_amount_cny": {"from": 15.0, "to": 20.0}},
                {"total_amount_cny": {"from": 20.0, "to": 15.0}},
            ],
            [],
        ),
        (
            [
                {"status": {"from": "creating", "to": "pending_payment"}},
                {"status": {"from": "pending_payment", "to": "cancelled"}},
            ],
            ["status being placed → cancelled"],
        ),
        ([{"cancel_requested": {"from": False, "to": True}}], ["cancellation asked for"]),
        ([{"dispute": {"from": True, "to": False}}], ["dispute: no longer"]),
        ([{"shipments": {"from": [], "to": [{"order_id": "1"}]}}], ["shipments changed"]),
        ([{"total_amount_cny": {"from": None, "to": 3.0}}], ["total — → ¥3.00"]),
        ([{"order_id": {"from": None, "to": "1688"}}], ["platform's id 1688"]),
        ([{"payment_status": {"from": "unpaid", "to": "pending_approval"}}], []),
    ],
)
def test_what_changed_is_told_in_few_words(rows: list[Any], lines: list[str]) -> None:
    assert told([{"changes": row} for row in rows]) == lines


def request(query: str) -> Any:
    return SimpleNamespace(path="/audit", query_string=query.encode())


def test_the_next_page_keeps_what_was_chosen() -> None:
    chosen = request("action=a.b&account=&cursor=old&role=x&role=y")

    assert listing.next_page(chosen, None) is None
    assert listing.next_page(chosen, "n=") == "/audit?action=a.b&role=x&role=y&cursor=n%3D"
    assert listing.first_page(chosen) == "/audit?action=a.b&role=x&role=y"
    assert listing.first_page(request("action=a")) is None
    assert listing.chosen(chosen)
    assert not listing.chosen(request("action=&cursor=x"))
