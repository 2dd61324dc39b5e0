"""The search box: parts of IDs, in any case."""

import pytest
from kit.system import ADDRESS, System

from browser.conftest import SignIn

pytestmark = pytest.mark.xdist_group("browser")

STOCKED = "900000000020"


def test_the_search_takes_parts_and_lower_case(system: System, enter: SignIn) -> None:
    order = system.order(external_id=f"Spring-{system.buyer.id[-8:]}-50%_off")
    hook = system.ok("POST", "/v1/webhooks", json={"url": "http://127.0.0.1:9/Warehouse-EU"})
    buyer, stranger = enter(system.buyer), enter(system.api.person())

    for text, path in (
        (order["id"].lower(), f"/orders/{order['id']}"),
        (order["id"][-7:].lower(), f"/orders/{order['id']}"),
        (order["id"][:-4], f"/orders/{order['id']}"),
        (order["order_id"][2:], f"/orders/{order['id']}"),
        ("spring-", f"/orders/{order['id']}"),
        ("50%_OFF", f"/orders/{order['id']}"),
        (hook["id"].lower(), f"/webhooks/{hook['id']}"),
        ("warehouse-eu", f"/webhooks/{hook['id']}"),
    ):
        response = buyer.get("/search", params={"q": text})
        assert (response.status_code, response.headers.get("location")) == (303, path), text
        assert "No results for" in stranger.get("/search", params={"q": text}).text, text
    goods = system.until(order["id"], lambda order: bool(order["items"][0]["title"]))["items"][0]
    for text in (goods["title"], goods["title"][1:4], goods["seller"]["name"].upper()):
        response = buyer.get("/search", params={"q": text})
        assert response.headers.get("location") == f"/orders/{order['id']}", text
        assert "No results for" in stranger.get("/search", params={"q": text}).text, text
    address = system.ok("POST", "/v1/addresses", json={**ADDRESS, "label": "Pier 17"})
    line = system.ok(
        "POST",
        "/v1/cart/items",
        json={
            "platform": "sandbox",
            "product_id": STOCKED,
            "sku_id": system.sku(STOCKED),
            "quantity": 1,
        },
    )
    imported = system.ok(
        "POST",
        "/v1/imports?platform=sandbox&file_name=Q4-restock.csv",
        content=b"product_id,sku_id,quantity\n1,,1\n",
        headers={"content-type": "text/csv"},
    )
    for text, path in (
        (address["id"].lower(), f"/addresses/{address['id']}/edit"),
        ("pier 17", f"/addresses/{address['id']}/edit"),
        (imported["id"], f"/imports/{imported['id']}"),
        ("q4-RESTOCK", f"/imports/{imported['id']}"),
        (line["id"], "/cart"),
        (STOCKED, "/cart"),
        (line["title_translated"].upper(), "/cart"),
    ):
        response = buyer.get("/search", params={"q": text})
        assert (response.status_code, response.headers.get("location")) == (303, path), text
        other = stranger.get("/search", params={"q": text})
        assert other.headers.get("location") != path, text
    recipient = buyer.get("/search", params={"q": ADDRESS["name"]})
    assert recipient.headers.get("location") == f"/addresses/{address['id']}/edit"
    for nothing in ("50__off", "%%%", "s", "\\n\\n\\n", "title", "goods"):
        assert "No results for" in buyer.get("/search", params={"q": nothing}).text, nothing
