"""Exports over HTTP: every kind, filters, pages, who may, and what happens when it breaks."""

import csv
import io
import re
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from datetime import timedelta
from urllib.parse import quote, urlsplit

import httpx
import pytest
from kit.pages import COOKIE, Pages
from kit.server import Person, Server, ServerLauncher
from kit.system import PLAIN, System
from kit.webhook_endpoint import running_endpoint
from kit.webhook_system import WebhookSystem, write_events

from tradewind import ids
from tradewind.auth.model import Role
from tradewind.events.catalogue import ORDER_UPDATED
from tradewind.events.read import Retention
from tradewind.exports.columns import AUDIT, DELIVERIES, EVENTS, ORDERS, PAYMENTS
from tradewind.exports.export import PAGE_ROWS, export_events
from tradewind.storage.pool import Database
from tradewind.web.concurrency import EXPENSIVE_AT_ONCE

pytestmark = pytest.mark.xdist_group("system")

COLUMNS = [ORDERS, PAYMENTS, DELIVERIES, EVENTS, AUDIT]


def rows_of(answer: httpx.Response) -> list[dict[str, str]]:
    """The rows of a file, by the names of its columns."""
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "text/csv; charset=utf-8; header=present"
    assert answer.content.endswith(b"\r\n")
    return list(csv.DictReader(io.StringIO(answer.content.decode(), newline=""), strict=True))


def exported(system: System, path: str, by: Person | None = None) -> list[dict[str, str]]:
    return rows_of(system.call("GET", f"/v1/exports/{path}", by=by))


def test_columns_have_plain_names() -> None:
    assert all(re.fullmatch(r"[a-z_]+", name) for columns in COLUMNS for name in columns)
    assert all("order" in columns for columns in COLUMNS[:4])


def test_a_row_for_each_line_and_amounts_in_the_first(system: System) -> None:
    body = system.order_body(quantity=3, external_id="PO-1", remark='=HYPERLINK("http://x")')
    body["address"] = {**body["address"], "phone": "+86 152 5166 7788", "detail": 'a "b", c\nd'}
    other = system.ok("GET", f"/v1/products/sandbox/{PLAIN}")["skus"][1]["id"]
    body["items"].append({"product_id": PLAIN, "sku_id": other, "quantity": 1})
    placed = system.place(body)
    assert placed.status_code == 201, placed.text
    order = system.until(placed.json()["id"], lambda seen: seen["status"] != "creating")

    first, second = exported(system, "orders")

    assert first["order"] == second["order"] == order["id"]
    assert first["order_id"] == order["order_id"]
    assert [first["line"], second["line"]] == ["1", "2"]
    assert [first["quantity"], second["quantity"]] == ["3", "1"]
    assert float(first["total_amount_cny"]) == order["total_amount_cny"]
    assert second["total_amount_cny"] == ""
    assert first["remark"] == '\'=HYPERLINK("http://x")'
    assert first["phone"] == "'+86 152 5166 7788"
    assert first["detail"] == 'a "b", c\nd'
    assert first["created_at"] == order["created_at"]
    goods = order["items"][0]
    assert first["title"] == goods["title"] is not None
    assert first["unit_price_cny"] == f"{goods['unit_price_cny']:.2f}"
    assert first["seller_name"] == goods["seller"]["name"]
    assert first["attributes"] == "; ".join(
        f"{name}: {value}" for name, value in goods["attributes"].items()
    )


def test_filters_are_those_of_the_list(system: System) -> None:
    first = system.order(external_id="PO-1")
    paid = system.paid(external_id="PO-2")

    def orders(query: str) -> list[str]:
        return [row["order"] for row in exported(system, f"orders?{query}")]

    assert orders("") == [paid["id"], first["id"]]
    assert orders("payment_status=unpaid") == [first["id"]]
    assert orders("external_id=PO-2&external_id=PO-9") == [paid["id"]]
    assert orders(f"created_before={quote(paid['created_at'])}") == [first["id"]]
    assert orders("platform=1688") == []
    system.refused("GET", "/v1/exports/orders?status=lost", 422, "validation_failed")
    system.refused("GET", "/v1/exports/orders?platform=ebay", 422, "unsupported_platform")
    for unknown in ("limit=1", "cursor=x", "sort=updated_at", "bom=maybe"):
        system.refused("GET", f"/v1/exports/orders?{unknown}", 422, "validation_failed")


def test_a_list_of_many_pages_is_exported_whole(system: System) -> None:
    order = system.order()
    system.copy_order(order, 2 * PAGE_ROWS)

    rows = exported(system, "orders")

    assert len({row["order"] for row in rows}) == len(rows) == 2 * PAGE_ROWS + 1


def test_an_empty_list_is_a_header_and_a_bom_only_on_request(system: System) -> None:
    plain = system.call("GET", "/v1/exports/orders")
    marked = system.call("GET", "/v1/exports/orders?bom=true")

    assert plain.content.decode() == ",".join(ORDERS) + "\r\n"
    assert marked.content == b"\xef\xbb\xbf" + plain.content
    assert plain.headers["content-disposition"].startswith('attachment; filename="orders-20')
    assert plain.headers["cache-control"] == "no-store"
    head = system.call("HEAD", "/v1/exports/orders")
    assert (head.status_code, head.content) == (200, b"")


def test_payments_deliveries_events_and_the_audit_log(system: System) -> None:
    hooks = WebhookSystem.of(system)
    operator = system.api.person(roles=tuple(Role))
    with running_endpoint() as endpoint:
        hook = hooks.hook(endpoint.url())
        order = hooks.order(external_id="PO-7")
        payment = hooks.request_payment(order["id"])
        hooks.ok(
            "POST",
            f"/v1/payments/{payment['id']}/reject",
            by=system.approver,
            json={"reason": "-1"},
        )
        hooks.tried(hook, attempts=3)
        deliveries = exported(hooks, "deliveries")
        of_hook = exported(hooks, f"deliveries?webhook={hook.id}&event=payment.updated")

    listed = hooks.log(hook)
    assert [row["delivery"] for row in deliveries] == [attempt["id"] for attempt in listed]
    assert {row["webhook"] for row in deliveries} == {hook.id}
    assert {row["event"] for row in of_hook} == {"payment.updated"}
    events = exported(hooks, "events")
    journal = hooks.ok("GET", "/v1/events?limit=100")["items"]
    assert [row["event_id"] for row in events] == [event["id"] for event in journal]
    assert [int(row["number"]) for row in events] == list(range(1, len(events) + 1))
    assert exported(hooks, f"events?order={order['id']}&event=order.updated")
    (paid,) = exported(hooks, f"payments?order={order['id']}", by=system.approver)
    assert (paid["payment"], paid["status"], paid["reason"]) == (payment["id"], "rejected", "'-1")
    assert float(paid["amount_cny"]) == payment["amount_cny"]
    everything = exported(hooks, "payments", by=system.approver)
    assert paid in everything
    audit = exported(hooks, "audit?action=payment.rejected", by=operator)
    assert paid["payment"] in {row["subject"] for row in audit}


async def test_events_that_come_during_an_export_are_not_in_it(db: Database) -> None:
    account_id = ids.new()
    before = await write_events(db, account_id, PAGE_ROWS + 2, ORDER_UPDATED)

    made = await export_events(db, account_id, None, None, Retention(timedelta(days=30)), bom=False)
    pieces = []
    async for piece in made.pieces:
        pieces.append(piece)
        assert len(pieces) <= 2, "it follows the journal for ever"
        await write_events(db, account_id, PAGE_ROWS, ORDER_UPDATED)

    rows = list(csv.DictReader(io.StringIO(b"".join(pieces).decode(), newline=""), strict=True))
    assert [row["event_id"] for row in rows] == before


def test_a_download_ends_when_its_key_is_revoked(own_api: Server) -> None:
    operator = own_api.person(roles=tuple(Role))
    _fill_audit(own_api, 30_000)
    (key,) = own_api.call("GET", "/v1/api-keys", by=operator).json()["items"]
    with _begun(own_api, operator) as (connection, received):
        revoked = own_api.call("DELETE", f"/v1/api-keys/{key['id']}", by=operator)
        whole = received + _rest(connection)

    assert revoked.status_code in {200, 204}
    assert b"200 OK" in whole
    assert not whole.endswith(b"0\r\n\r\n"), "the end of a complete response"
    assert '"error_code":"invalid_credentials"' in own_api.log.read_text()


def test_a_download_ends_when_its_account_loses_the_role(own_api: Server) -> None:
    operator = own_api.person(roles=tuple(Role))
    _fill_audit(own_api, 30_000)
    with _begun(own_api, operator) as (connection, received):
        own_api.fetch("UPDATE account SET roles = '{buyer}' WHERE id = $1", operator.uuid)
        whole = received + _rest(connection)

    assert not whole.endswith(b"0\r\n\r\n"), "the end of a complete response"
    assert '"error_code":"insufficient_permissions"' in own_api.log.read_text()


def test_a_download_of_the_dashboard_ends_with_its_session(own_api: Server) -> None:
    operator = own_api.person(roles=tuple(Role))
    _fill_audit(own_api, 30_000)
    pages = Pages(own_api, operator)
    with closing(pages.client), _begun(own_api, operator, pages) as (connection, received):
        assert pages.post("/sign-out").status_code == 303
        whole = received + _rest(connection)

    assert b"200 OK" in whole
    assert not whole.endswith(b"0\r\n\r\n"), "the end of a complete response"
    assert '"error_code":"sign_in_needed"' in own_api.log.read_text()


def test_who_may_export_what(system: System) -> None:
    order = system.order()
    stranger = system.api.person()
    with running_endpoint() as endpoint:
        hook = WebhookSystem.of(system).hook(endpoint.url(), by=system.buyer)

    assert exported(system, "orders", by=stranger) == []
    assert exported(system, f"orders?order_id={order['order_id']}", by=stranger) == []
    assert exported(system, f"events?order={order['id']}", by=stranger) == []
    for kind in ("payments", "audit"):
        system.refused("GET", f"/v1/exports/{kind}", 403, "insufficient_permissions", by=stranger)
    for webhook in (hook.id, hook.id[:-1] + "0"):
        path = f"/v1/exports/deliveries?webhook={webhook}"
        system.refused("GET", path, 404, "not_found", by=stranger)
    system.refused("GET", "/v1/exports/passwords", 404, "route_not_found")
    assert system.api.call("GET", "/v1/exports/orders").status_code == 401


def test_when_the_database_fails_in_the_middle_the_client_can_tell(own_api: Server) -> None:
    """The first page is sent; the second cannot be read."""
    operator = own_api.person(roles=tuple(Role))
    _fill_audit(own_api)
    with _begun(own_api, operator) as (connection, received):
        own_api.fetch("ALTER TABLE audit RENAME TO audit_elsewhere")
        whole = received + _rest(connection)

    assert b"200 OK" in whole
    assert b"transfer-encoding: chunked" in whole.lower()
    assert not whole.endswith(b"0\r\n\r\n"), "the end of a complete response"
    assert '"event":"stream.failed"' in own_api.log.read_text()
    own_api.fetch("ALTER TABLE audit_elsewhere RENAME TO audit")
    assert rows_of(own_api.call("GET", "/v1/exports/audit", by=operator))


def test_exports_under_way_are_expensive_requests_until_they_end(
    launcher: ServerLauncher,
) -> None:
    with launcher.serving(workers=1) as api:  # each process has a limit of its own
        operator = api.person(roles=tuple(Role))
        _fill_audit(api)
        with ExitStack() as clients:
            for _ in range(EXPENSIVE_AT_ONCE):
                clients.enter_context(_begun(api, operator))
            refused = api.call("GET", "/v1/exports/audit", by=operator)
        deadline = time.monotonic() + 20
        while api.call("HEAD", "/v1/exports/audit", by=operator).status_code == 429:
            assert time.monotonic() < deadline, "clients have gone, and their slots are still taken"
        for _ in range(EXPENSIVE_AT_ONCE + 1):
            assert api.call("HEAD", "/v1/exports/audit", by=operator).status_code == 200

    assert (refused.status_code, refused.json()["code"]) == (429, "too_many_concurrent_requests")


def _fill_audit(api: Server, rows: int = 10_000) -> None:
    api.fetch(
        """
        INSERT INTO audit (id, at, action, actor, subject, details)
        SELECT tradewind_uuid7(), tradewind_now(), 'test', 'test', repeat('x', 1500), '{}'
          FROM generate_series(1, $1)
        """,
        rows,
    )


@contextmanager
def _begun(
    api: Server, person: Person, pages: Pages | None = None
) -> Iterator[tuple[socket.socket, bytes]]:
    """An export whose client has read a little, and reads no more; by the API or as a page."""
    path, credential = "/v1/exports/audit", f"x-api-key: {person.key}"
    if pages is not None:
        path, credential = "/audit/export", f"Cookie: {COOKIE}={pages.client.cookies[COOKIE]}"
    parts = urlsplit(api.url)
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.connect((parts.hostname, parts.port))
    connection.settimeout(20)
    with connection:
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: test\r\n{credential}\r\n\r\n".encode())
        yield connection, connection.recv(1000)


def _rest(connection: socket.socket) -> bytes:
    received = bytearray()
    while chunk := connection.recv(1 << 20):
        received += chunk
    return bytes(received)
