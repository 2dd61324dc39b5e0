"""Approval forms that no page of ours would send: the amount is required."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from kit.pages import Pages
from kit.server import Person
from kit.system import System

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
