"""Location: every 201 has the path of the new resource."""

from collections.abc import Callable
from typing import Any

import pytest
from kit.spreadsheets import csv_file
from kit.system import ADDRESS, System
from kit.webhook_endpoint import running_endpoint

from tradewind.auth.model import Role
from tradewind.runtime.api import reference

pytestmark = pytest.mark.xdist_group("system")


def operations() -> dict[str, dict[str, Any]]:
    """Every operation of the reference that answers with 201, by its name."""
    document = reference()
    return {
        operation["operationId"]: operation
        for methods in document["paths"].values()
        for operation in methods.values()
        if "201" in operation["responses"]
    }


def test_the_reference_has_a_location_for_every_201() -> None:
    for name, operation in operations().items():
        assert "Location" in operation["responses"]["201"]["headers"], name


def test_every_201_has_a_location_that_leads_somewhere(system: System) -> None:
    operator = system.api.person(roles=(Role.BUYER, Role.OPERATOR))
    paid = system.paid()
    unpaid = system.order()
    account = system.api.person()
    email = f"made-{unpaid['id'].lower()}@test.example"
    with running_endpoint() as endpoint:
        make: dict[str, Callable[[], Any]] = {
            "create_order": lambda: system.place(system.order_body()),
            "request_order_payment": lambda: system.call(
                "POST", f"/v1/orders/{unpaid['id']}/payment"
            ),
            "request_refund": lambda: system.refund(paid["id"]),
            "create_webhook": lambda: system.call(
                "POST", "/v1/webhooks", json={"url": endpoint.url()}
            ),
            "create_api_key": lambda: system.call("POST", "/v1/api-keys", json={"name": "a"}),
            "create_account": lambda: system.call(
                "POST", "/v1/admin/accounts", by=operator, json={"email": email}
            ),
            "create_address": lambda: system.call("POST", "/v1/addresses", json=ADDRESS),
            "add_cart_item": lambda: system.call(
                "POST",
                "/v1/cart/items",
                json={"platform": "sandbox", **system.order_body()["items"][0]},
            ),
            "create_import": lambda: system.call(
                "POST",
                "/v1/imports?platform=sandbox",
                content=csv_file(
                    [["product_id", "quantity", *ADDRESS], ["1", 1, *ADDRESS.values()]]
                ),
                headers={"content-type": "text/csv"},
            ),
            "make_password_link": lambda: system.call(
                "POST", f"/v1/admin/accounts/{account.id}/password-link", by=operator
            ),
        }
        assert make.keys() == operations().keys()

        for name, do in make.items():
            answer = do()
            assert answer.status_code == 201, answer.text
            made = answer.json()
            system.api.launcher.secrets |= {
                made[field] for field in ("secret", "key", "url") if field in made
            } - {endpoint.url()}
            where = answer.headers["location"]
            there = system.call("GET", where, by=operator if "/admin/" in where else None)
            if name == "make_password_link":
                assert there.json()["id"] == account.id
            elif name == "create_api_key":
                assert answer.headers["location"] == f"/v1/api-keys/{made['id']}"
                assert "DELETE" in there.headers["allow"]
            else:
                result = there.json()
                first = result["items"][0] if "items" in result and "id" not in result else result
                assert first["id"] == made["id"], name
