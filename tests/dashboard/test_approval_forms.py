"""Approval forms, and those that no page of ours would send: the amount is required."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import UTC, datetime

import pytest
from kit.pages import Pages
from kit.server import Person
from kit.system import System

from tradewind import ids

pytestmark = pytest.mark.xdist_group("system")

# What a form reader could take for "no amount", and what is no amount.
NO_AMOUNT = [None, "", " ", "null", "NULL", "None", "nan", "15.001", "1e1", "-15", ["14", "15"]]


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def signed_in(system: System, person: Person, stack: ExitStack) -> Pages:
    pages = Pages(system.api, person)
    stack.callback(pages.client.close)
    return pages


def test_an_approval_form_without_an_amount_approves_nothing(
    system: System, stack: ExitStack
) -> None:
    payment = system.request_payment(system.order()["id"])
    pages = signed_in(system, system.approver, stack)
    path = f"/approvals/{payment['id']}/approve"

    for amount in NO_AMOUNT:
        answer = pages.post(path, **({} if amount is None else {"amount_cny": amount}))

        assert answer.status_code == 422, amount
        stored = system.ok("GET", f"/v1/payments/{payment['id']}", by=system.approver)
        assert (stored["status"], stored["decided_by"]) == ("pending_approval", None), amount
    assert pages.post(path, amount_cny="15.0").status_code == 303


def test_a_payment_request_form_without_an_amount_requests_nothing(
    system: System, stack: ExitStack
) -> None:
    order = system.order()
    pages = signed_in(system, system.buyer, stack)

    for amount in NO_AMOUNT:
        form = {} if amount is None else {"amount_cny": amount}
        answer = pages.post(f"/orders/{order['id']}/payment", submit_token="page-1", **form)

        assert answer.status_code == 422, amount
    assert system.ok("GET", f"/v1/orders/{order['id']}/payments")["items"] == []


def status_of(system: System, payment: str) -> str:
    status: str = system.ok("GET", f"/v1/payments/{payment}", by=system.approver)["status"]
    return status


def test_selected_payments_are_approved_each_for_itself(system: System, stack: ExitStack) -> None:
    orders = [system.order() for _ in range(4)]
    payments = [system.request_payment(order["id"])["id"] for order in orders]
    system.ok("DELETE", f"/v1/orders/{orders[3]['id']}/payment")
    pages = signed_in(system, system.approver, stack)
    seen = ["15.0", "14.99", "15", "15"]
    selected = [f"{payment}:{amount}" for payment, amount in zip(payments, seen, strict=True)]
    selected.insert(0, f"{ids.PAYMENT.show(ids.new())}:15")

    answer = pages.post("/approvals/approve", payment=[*selected, selected[1]])

    assert (answer.status_code, answer.headers["location"]) == (303, "/approvals")
    page = pages.get("/approvals").text
    assert "Approved 2 payments, CNY 30.00 in total. 3 not approved." in page
    assert "The amount is CNY 15.00, not CNY 14.99." in page
    for order in (orders[0], orders[2]):
        system.until(order["id"], lambda paid: paid["payment_status"] == "paid")
    assert [status_of(system, payment) for payment in (payments[1], payments[3])] == [
        "pending_approval",
        "withdrawn",
    ]


def test_a_malformed_selection_approves_nothing(system: System, stack: ExitStack) -> None:
    payment = system.request_payment(system.order()["id"])["id"]
    pages = signed_in(system, system.approver, stack)
    good = f"{payment}:15"
    for selected in (
        [],
        [""],
        [payment],
        [f"{payment}:"],
        [f"{payment}:1e1"],
        [f"{payment}:-15"],
        [f"{payment}:15:15"],
        ["pay_:15"],
        [f"{payment[4:]}:15"],
        [good, "nonsense"],
        [good] * 101,
    ):
        answer = pages.post("/approvals/approve", payment=selected)

        assert answer.status_code == 303, selected
        page = pages.get("/approvals").text
        assert "Nothing was approved." in page or "Select at least one payment." in page, selected
        assert status_of(system, payment) == "pending_approval", selected
    buyer = signed_in(system, system.buyer, stack)
    assert buyer.post("/approvals/approve", payment=[good]).status_code == 403
    forged = pages.client.post("/approvals/approve", data={"payment": [good]})
    assert forged.status_code == 403
    assert status_of(system, payment) == "pending_approval"


def test_twenty_forms_at_once_approve_a_payment_once(system: System, stack: ExitStack) -> None:
    order = system.order()
    payment = system.request_payment(order["id"])["id"]
    pages = [signed_in(system, system.approver, stack) for _ in range(4)]
    tokens = [page.token for page in pages]
    assert all(tokens)

    def approve(number: int) -> int:
        return pages[number % 4].post("/approvals/approve", payment=[f"{payment}:15"]).status_code

    with ThreadPoolExecutor(20) as pool:
        statuses = list(pool.map(approve, range(20)))

    assert set(statuses) == {303}
    paid = system.until(order["id"], lambda order: order["payment_status"] == "paid")
    assert system.market.debits(paid["order_id"]) == [1500]
    entries = system.api.fetch(
        "SELECT 1 FROM audit WHERE action = 'payment.approved' AND subject = $1", payment
    )
    assert len(entries) == 1


def test_spend_this_month_is_the_same_for_buyer_and_approver(
    system: System, stack: ExitStack
) -> None:
    system.paid(quantity=2)
    system.paid()
    earlier = system.paid()
    system.force(earlier["id"], created_at=datetime(2020, 1, 31, tzinfo=UTC))
    payment = system.request_payment(system.order()["id"])["id"]
    meaning = "Paid for orders placed this month, less refunds"

    overview = signed_in(system, system.buyer, stack).get("/").text
    approver = signed_in(system, system.approver, stack)

    spend = overview.partition("Spend this month")[2].partition("</div>")[0]
    assert spend.startswith("</dt><dd>CNY 40.00")
    assert meaning in spend
    review = approver.get(f"/approvals/{payment}").text
    spend = review.partition("Spend this month")[2].partition("</div>")[0]
    assert '<span class="amount">CNY 40.00</span>' in spend
    assert meaning in spend
    listed = approver.get("/approvals?limit=100").text
    assert f'<span title="{meaning}">Spend this month: CNY 40.00</span>' in listed


def test_goods_with_html_in_every_text_are_shown_as_text(system: System, stack: ExitStack) -> None:
    order = system.order()
    payment = system.request_payment(order["id"])["id"]
    hostile = "<img src=x onerror=alert(1)>"
    goods = {
        "title": hostile,
        "title_translated": hostile,
        "image_url": "javascript:alert(1)",
        "attributes": {hostile: hostile},
        "seller_name": hostile,
    }
    line = {"product_id": hostile, "sku_id": hostile, "quantity": 1, "goods": goods}
    system.force(order["id"], items=json.dumps([line]))
    approver, buyer = (
        signed_in(system, person, stack) for person in (system.approver, system.buyer)
    )

    for pages, path in (
        (approver, "/approvals?limit=100"),
        (approver, f"/approvals/{payment}"),
        (buyer, "/orders"),
        (buyer, f"/orders/{order['id']}"),
    ):
        page = pages.get(path)
        assert page.status_code == 200, path
        assert "<img src=x" not in page.text, path
        assert "javascript:" not in page.text, path
        assert "&lt;img src=x" in page.text, path
