"""The documentation of marketplaces matches the connectors."""

import re
from pathlib import Path

import pytest

from tradewind.platforms.alibaba import orders, payments
from tradewind.platforms.contract import Capability
from tradewind.platforms.model import PaymentState, PlatformOrderStatus, RefundState
from tradewind.platforms.registry import MARKETPLACES

PAGE = (Path(__file__).parents[2] / "docs/reference/marketplaces.md").read_text()
ROWS = [
    [cell.strip() for cell in row.strip("|").split("|")]
    for row in PAGE.splitlines()
    if row.startswith("|")
]


def row(first: str, heading: str) -> list[str]:
    """The row that begins so, of the table whose heading begins so."""
    at = next(no for no, cells in enumerate(ROWS) if cells[0] == heading)
    return next(cells for cells in ROWS[at:] if cells[0] == f"`{first}`")


@pytest.mark.parametrize(("raw", "status"), orders.STATUSES.items())
def test_a_status_of_1688(raw: str, status: PlatformOrderStatus) -> None:
    assert f"`{raw}`" in row(status, "ours")[1]


@pytest.mark.parametrize(("raw", "state"), orders.PAY_STATES.items())
def test_a_payment_status_of_1688(raw: str, state: PaymentState) -> None:
    assert raw in re.findall(r"\d+", row(state, "payment, ours")[1])


@pytest.mark.parametrize(("raw", "state"), payments.REFUND_STATES.items())
def test_a_refund_status_of_1688(raw: str, state: RefundState) -> None:
    assert f"`{raw}`" in row(state, "refund, ours")[1]


def test_every_status_is_there() -> None:
    """But for `unknown`: no marketplace of these says so of an order."""
    for status in set(PlatformOrderStatus) - {PlatformOrderStatus.UNKNOWN}:
        assert len(row(status, "ours")) == 3
    for state in set(PaymentState) - {PaymentState.FAILED}:
        assert len(row(state, "payment, ours")) == 3
    for refund in RefundState:
        assert len(row(refund, "refund, ours")) == 3


@pytest.mark.parametrize(
    ("first", "capability"),
    [
        ("pay at once (`pay_auto`)", Capability.PAY_AUTO),
        ("pay by hand (`pay_link`)", Capability.PAY_LINK),
        ("request a refund (`refund`)", Capability.REFUND),
        ("notices (`notices`)", Capability.NOTICES),
        ("search by picture (`image_search`)", Capability.IMAGE_SEARCH),
    ],
)
def test_what_each_can_do(first: str, capability: Capability) -> None:
    (said,) = [cells[1:] for cells in ROWS if cells[0] == first]

    assert [cell.startswith("yes") for cell in said] == [
        capability in MARKETPLACES[platform].traits.capabilities
        for platform in ("sandbox", "alibaba", "taobao")
    ]


def test_every_marketplace_is_listed() -> None:
    for platform, market in MARKETPLACES.items():
        assert f"| `{platform}`" in PAGE
        assert all(f"`{alias}`" in PAGE for alias in market.traits.aliases)
