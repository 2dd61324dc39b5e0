"""Agents that act for an account: their names are in the audit log, the timeline and approvals."""

import html
import re
from contextlib import closing
from typing import Any

import pytest
from kit.pages import Pages
from kit.system import System

pytestmark = pytest.mark.xdist_group("system")

AGENT = "shopper/1.2 <b>"


def audited(system: System) -> list[Any]:
    rows = system.api.fetch(
        "SELECT action, agent, credential, address, request_id, subject, details FROM audit"
        " WHERE account_id = $1 AND action NOT LIKE 'a%' ORDER BY id",
        system.buyer.uuid,
    )
    return list(rows)


def test_what_an_agent_does_is_audited_with_its_name_and_shown_to_the_approver(
    system: System,
) -> None:
    named = {"x-agent-name": AGENT, "idempotency-key": "agent-1"}
    body = system.order_body()

    placed = [
        system.call("POST", "/v1/orders", json=body, headers=named) for _ in range(2)
    ]  # the second is a repeat
    order = placed[0].json()["id"]
    system.until(order, lambda shown: shown["status"] == "pending_payment")
    payment = system.ok("POST", f"/v1/orders/{order}/payment", headers={"x-agent-name": AGENT})

    assert [answer.status_code for answer in placed] == [201, 201]
    assert payment["requested_by"]["agent"] == AGENT
    entries = audited(system)
    assert [entry["action"] for entry in entries] == ["order.placed", "payment.requested"]
    assert [entry["subject"] for entry in entries] == [order, payment["id"]]
    for entry in entries:
        assert entry["agent"] == AGENT
        assert entry["credential"].startswith("key_")
        assert (entry["address"], entry["request_id"][:4]) == ("127.0.0.1", "req_")
    timeline = system.ok("GET", f"/v1/orders/{order}/timeline")["items"]
    by_agent = {change["cause"] for change in timeline if (change["by"] or {}).get("agent")}
    assert by_agent == {"accepted", "payment_requested"}

    pages = Pages(system.api, system.approver)
    with closing(pages.client):
        page = pages.get(f"/approvals/{payment['id']}").text
        queue = ""
        path: str | None = "/approvals"
        while path:  # tests that run beside this one have payments to approve as well
            queue += (part := pages.get(path).text)
            following = re.search(r'href="([^"]+)" rel="next"', part)
            path = html.unescape(following[1]) if following else None
    assert "An agent requested this payment: “shopper/1.2 &lt;b&gt;”" in page
    assert "Agent: shopper/1.2 &lt;b&gt;" in queue
    assert AGENT not in page + queue
    system.ok("DELETE", f"/v1/orders/{order}/payment")
    system.ok("POST", f"/v1/orders/{order}/cancel", headers={"x-agent-name": AGENT})
    *_, withdrawn, cancelled = audited(system)
    assert (withdrawn["action"], withdrawn["agent"]) == ("payment.withdrawn", None)
    assert (cancelled["action"], cancelled["agent"]) == ("order.cancel_requested", AGENT)


def test_a_name_is_one_line_of_at_most_100_letters(system: System) -> None:
    hostile = b"a\xffb \t c" + b"x" * 300

    order = system.order()  # nobody gave a name: placing it is not audited
    assert audited(system) == []
    system.ok("POST", f"/v1/orders/{order['id']}/payment", headers={"x-agent-name": hostile})
    [requested] = audited(system)

    assert requested["agent"].startswith("a b cxxx")
    assert len(requested["agent"]) == 100
