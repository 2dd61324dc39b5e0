"""What changed since a request, and the URLs of lists: pure decisions of the pages."""

from types import SimpleNamespace
from typing import Any

import pytest

from tradewind.dashboard.orders.timeline import summary
from tradewind.dashboard.shell import urls


@pytest.mark.parametrize(
    ("changes", "lines"),
    [
        ([], []),
        ([{"total_amount_cny": (15.0, 1234.5)}], ["Total: CNY 15.00 → CNY 1,234.50"]),
        ([{"total_amount_cny": (15.0, 20.0)}, {"total_amount_cny": (20.0, 15.0)}], []),
        (
            [
                {"status": ("creating", "pending_payment")},
                {"status": ("pending_payment", "closed")},
            ],
            ["Status: Creating → Closed"],
        ),
        ([{"cancel_requested": (False, True)}], ["Cancellation requested."]),
        ([{"dispute": (True, False)}], ["Dispute closed."]),
        (
            [{"shipments": ([], [{"carrier": "ZTO", "tracking_number": "ZT1"}])}],
            ["Parcel: ZTO, ZT1"],
        ),
        ([{"total_amount_cny": (None, 3.0)}], ["Total: CNY 3.00"]),
        ([{"order_id": (None, "1688")}], ["Marketplace order ID: 1688"]),
        ([{"payment_status": ("unpaid", "pending_approval")}], []),
    ],
)
def test_several_changes_are_summarised(changes: list[Any], lines: list[str]) -> None:
    stored = [
        {name: {"from": before, "to": after} for name, (before, after) in change.items()}
        for change in changes
    ]

    assert [str(line) for line in summary(stored)] == lines


def request(query: str) -> Any:
    return SimpleNamespace(path="/audit", query_string=query.encode())


def test_the_next_page_keeps_the_filters() -> None:
    filtered = request("action=a.b&account=&cursor=old&role=x&role=y")

    assert urls.page_url(filtered, cursor="n=") == "/audit?action=a.b&role=x&role=y&cursor=n%3D"
    assert urls.page_url(filtered, cursor=None) == "/audit?action=a.b&role=x&role=y"
    assert urls.page_url(filtered, path="/x", fragment="y", cursor=None) == (
        "/x?action=a.b&role=x&role=y#y"
    )
    assert not urls.is_first_page(filtered)
    assert urls.is_first_page(request("action=a"))
    assert urls.page_url(request("q=a&page=2"), page=3) == "/audit?q=a&page=3"
    assert urls.is_filtered(filtered)
    assert not urls.is_filtered(request("action=&cursor=x&limit=5"))
