"""Pay mode `link`: an approval returns a link, and paying there pays the approved amount."""

from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from kit.server import ServerLauncher
from kit.system import System, running_system

pytestmark = pytest.mark.xdist_group("links")


@pytest.fixture(scope="module")
def linked(launcher: ServerLauncher, tmp_path_factory: pytest.TempPathFactory) -> Iterator[System]:
    settings = {"TRADEWIND_PLATFORM_SANDBOX_PAY_MODE": "link"}
    with running_system(
        launcher, tmp_path_factory.mktemp("links"), api_processes=1, settings=settings
    ) as system:
        yield system


def approved(system: System) -> tuple[str, str, str]:
    """An order whose payment has a link: the ids of the order here and there, and the link."""
    order = system.order()
    system.approve(system.request_payment(order["id"])["id"])
    value = system.until(order["id"], lambda order: bool(order["payment"]["pay_url"]))
    assert (value["payment_status"], value["waiting_for"]) == ("approved", "payment")
    assert (value["payment"]["status"], value["payment"]["mode"]) == ("approved", "link")
    return order["id"], order["order_id"], value["payment"]["pay_url"]


def test_who_pays_at_the_link_pays_what_was_approved(linked: System) -> None:
    order_id, there, url = approved(linked)
    assert url.startswith(linked.market.url)
    parts = urlsplit(url)

    page = linked.market.client.post(f"{parts.path}?{parts.query}")

    assert page.status_code == 200
    linked.until_stored(order_id, lambda row: row["payment_status"] == "paid")
    paid = linked.look(order_id)
    assert (paid["status"], paid["paid_outside"]) == ("paid", False)
    (payment,) = linked.ok("GET", f"/v1/orders/{order_id}/payments")["items"]
    assert (payment["status"], payment["pay_url"]) == ("paid", url)
    assert linked.market.debits(there) == [1500]
    assert linked.told(order_id)[1:] == [
        ("payment.updated", "pending_payment", "pending_approval"),
        ("payment.updated", "pending_payment", "approved"),
        ("order.updated", "paid", "paid"),
        ("payment.updated", "paid", "paid"),
    ]


def test_a_link_does_not_hold_for_another_price(linked: System) -> None:
    order_id, _, _ = approved(linked)

    after = linked.advance(order_id, "price_changed", total_cny=16)

    assert (after["payment_status"], after["payment"]) == ("unpaid", None)
    (payment,) = linked.ok("GET", f"/v1/orders/{order_id}/payments")["items"]
    assert (payment["status"], payment["reason"]) == ("superseded", "amount_changed")


def test_what_has_a_link_is_never_debited_by_us(linked: System) -> None:
    order_id, there, _ = approved(linked)

    linked.due_now(order_id)
    linked.until_stored(order_id, lambda row: row["next_sync_at"] > row["synced_at"])

    assert linked.market.debits(there) == []
    assert "pay.calls" not in linked.market.state()["counters"]


def test_of_a_split_order_one_part_may_be_paid_after_another(linked: System) -> None:
    order = linked.order("900000000007", 2)
    first, second = (part["order_id"] for part in order["platform_orders"])
    linked.approve(linked.request_payment(order["id"])["id"])
    linked.until(order["id"], lambda order: bool(order["payment"]["pay_url"]))

    linked.market.advance(first, "pay")
    half = linked.until(order["id"], lambda order: order["paid_amount_cny"] > 0)
    linked.market.advance(second, "pay")
    whole = linked.until(order["id"], lambda order: order["status"] == "paid")

    assert (half["payment_status"], half["payment"]["status"]) == ("approved", "approved")
    assert (whole["payment_status"], whole["paid_outside"]) == ("paid", False)
    (payment,) = linked.ok("GET", f"/v1/orders/{order['id']}/payments")["items"]
    assert payment["status"] == "paid"
