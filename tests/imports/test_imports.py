"""Imports over HTTP: rows with errors, totals, confirmation, progress, and nothing twice."""

import html
import re
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import httpx
import pytest
from imports.test_files import HOSTILE
from kit.pages import Pages
from kit.server import Person
from kit.spreadsheets import csv_file, xlsx_file
from kit.system import ADDRESS, PLAIN, System

from tradewind import ids

pytestmark = pytest.mark.xdist_group("system")

HEADER = [
    "Product ID",
    "SKU",
    "Qty",
    "Recipient",
    *("phone", "province", "city", "district", "address"),
]
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_PATIENCE_SECONDS = 60


def row(system: System, quantity: object = 1, product: str = PLAIN, **address: str) -> list[object]:
    return [product, system.sku(), quantity, *{**ADDRESS, **address}.values()]


def sent(
    system: System,
    content: bytes,
    query: str = "platform=sandbox",
    *,
    kind: str = "text/csv",
    by: Person | None = None,
) -> httpx.Response:
    answer: httpx.Response = system.call(
        "POST", f"/v1/imports?{query}", by=by, content=content, headers={"content-type": kind}
    )
    return answer


def imported(system: System, content: bytes, query: str = "platform=sandbox", **more: Any) -> Any:
    answer = sent(system, content, query, **more)
    assert answer.status_code == 201, answer.text
    assert answer.headers["location"] == f"/v1/imports/{answer.json()['id']}"
    return until(system, answer.json()["id"], lambda shown: shown["status"] != "checking")


def look(system: System, import_id: str, query: str = "limit=100") -> Any:
    return system.ok("GET", f"/v1/imports/{import_id}?{query}")


def until(system: System, import_id: str, good: Callable[[Any], bool]) -> Any:
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while True:
        shown = look(system, import_id)
        if good(shown):
            return shown
        assert time.monotonic() < deadline, shown
        time.sleep(0.1)


def confirmed(system: System, import_id: str, total: float) -> httpx.Response:
    answer: httpx.Response = system.call(
        "POST", f"/v1/imports/{import_id}/order", json={"expected_total_cny": total}
    )
    return answer


def done(system: System, shown: Any) -> Any:
    answer = confirmed(system, shown["id"], shown["total_amount_cny"])
    assert answer.status_code == 202, answer.text
    return until(system, shown["id"], lambda seen: seen["status"] == "done")


def test_a_file_is_checked_confirmed_and_ordered(system: System) -> None:
    rows: list[list[object]] = [
        [*HEADER],
        row(system, 1),
        row(system, "two"),
        row(system, 3),
        row(system, 1, "1"),
        row(system, 1, phone="x"),
    ]

    ready = imported(system, csv_file(rows), "platform=sandbox&file_name=november.csv")

    assert ready["file_name"] == "november.csv"
    assert ready["columns"]["quantity"] == "Qty"
    counts = ready["counts"]
    assert (counts["rows"], counts["rows_failed"], counts["orders_ready"]) == (5, 3, 2)
    by_row = {shown["row"]: shown for shown in ready["items"]}
    assert by_row[3]["errors"] == [
        {
            "column": "Qty",
            "code": "invalid",
            "message": "Must be a whole number from 1 to 1,000,000.",
        }
    ]
    assert by_row[5]["errors"][0]["code"] == "items_unavailable"
    assert by_row[6]["errors"][0]["column"] == "phone"
    assert ready["total_amount_cny"] == sum(by_row[number]["total_amount_cny"] for number in (2, 4))
    assert look(system, ready["id"], "failed=true&limit=2")["has_more"] is True
    assert system.ok("GET", "/v1/orders")["items"] == [], "nothing is ordered yet"

    ended = done(system, ready)

    assert ended["counts"]["orders_placed"] == 2
    placed = [shown["order"] for shown in ended["items"] if shown["order"]]
    orders = system.ok("GET", "/v1/orders")["items"]
    assert {order["id"] for order in orders} == set(placed)
    assert {order["metadata"]["import"] for order in orders} == {ready["id"]}
    assert (
        sum(order["total_amount_cny"] or 0 for order in map(system.look, placed))
        == ended["confirmed_total_cny"]
    )


def test_rows_with_one_reference_are_one_order(system: System) -> None:
    other = system.ok("GET", f"/v1/products/sandbox/{PLAIN}")["skus"][1]["id"]
    header = ["order_ref", "platform", "external_id", *HEADER]
    full = ["A", "sandbox", "PO-7", *row(system, 1)]
    rows: list[list[object]] = [
        [*header],
        full,
        ["A", "", "", PLAIN, other, 2],
        ["B", "ebay", "", *row(system, 1)],
        ["C", "sandbox", "", *row(system, 1)],
        ["C", "sandbox", "", *row(system, 2)],
        ["D", "sandbox", "", *row(system, 1)],
        ["D", "", "", PLAIN, other, 1, "Somebody else"],
    ]

    ready = imported(system, xlsx_file(rows), "", kind=XLSX)

    errors = {
        shown["row"]: [(error["column"], error["code"]) for error in shown["errors"]]
        for shown in ready["items"]
    }
    assert errors == {
        2: [],
        3: [],
        4: [("platform", "unsupported_platform")],
        5: [(None, "order_incomplete")],
        6: [(None, "duplicate")],
        7: [(None, "order_incomplete")],
        8: [("Recipient", "invalid")],
    }
    ended = done(system, ready)
    orders = {shown["order"] for shown in ended["items"] if shown["order"]}
    (order,) = [system.look(order) for order in orders]
    assert [item["quantity"] for item in order["items"]] == [1, 2]
    assert order["external_id"] == "PO-7"


def test_rows_name_saved_addresses_or_go_to_the_default_one(system: System) -> None:
    def save(label: str, **more: Any) -> Any:
        return system.ok("POST", "/v1/addresses", json={**ADDRESS, "label": label, **more})

    warehouse = save("Warehouse")
    office = save("Office", name="李四", is_default=True)
    save("Twice")
    save("twice")
    other = system.ok("POST", "/v1/addresses", by=system.api.person(), json=ADDRESS)
    header = ["product_id", "sku_id", "qty", "Address"]
    goods = [PLAIN, system.sku(), 1]
    named = [warehouse["id"], "  wareHOUSE ", "", "Nowhere", "Twice", other["id"]]
    rows: list[list[object]] = [
        [*header],
        *([*goods, text] for text in named),
        [*goods[:2], "x", "?"],
    ]

    ready = imported(system, csv_file(rows))

    errors = {
        shown["row"]: [(error["column"], error["message"]) for error in shown["errors"]]
        for shown in ready["items"]
    }
    unknown = ("Address", "Must be the ID or the label of an address in the address book.")
    twice = ("Address", "2 addresses of the address book have this label: use the ID.")
    number = ("qty", "Must be a whole number from 1 to 1,000,000.")
    assert errors == {
        2: [], 3: [], 4: [], 5: [unknown], 6: [twice], 7: [unknown], 8: [unknown, number],
    }  # fmt: skip
    placed = {shown["row"]: shown["order"] for shown in done(system, ready)["items"]}
    names = {row: system.look(order)["address"]["name"] for row, order in placed.items() if order}
    assert names == {2: ADDRESS["name"], 3: ADDRESS["name"], 4: office["name"]}

    without = imported(system, csv_file([header[:3], goods]))
    (shown,) = done(system, without)["items"]
    assert system.look(shown["order"])["address"]["name"] == office["name"]
    both = imported(
        system, csv_file([[*HEADER[:-1], "detail", "Address"], [*row(system), "Office"]])
    )
    (shown,) = both["items"]
    assert [error["column"] for error in shown["errors"]] == ["Address"]
    assert "Must be empty, or Recipient, phone" in shown["errors"][0]["message"]


def test_an_unknown_region_is_a_warning_and_no_error(system: System) -> None:
    ready = imported(system, csv_file([HEADER, row(system, 1, district="滨江曲")]))
    (shown,) = ready["items"]
    body = system.order_body()
    body["address"] = {**body["address"], "city": "Hangzhou"}

    preview = system.ok("POST", "/v1/orders/preview", json=body)

    assert shown["errors"] == []
    (warning,) = shown["warnings"]
    assert (warning["column"], warning["code"]) == ("district", "unknown_region")
    assert "did you mean 滨江区" in warning["message"]
    (warning,) = preview["warnings"]
    assert (warning["pointer"], warning["code"]) == ("/address/city", "unknown_region")
    assert system.place(body).status_code == 201
    assert system.ok("POST", "/v1/orders/preview", json=system.order_body())["warnings"] == []


def test_a_total_that_was_not_shown_orders_nothing(system: System) -> None:
    ready = imported(system, csv_file([HEADER, row(system)]))
    path = f"/v1/imports/{ready['id']}/order"

    wrong = {"expected_total_cny": ready["total_amount_cny"] + 1}
    problem = system.refused("POST", path, 409, "import_total_changed", json=wrong)
    assert problem["current_total_cny"] == ready["total_amount_cny"]
    system.refused("POST", path, 422, "validation_failed", json={})
    nothing = imported(system, csv_file([HEADER, row(system, 0)]))
    path = f"/v1/imports/{nothing['id']}/order"
    system.refused("POST", path, 409, "nothing_to_order", json={"expected_total_cny": 0})
    assert system.ok("GET", "/v1/orders")["items"] == []


def test_a_button_pressed_twenty_times_orders_once(system: System) -> None:
    ready = imported(system, csv_file([HEADER, *(row(system, number) for number in range(1, 6))]))

    with ThreadPoolExecutor(20) as pool:
        answers = list(
            pool.map(lambda _: confirmed(system, ready["id"], ready["total_amount_cny"]), range(20))
        )

    assert {answer.status_code for answer in answers} == {202}
    ended = until(system, ready["id"], lambda shown: shown["status"] == "done")
    assert ended["counts"]["orders_placed"] == 5
    assert len(system.ok("GET", "/v1/orders?limit=100")["items"]) == 5
    again = confirmed(system, ready["id"], ready["total_amount_cny"])
    assert again.status_code == 202
    other = {"expected_total_cny": 1}
    path = f"/v1/imports/{ready['id']}/order"
    system.refused("POST", path, 409, "import_total_changed", json=other)


def test_a_price_that_changed_fails_that_order_alone(system: System) -> None:
    ready = imported(system, csv_file([HEADER, row(system, 1), row(system, 2)]))
    system.api.fetch(
        "UPDATE import_order SET total_fen = total_fen - 1, goods_fen = goods_fen - 1"
        " WHERE import_id = $1 AND number = 1",
        ids.IMPORT.read(ready["id"]),
    )

    ended = done(system, look(system, ready["id"]))

    first, second = ended["items"]
    assert (first["status"], first["errors"][0]["code"]) == ("failed", "price_changed")
    assert second["status"] == "placed"


def test_the_page_shows_titles_of_goods_where_they_are_known(system: System) -> None:
    ready = imported(system, csv_file([HEADER, row(system), row(system, 1, "900000000002")]))
    line = {"platform": "sandbox", "product_id": PLAIN, "sku_id": system.sku(), "quantity": 1}
    pages = Pages(system.api, system.buyer)

    def shown_rows() -> list[str]:
        system.api.fetch("DELETE FROM product_cache")
        text = pages.get(f"/imports/{ready['id']}").text.partition('id="import-rows"')[2]
        _, *rows = re.findall(r"<tr.*?</tr>", text, re.DOTALL)
        return [re.sub(r"<[^>]+>", " ", cells) for cells in rows]

    with closing(pages.client):
        unknown = shown_rows()
        cart_line = system.ok("POST", "/v1/cart/items", json=line)
        in_cart = shown_rows()
        system.call("DELETE", f"/v1/cart/items/{cart_line['id']}")
        done(system, look(system, ready["id"]))
        ordered = shown_rows()

    title = html.escape(cart_line["title_translated"] or cart_line["title"])
    assert [title in cells for cells in unknown] == [False, False]
    assert [title in cells for cells in in_cart] == [True, False]
    assert [title in cells for cells in ordered] == [True, False]
    assert PLAIN in unknown[0]
    assert PLAIN in in_cart[0]


def test_an_import_is_the_accounts_own(system: System) -> None:
    ready = imported(system, csv_file([HEADER, row(system)]))
    stranger = system.api.person()
    total = {"expected_total_cny": ready["total_amount_cny"]}

    for import_id in (ready["id"], ids.IMPORT.show(ids.new()), "imp_1"):
        path = f"/v1/imports/{import_id}"
        system.refused("GET", path, 404, "not_found", by=stranger)
        system.refused("POST", f"{path}/order", 404, "not_found", by=stranger, json=total)
    approver = system.approver
    assert sent(system, b"x", by=approver).status_code in (403, 422)


@pytest.mark.parametrize("name", ["a zip bomb", "entities", "cut off", "far columns"])
def test_hostile_spreadsheets(system: System, name: str) -> None:
    answer = sent(system, HOSTILE[name], kind=XLSX)

    assert (answer.status_code, answer.json()["code"]) == (422, "file_unreadable")


def test_hostile_files(system: System) -> None:
    good = csv_file([HEADER, row(system)])

    def code(content: bytes, query: str = "platform=sandbox", kind: str = "text/csv") -> str:
        answer = sent(system, content, query, kind=kind)
        assert answer.status_code in (400, 413, 415, 422), answer.text
        problem: str = answer.json()["code"]
        return problem

    assert code(b"x" * (10 * 1024 * 1024)) == "body_too_large"
    assert code(good, kind="application/json") == "unsupported_media_type"
    assert code(good, query="platform=ebay") == "unsupported_platform"
    assert code(good, query="") == "columns_unmatched"
    assert code(good, query="platform=sandbox&column=price:Qty") == "validation_failed"
    assert code(good, query="platform=sandbox&column=quantity:Menge") == "columns_unmatched"
    assert code(b"") == "file_unreadable"
    assert code(good.replace(b"1", b"\0")) == "file_unreadable"
    assert code(good + b"\xff") == "file_unreadable"
    assert code(b"," * 1_000_000) == "file_unreadable"
    named = imported(system, good, "platform=sandbox&file_name=" + "%2E%2E%2F%22%00"[:-3] + "a.csv")
    assert named["file_name"] == '"a.csv'


def test_formulas_are_text(system: System) -> None:
    cells = row(system, 1, name="=HYPERLINK(1)", detail="@SUM(A1)")
    ready = imported(system, csv_file([[*HEADER, "remark"], [*cells, "+1"]]))

    ended = done(system, ready)

    order = system.look(ended["items"][0]["order"])
    assert order["address"]["name"] == "=HYPERLINK(1)"
    exported = system.call("GET", "/v1/exports/orders").text
    assert "'=HYPERLINK(1)" in exported
    assert "'@SUM(A1)" in exported


def test_a_few_imports_run_at_once(system: System) -> None:
    content = csv_file([HEADER, *(row(system, number) for number in range(1, 40))])
    system.api.fetch(
        "INSERT INTO import (id, account_id, file_name, columns, unused_columns, status,"
        " created_at, updated_at, next_at)"
        " SELECT tradewind_uuid7(), $1, 'x', '{}', '[]', 'checking', tradewind_now(),"
        " tradewind_now(), tradewind_now() + interval '1 day' FROM generate_series(1, 3)",
        system.buyer.uuid,
    )

    answer = sent(system, content)

    assert (answer.status_code, answer.json()["code"]) == (409, "too_many_imports")
