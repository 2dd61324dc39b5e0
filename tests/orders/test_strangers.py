"""Another account's order, payment or event is not there: the same answer as for no such id."""

import pytest
from kit.store import Store

pytestmark = pytest.mark.xdist_group("store")

NOBODYS = "ORD00000000000000000000000000"
PATHS = [
    ("GET", "/v1/orders/{}"),
    ("GET", "/v1/orders/{}/timeline"),
    ("GET", "/v1/orders/{}/payments"),
    ("GET", "/v1/orders/{}/refunds"),
    ("POST", "/v1/orders/{}/cancel"),
    ("POST", "/v1/orders/{}/payment"),
    ("DELETE", "/v1/orders/{}/payment"),
    ("POST", "/v1/orders/{}/refunds"),
    ("POST", "/v1/sandbox/orders/{}/advance"),
]
BODIES = {
    "/v1/orders/{}/refunds": {"type": "refund_only", "reason": "damaged"},
    "/v1/sandbox/orders/{}/advance": {"to": "paid"},
}


def test_an_order_of_somebody_else_is_not_there(quiet: Store) -> None:
    order = quiet.order()
    quiet.request_payment(order["id"])
    before = quiet.facts(order["id"])
    stranger = quiet.api.person()

    for method, path in PATHS:
        options = {"json": BODIES[path]} if path in BODIES else {}
        headers = {"idempotency-key": "mine now"}
        problems = [
            quiet.refused(
                method, path.format(one), 404, "not_found", by=stranger, headers=headers, **options
            )
            for one in (order["id"], NOBODYS)
        ]
        assert problems[0]["detail"] == problems[1]["detail"]

    assert quiet.facts(order["id"]) == before
    assert quiet.ok("GET", "/v1/orders", by=stranger)["items"] == []
    assert quiet.market.status(order["order_id"]) == "waitbuyerpay"


def test_an_event_of_somebody_else_is_not_there(store: Store) -> None:
    order = store.order()
    (event,) = store.events(order["id"])
    stranger = store.api.person()

    store.refused("GET", f"/v1/events/{event['id']}", 404, "not_found", by=stranger)

    assert store.events(by=stranger) == []
    assert store.events(order["id"], by=stranger) == []


@pytest.mark.parametrize("path", ["/v1/orders/1", "/v1/orders/ORDx", "/v1/events/evt_1"])
def test_what_is_no_id_is_not_there_either(store: Store, path: str) -> None:
    assert store.call("GET", path).status_code == 404
