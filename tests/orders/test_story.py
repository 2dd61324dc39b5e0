"""The contract from end to end: log in, search, order, pay, approve, ship, receive, refund."""

from typing import Any

from kit.system import ADDRESS, System


def test_the_whole_story_and_the_same_story_from_the_journal(system: System) -> None:
    token = system.api.login(system.buyer)["access_token"]

    def ask(method: str, path: str, **options: Any) -> Any:
        answer = system.api.call(method, path, token=token, **options)
        assert answer.status_code < 300, answer.text
        return answer.json()

    result = ask("POST", "/v1/products/search", json={"q": "dress", "platform": "sandbox"})
    product = ask("GET", f"/v1/products/sandbox/{result['items'][0]['id']}")
    wish = {
        "platform": "sandbox",
        "items": [
            {
                "product_id": product["id"],
                "sku_id": product["skus"][0]["id"],
                "quantity": max(2, product["min_order_quantity"] or 1),
            }
        ],
        "address": ADDRESS,
        "external_id": "PO-1001",
        "metadata": {"team": "dresses"},
    }
    preview = ask("POST", "/v1/orders/preview", json=wish)
    total = preview["total_amount_cny"]
    assert preview["unavailable_items"] == []
    assert total == sum(seller["total_amount_cny"] for seller in preview["sellers"])

    placed = system.api.call(
        "POST",
        "/v1/orders",
        token=token,
        json={**wish, "expected_total_cny": total},
        headers={"idempotency-key": "the story"},
    )
    assert placed.status_code == 201
    order_id = placed.json()["id"]
    assert placed.headers["location"] == f"/v1/orders/{order_id}"
    order = system.until(order_id, lambda shown: shown["status"] == "pending_payment")
    assert (order["total_amount_cny"], order["external_id"]) == (total, "PO-1001")
    assert order["waiting_for"] == "payment"

    payment = ask("POST", f"/v1/orders/{order_id}/payment", json={"amount_cny": total})
    queue = system.ok("GET", "/v1/payments?limit=100", by=system.approver)
    assert [item["order"]["id"] for item in queue["items"] if item["id"] == payment["id"]] == [
        order_id
    ]
    approved = system.ok(
        "POST",
        f"/v1/payments/{payment['id']}/approve",
        by=system.approver,
        json={"amount_cny": total},
    )
    assert approved["status"] == "approved"
    paid = system.until(order_id, lambda shown: shown["payment_status"] == "paid")
    assert (paid["status"], paid["paid_amount_cny"], paid["paid_outside"]) == ("paid", total, False)
    assert system.market.debits(paid["order_id"]) == [round(total * 100)]

    shipped = system.advance(order_id, "shipped")
    parcel = shipped["shipments"][0]
    assert parcel["tracking_number"]
    assert parcel["items"] == wish["items"]
    by_parcel = ask("GET", f"/v1/orders?tracking_number={parcel['tracking_number']}")
    assert [item["id"] for item in by_parcel["items"]] == [order_id]
    received = system.advance(order_id, "received")
    assert received["status"] == "received"

    refund = ask(
        "POST",
        f"/v1/orders/{order_id}/refunds",
        json={"type": "refund_only", "amount_cny": 1, "reason": "damaged"},
        headers={"idempotency-key": "some money back"},
    )
    assert refund["status"] == "requested"
    after = system.advance(order_id, "refund_agreed")
    assert after["payment_status"] == "partially_refunded"
    assert [refund["status"] for refund in after["refunds"]] == ["succeeded"]
    assert after["refunded_amount_cny"] == 1

    assert system.told(order_id) == [
        ("order.updated", "pending_payment", "unpaid"),
        ("payment.updated", "pending_payment", "pending_approval"),
        ("payment.updated", "pending_payment", "approved"),
        ("payment.updated", "pending_payment", "processing"),
        ("order.updated", "paid", "paid"),
        ("payment.updated", "paid", "paid"),
        ("order.updated", "shipped", "paid"),
        ("order.updated", "received", "paid"),
        ("payment.updated", "received", "partially_refunded"),
    ]
    times = [event["data"]["order"]["updated_at"] for event in system.events(order_id)]
    assert times == sorted(times)
    timeline = ask("GET", f"/v1/orders/{order_id}/timeline?limit=100")["items"]
    assert [item["version"] for item in timeline] == list(range(after["version"], 0, -1))
    journaled = [event["id"] for event in system.events(order_id)]
    assert sorted(journaled) == sorted(event for item in timeline for event in item["events"])
