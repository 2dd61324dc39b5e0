"""Exports in a real browser: the link has the filters of the page, and saves a file."""

import csv
import io
from pathlib import Path

import pytest
from kit.system import System
from kit.webhook_endpoint import running_endpoint
from kit.webhook_system import WebhookSystem

from browser.conftest import SignIn, Visit
from tradewind.auth.model import Role

pytestmark = pytest.mark.xdist_group("browser")


def saved(desk: Visit, name: str) -> list[dict[str, str]]:
    """Press the link, and read the file that the browser saves."""
    with desk.page.expect_download() as download:
        desk.page.get_by_role("link", name="Export CSV").click()
    assert download.value.suggested_filename.startswith(f"{name}-20")
    content = Path(download.value.path()).read_bytes()
    assert content.startswith(b"\xef\xbb\xbf"), "for spreadsheets"
    return list(csv.DictReader(io.StringIO(content[3:].decode(), newline=""), strict=True))


def test_orders_are_exported_with_the_filters_of_the_page(desk: Visit, system: System) -> None:
    waiting = system.order(external_id="PO-1")
    paid = system.paid(external_id="=PO-2")
    desk.sign_in(system.buyer, then="/orders")
    assert desk.serious() == []

    assert [row["order"] for row in saved(desk, "orders")] == [paid["id"], waiting["id"]]
    desk.page.get_by_role("link", name="Awaiting payment").click()
    desk.page.wait_for_url("**/orders?status=pending_payment")
    assert [row["order"] for row in saved(desk, "orders")] == [waiting["id"]]
    desk.open("/orders?q=PO-1&platform=sandbox")
    assert [row["external_id"] for row in saved(desk, "orders")] == ["PO-1"]
    desk.open("/orders?platform=alibaba")
    assert desk.page.get_by_role("link", name="Export CSV").count() == 0


def test_payments_deliveries_and_the_audit_log_are_exported(
    desk: Visit, system: System, enter: SignIn
) -> None:
    hooks = WebhookSystem.of(system)
    with running_endpoint() as endpoint:
        hook = hooks.hook(endpoint.url())
        order = hooks.order()
        payment = hooks.request_payment(order["id"])
        hooks.tried(hook, attempts=2)
    boss = system.api.person(roles=tuple(Role))
    desk.sign_in(boss, then="/approvals")
    pending = saved(desk, "payments")
    assert payment["id"] in {row["payment"] for row in pending}
    assert {row["status"] for row in pending} == {"pending_approval"}
    assert desk.serious() == []
    desk.open(f"/audit?account={hooks.buyer.email}")
    assert {row["account"] for row in saved(desk, "audit")} == {hooks.buyer.id}

    buyer = enter(hooks.buyer)
    path = f"/webhooks/{hook.id}/deliveries/export"
    answer = buyer.get(f"{path}?event=order.updated")
    assert answer.status_code == 200
    assert "payment.updated" not in answer.text
    assert answer.text.count("order.updated") == len(hooks.log(hook, "event=order.updated"))
    assert buyer.get(f"{path}?status_code=x").status_code == 422
    stranger = enter(system.api.person())
    assert stranger.get(path).status_code == 404
    assert stranger.get("/approvals/export").status_code == 403
    assert stranger.get("/audit/export").status_code == 403
