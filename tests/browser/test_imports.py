"""Imports in a real browser: send a file, see the errors of its rows, confirm, follow it."""

from collections.abc import Callable, Iterator
from itertools import cycle

import pytest
from kit.spreadsheets import csv_file, xlsx_file
from kit.system import ADDRESS, PLAIN, System
from playwright.sync_api import Page, expect

from browser.conftest import SignIn, Visit
from tradewind import ids

pytestmark = pytest.mark.xdist_group("browser")

_PATIENCE = 60_000
HEADER = ["Product", "SKU", "Menge", *ADDRESS]


def choose(page: Page, name: str, content: bytes) -> None:
    page.get_by_label("File", exact=True).set_input_files(
        {"name": name, "mimeType": "text/csv", "buffer": content}
    )


def file_of(system: System, rows: int, bad: int) -> bytes:
    """Rows of which some have something wrong: each of them in another way."""
    without_name = ["1", "", *list(ADDRESS.values())[1:]]
    wrong: Iterator[list[object]] = cycle([["x"], [0], [""], [*without_name]])
    lines: list[list[object]] = [[*HEADER]]
    for number in range(rows):
        line: list[object] = [PLAIN, system.sku(), 1 + number % 3, *ADDRESS.values()]
        if number in range(1, 1 + 28 * bad, 28):
            changed = next(wrong)
            line[2 : 2 + len(changed)] = changed
        lines.append(line)
    return csv_file(lines, ";")


def test_two_hundred_rows_with_seven_bad_ones(desk: Visit, system: System) -> None:
    page = desk.page
    desk.sign_in(system.buyer, then="/imports")
    expect(page.get_by_role("heading", name="No imports yet")).to_be_visible()
    assert desk.serious() == []

    choose(page, "november.csv", file_of(system, 200, 7))
    page.get_by_label("Marketplace").select_option("sandbox")
    page.get_by_role("button", name="Check file").click()
    expect(page.locator(".error")).to_contain_text("There is no column for quantity.")
    choose(page, "november.csv", file_of(system, 200, 7))
    page.get_by_text("Columns with other names").click()
    page.get_by_label("One per line").fill("quantity = Menge")
    page.get_by_role("button", name="Check file").click()
    page.wait_for_url("**/imports/imp_*")
    expect(page.get_by_role("heading", name="november.csv")).to_be_visible()

    button = page.get_by_role("button", name="Place 193 orders for")
    expect(button).to_be_visible(timeout=_PATIENCE)
    assert desk.serious() == []
    page.get_by_role("link", name="Not ordered (7)").click()
    expect(page.locator("#import-rows tbody tr")).to_have_count(7)
    expect(page.locator("#import-rows tbody tr").first).to_contain_text("Menge:")
    page.get_by_text("Columns: 9 matched").click()
    button.click()
    expect(page.locator(".notice")).to_contain_text("The orders are being placed.")
    expect(page.get_by_role("progressbar")).to_be_visible()
    page.reload()
    expect(page.locator("#import-state")).to_contain_text(
        "193 of 200 orders were placed.", timeout=_PATIENCE
    )
    page.get_by_role("link", name="All rows (200)").click()
    page.locator("#import-rows a.mono").first.click()
    page.wait_for_url("**/orders/ORD*")


def test_a_spreadsheet_without_javascript(open_desk: Callable[..., Visit], system: System) -> None:
    desk = open_desk(java_script_enabled=False)
    page = desk.page
    desk.sign_in(system.buyer, then="/imports")
    rows = [["platform", "product_id", "sku_id", "quantity", *ADDRESS]]
    choose(
        page, "a.xlsx", xlsx_file([*rows, ["sandbox", PLAIN, system.sku(), 2, *ADDRESS.values()]])
    )
    page.get_by_role("button", name="Check file").click()
    page.wait_for_url("**/imports/imp_*")
    for _ in range(50):
        page.reload()
        if page.get_by_role("button", name="Place 1 order for").count():
            break
    page.get_by_role("button", name="Place 1 order for").click()
    expect(page.locator(".notice")).to_contain_text("The orders are being placed.")


def test_files_and_imports_that_are_refused(system: System, enter: SignIn) -> None:
    buyer, stranger = enter(system.buyer), enter(system.api.person())

    def send(content: bytes, **form: str) -> int:
        files = {"file": ("../a.csv", content)}
        data = {"csrf": buyer.token, "platform": "sandbox", **form}
        return buyer.client.post("/imports", data=data, files=files).status_code

    good = file_of(system, 2, 0).replace(b"Menge", b"qty")
    assert send(good, csrf="x") == 403
    assert send(good, platform="ebay") == 422
    assert send(b"") == 422
    assert send(b"x" * (6 * 1024 * 1024)) == 413
    assert buyer.client.post("/imports", data={"csrf": buyer.token}).status_code == 415
    assert send(good) == 303
    stored = system.api.fetch("SELECT id FROM import WHERE account_id = $1", system.buyer.uuid)
    path = f"/imports/{ids.IMPORT.show(stored[0]['id'])}"
    assert buyer.get(path).status_code == 200
    assert stranger.get(path).status_code == 404
    assert stranger.post(f"{path}/order", total_cny="1").status_code == 404
    assert buyer.post(f"{path}/order", total_cny="0.01").status_code == 409
    assert buyer.post(f"{path}/order").status_code == 422
    assert b"product_id" in buyer.get("/imports/example").content
