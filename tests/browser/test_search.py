"""The search box: parts of IDs, in any case."""

import pytest
from kit.system import System

from browser.conftest import SignIn

pytestmark = pytest.mark.xdist_group("browser")


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
    goods = system.until(order["id"], lambda one: bool(one["items"][0]["title"]))["items"][0]
    for text in (goods["title"], goods["title"][1:4], goods["seller"]["name"].upper()):
        response = buyer.get("/search", params={"q": text})
        assert response.headers.get("location") == f"/orders/{order['id']}", text
        assert "No results for" in stranger.get("/search", params={"q": text}).text, text
    for nothing in ("50__off", "%%%", "s", "\\n\\n\\n", "title", "goods"):
        assert "No results for" in buyer.get("/search", params={"q": nothing}).text, nothing
