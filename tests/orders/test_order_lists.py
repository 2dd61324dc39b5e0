"""Lists of orders: every filter, both sorts, and cursors that are stable while orders are added."""

from typing import Any
from urllib.parse import quote

import pytest
from kit.store import Store

pytestmark = pytest.mark.xdist_group("store")


def listed(store: Store, query: str = "", **options: Any) -> list[str]:
    return [one["id"] for one in store.ok("GET", f"/v1/orders?{query}", **options)["items"]]


def pages(store: Store, query: str, between: Any = lambda: None) -> list[str]:
    """Every order of a list, two a page."""
    found: list[str] = []
    cursor = ""
    while True:
        page = store.ok("GET", f"/v1/orders?limit=2&{query}{cursor}")
        found += [one["id"] for one in page["items"]]
        assert (page["next_cursor"] is not None) is page["has_more"]
        if not page["has_more"]:
            return found
        between()
        cursor = f"&cursor={page['next_cursor']}"


def test_every_filter_finds_what_it_says(store: Store) -> None:
    first = store.order(external_id="PO-1")
    paid = store.paid(external_id="PO-2")
    shipped = store.advance(paid["id"], "shipped")
    there = store.order(platform="alibaba", external_id="PO-3")
    everything = [there["id"], paid["id"], first["id"]]
    tracking = shipped["shipments"][0]["tracking_number"]

    assert listed(store) == everything
    assert listed(store, "status=shipped") == [paid["id"]]
    assert listed(store, "status=shipped,pending_payment") == everything
    assert listed(store, "payment_status=unpaid") == [there["id"], first["id"]]
    assert listed(store, "platform=alibaba") == [there["id"]]
    assert listed(store, "platform=1688") == [there["id"]]
    assert listed(store, "platform=1688,sandbox") == everything
    assert listed(store, "external_id=PO-1&external_id=PO-3&external_id=PO-9") == [
        there["id"],
        first["id"],
    ]
    assert listed(store, f"order_id={first['order_id']}") == [first["id"]]
    assert listed(store, f"tracking_number={tracking}") == [paid["id"]]
    assert listed(store, "status=shipped&payment_status=unpaid") == []
    at = quote(paid["created_at"])
    assert listed(store, f"created_after={at}") == [there["id"], paid["id"]]
    assert listed(store, f"created_before={at}") == [first["id"]]
    changed = quote(shipped["updated_at"])
    assert listed(store, f"updated_after={changed}") == [there["id"], paid["id"]]
    assert listed(store, f"updated_before={changed}") == [first["id"]]
    stored = store.ok("GET", "/v1/orders?external_id=PO-3")["items"][0]
    assert stored["platform"] == "alibaba"


def test_the_latest_come_first_by_creation_or_by_change(store: Store) -> None:
    one, two, three = (store.order()["id"] for _ in range(3))
    store.request_payment(one)

    assert listed(store) == listed(store, "sort=created_at") == [three, two, one]
    assert listed(store, "sort=updated_at") == [one, three, two]


@pytest.mark.parametrize("sort", ["created_at", "updated_at"])
def test_pages_stay_put_while_orders_are_added(store: Store, sort: str) -> None:
    orders = [store.order()["id"] for _ in range(5)]

    found = pages(store, f"sort={sort}", between=lambda: store.place(store.wish()))

    assert found == orders[::-1]


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
    store: Store, query: str, status: int, code: str, pointer: str | None
) -> None:
    problem = store.refused("GET", f"/v1/orders?{query}", status, code)

    if pointer is not None:
        assert [one["pointer"] for one in problem["errors"]] == [pointer]


def test_a_filter_takes_several_values_by_comma_or_by_repeating_it(store: Store) -> None:
    one = store.order(external_id="PO-1,2")["id"]
    two = store.order(external_id="PO-3")["id"]
    store.order(external_id="PO-1")

    assert listed(store, "external_id=PO-1,2") == [one]
    assert listed(store, "external_id=PO-1%2C2&external_id=PO-3") == [two, one]
    assert listed(store, "external_id=PO-3,PO-1") == []
    everything = listed(store)
    for query in ("status=cancelled,pending_payment", "status=cancelled&status=pending_payment"):
        assert listed(store, query) == everything
    store.refused("GET", "/v1/orders?sort=created_at&sort=created_at", 422, "validation_failed")


def test_the_cursor_of_one_sort_is_refused_by_the_other(store: Store) -> None:
    for _ in range(2):
        store.order()
    cursor = store.ok("GET", "/v1/orders?limit=1")["next_cursor"]

    store.refused("GET", f"/v1/orders?sort=updated_at&cursor={cursor}", 400, "malformed_cursor")


def test_an_operator_lists_the_orders_of_all_accounts_or_of_one(store: Store) -> None:
    operator = store.api.operator()
    mine = store.order()
    other = store.api.person()
    theirs = store.place(store.wish(), by=other).json()

    def shown(query: str) -> list[tuple[str, str]]:
        found = store.ok("GET", f"/v1/admin/orders?limit=2{query}", by=operator)["items"]
        return [(one["id"], one["account_id"]) for one in found]

    assert shown("") == [(theirs["id"], other.id), (mine["id"], store.buyer.id)]
    assert shown(f"&account={store.buyer.id}") == [(mine["id"], store.buyer.id)]
    assert shown(f"&account={other.id}&status=shipped") == []
    store.refused("GET", "/v1/admin/orders?account=acc_1", 422, "validation_failed", by=operator)
    store.refused("GET", "/v1/admin/orders", 403, "insufficient_permissions")


def test_a_comparison_answers_with_what_differs_and_what_is_unknown(store: Store) -> None:
    same, changed = store.order(), store.order()
    now = store.advance(changed["id"], "price_changed", total_cny=16)
    theirs = store.place(store.wish(), by=store.api.person()).json()
    given = [{"id": one["id"], "updated_at": one["updated_at"]} for one in (same, changed, theirs)]

    found = store.ok("POST", "/v1/orders/diff", json={"orders": given})

    assert [one["id"] for one in found["orders"]] == [changed["id"]]
    assert found["orders"][0]["updated_at"] == now["updated_at"]
    assert found["unknown"] == [theirs["id"]]
    other_offset = same["updated_at"].replace("Z", "+00:00")
    same_time = [{"id": same["id"], "updated_at": other_offset}]
    assert store.ok("POST", "/v1/orders/diff", json={"orders": same_time}) == {
        "orders": [],
        "unknown": [],
    }


def test_a_comparison_takes_a_thousand_orders(store: Store) -> None:
    known = store.order()
    strangers = [f"ORD{number:026d}" for number in range(1000)]
    at = known["updated_at"]
    given = [{"id": one, "updated_at": at} for one in (known["id"], *strangers)]

    found = store.ok("POST", "/v1/orders/diff", json={"orders": given[:1000]})
    assert (found["orders"], found["unknown"]) == ([], strangers[:999])
    problem = store.refused(
        "POST", "/v1/orders/diff", 422, "validation_failed", json={"orders": given}
    )

    assert [one["pointer"] for one in problem["errors"]] == ["/orders"]


def test_the_timeline_has_one_entry_for_each_version_and_says_who_asked(store: Store) -> None:
    order = store.order()
    store.request_payment(order["id"])
    store.ok("DELETE", f"/v1/orders/{order['id']}/payment")

    path = f"/v1/orders/{order['id']}/timeline"
    first = store.ok("GET", f"{path}?limit=2")
    second = store.ok("GET", f"{path}?limit=2&cursor={first['next_cursor']}")

    timeline = first["items"] + second["items"]
    by = {"account_id": store.buyer.id, "email": store.buyer.email}
    assert [(one["version"], one["cause"], one["by"]) for one in timeline] == [
        (4, "payment_withdrawn", by),
        (3, "payment_requested", by),
        (2, "create", None),
        (1, "accepted", by),
    ]
    assert (first["has_more"], second["has_more"]) == (True, False)
    withdrawn = timeline[0]["changes"]
    assert withdrawn["payment_status"] == {"from": "pending_approval", "to": "unpaid"}
    assert [len(one["events"]) for one in timeline] == [1, 1, 1, 0]
