"""Lists of orders: every filter, both sorts, and cursors that are stable while orders are added."""

from typing import Any
from urllib.parse import quote

import pytest
from kit.system import System

pytestmark = pytest.mark.xdist_group("system")


def listed(system: System, query: str = "", **options: Any) -> list[str]:
    return [item["id"] for item in system.ok("GET", f"/v1/orders?{query}", **options)["items"]]


def pages(system: System, query: str, between: Any = lambda: None) -> list[str]:
    """Every order of a list, two a page."""
    result: list[str] = []
    cursor = ""
    while True:
        page = system.ok("GET", f"/v1/orders?limit=2&{query}{cursor}")
        result += [item["id"] for item in page["items"]]
        assert (page["next_cursor"] is not None) is page["has_more"]
        if not page["has_more"]:
            return result
        between()
        cursor = f"&cursor={page['next_cursor']}"


def test_every_filter_finds_what_it_says(system: System) -> None:
    first = system.order(external_id="PO-1")
    paid = system.paid(external_id="PO-2")
    shipped = system.advance(paid["id"], "shipped")
    there = system.order(platform="alibaba", external_id="PO-3")
    everything = [there["id"], paid["id"], first["id"]]
    tracking = shipped["shipments"][0]["tracking_number"]

    assert listed(system) == everything
    assert listed(system, "status=shipped") == [paid["id"]]
    assert listed(system, "status=shipped,pending_payment") == everything
    assert listed(system, "payment_status=unpaid") == [there["id"], first["id"]]
    assert listed(system, "platform=alibaba") == [there["id"]]
    assert listed(system, "platform=1688") == [there["id"]]
    assert listed(system, "platform=1688,sandbox") == everything
    assert listed(system, "external_id=PO-1&external_id=PO-3&external_id=PO-9") == [
        there["id"],
        first["id"],
    ]
    assert listed(system, f"order_id={first['order_id']}") == [first["id"]]
    assert listed(system, f"tracking_number={tracking}") == [paid["id"]]
    assert listed(system, "status=shipped&payment_status=unpaid") == []
    at = quote(paid["created_at"])
    assert listed(system, f"created_after={at}") == [there["id"], paid["id"]]
    assert listed(system, f"created_before={at}") == [first["id"]]
    changed = quote(shipped["updated_at"])
    assert listed(system, f"updated_after={changed}") == [there["id"], paid["id"]]
    assert listed(system, f"updated_before={changed}") == [first["id"]]
    stored = system.ok("GET", "/v1/orders?external_id=PO-3")["items"][0]
    assert stored["platform"] == "alibaba"


def test_the_latest_come_first_by_creation_or_by_change(system: System) -> None:
    first, second, third = (system.order()["id"] for _ in range(3))
    system.request_payment(first)

    assert listed(system) == listed(system, "sort=created_at") == [third, second, first]
    assert listed(system, "sort=updated_at") == [first, third, second]


@pytest.mark.parametrize("sort", ["created_at", "updated_at"])
def test_pages_stay_put_while_orders_are_added(system: System, sort: str) -> None:
    orders = [system.order()["id"] for _ in range(5)]

    result = pages(system, f"sort={sort}", between=lambda: system.place(system.order_body()))

    assert result == orders[::-1]


@pytest.mark.parametrize(
    ("query", "status", "code", "pointer"),
    [
        ("status=lost", 422, "validation_failed", "?status/0"),
        ("payment_status=paid,lost", 422, "validation_failed", "?payment_status/1"),
        ("platform=ebay", 422, "unsupported_platform", None),
        ("sort=price", 422, "validation_failed", "?sort"),
        ("colour=red", 422, "validation_failed", "?colour"),
        ("limit=0", 422, "validation_failed", "?limit"),
        ("limit=101", 422, "validation_failed", "?limit"),
        ("created_after=2026-01-01T00:00:00", 422, "validation_failed", "?created_after"),
        ("cursor=nonsense", 400, "malformed_cursor", None),
    ],
)
def test_a_filter_that_nobody_knows_is_refused(
    system: System, query: str, status: int, code: str, pointer: str | None
) -> None:
    problem = system.refused("GET", f"/v1/orders?{query}", status, code)

    if pointer is not None:
        assert [error["pointer"] for error in problem["errors"]] == [pointer]


def test_a_filter_takes_several_values_by_comma_or_by_repeating_it(system: System) -> None:
    order = system.order(external_id="PO-1,2")["id"]
    two = system.order(external_id="PO-3")["id"]
    system.order(external_id="PO-1")

    assert listed(system, "external_id=PO-1,2") == [order]
    assert listed(system, "external_id=PO-1%2C2&external_id=PO-3") == [two, order]
    assert listed(system, "external_id=PO-3,PO-1") == []
    everything = listed(system)
    for query in ("status=cancelled,pending_payment", "status=cancelled&status=pending_payment"):
        assert listed(system, query) == everything
    system.refused("GET", "/v1/orders?sort=created_at&sort=created_at", 422, "validation_failed")


def test_the_cursor_of_one_sort_is_refused_by_the_other(system: System) -> None:
    for _ in range(2):
        system.order()
    cursor = system.ok("GET", "/v1/orders?limit=1")["next_cursor"]

    system.refused("GET", f"/v1/orders?sort=updated_at&cursor={cursor}", 400, "malformed_cursor")


def test_an_operator_lists_the_orders_of_all_accounts_or_of_one(system: System) -> None:
    operator = system.api.operator()
    mine = system.order()
    other = system.api.person()
    theirs = system.place(system.order_body(), by=other).json()

    def shown(query: str) -> list[tuple[str, str]]:
        items = system.ok("GET", f"/v1/admin/orders?limit=2{query}", by=operator)["items"]
        return [(item["id"], item["account_id"]) for item in items]

    assert shown("") == [(theirs["id"], other.id), (mine["id"], system.buyer.id)]
    assert shown(f"&account={system.buyer.id}") == [(mine["id"], system.buyer.id)]
    assert shown(f"&account={other.id}&status=shipped") == []
    system.refused("GET", "/v1/admin/orders?account=acc_1", 422, "validation_failed", by=operator)
    system.refused("GET", "/v1/admin/orders", 403, "insufficient_permissions")


def test_a_comparison_answers_with_what_differs_and_what_is_unknown(system: System) -> None:
    same, changed = system.order(), system.order()
    now = system.advance(changed["id"], "price_changed", total_cny=16)
    theirs = system.place(system.order_body(), by=system.api.person()).json()
    value = [
        {"id": item["id"], "updated_at": item["updated_at"]} for item in (same, changed, theirs)
    ]

    result = system.ok("POST", "/v1/orders/diff", json={"orders": value})

    assert [order["id"] for order in result["orders"]] == [changed["id"]]
    assert result["orders"][0]["updated_at"] == now["updated_at"]
    assert result["unknown"] == [theirs["id"]]
    other_offset = same["updated_at"].replace("Z", "+00:00")
    same_time = [{"id": same["id"], "updated_at": other_offset}]
    assert system.ok("POST", "/v1/orders/diff", json={"orders": same_time}) == {
        "orders": [],
        "unknown": [],
    }


def test_a_comparison_takes_a_thousand_orders(system: System) -> None:
    known = system.order()
    strangers = [f"ORD{number:026d}" for number in range(1000)]
    at = known["updated_at"]
    value = [{"id": item, "updated_at": at} for item in (known["id"], *strangers)]

    result = system.ok("POST", "/v1/orders/diff", json={"orders": value[:1000]})
    assert (result["orders"], result["unknown"]) == ([], strangers[:999])
    problem = system.refused(
        "POST", "/v1/orders/diff", 422, "validation_failed", json={"orders": value}
    )

    assert [error["pointer"] for error in problem["errors"]] == ["/orders"]


def test_the_timeline_has_one_entry_for_each_version_and_says_who_asked(system: System) -> None:
    order = system.order()
    system.request_payment(order["id"])
    system.ok("DELETE", f"/v1/orders/{order['id']}/payment")

    path = f"/v1/orders/{order['id']}/timeline"
    first = system.ok("GET", f"{path}?limit=2")
    second = system.ok("GET", f"{path}?limit=2&cursor={first['next_cursor']}")

    timeline = first["items"] + second["items"]
    by = {"account_id": system.buyer.id, "email": system.buyer.email, "agent": None}
    assert [(item["version"], item["cause"], item["by"]) for item in timeline] == [
        (4, "payment_withdrawn", by),
        (3, "payment_requested", by),
        (2, "create", None),
        (1, "accepted", by),
    ]
    assert (first["has_more"], second["has_more"]) == (True, False)
    withdrawn = timeline[0]["changes"]
    assert withdrawn["payment_status"] == {"from": "pending_approval", "to": "unpaid"}
    assert [len(item["events"]) for item in timeline] == [1, 1, 1, 0]
