"""Notices from marketplaces: a forged one costs nothing, and none counts twice."""

from dataclasses import replace
from urllib.parse import urlencode

import pytest
from kit.server import ServerLauncher
from kit.system import System, simulated
from simulator.sandbox_kit import KEYS
from tradewind_simulator import signing

pytestmark = pytest.mark.xdist_group("system")


def push(system: System, message: str, signature: str, platform: str = "sandbox") -> int:
    """The status that a push of the 1688 dialect is answered with."""
    body = urlencode({"message": message, "_aop_signature": signature})
    headers = {"content-type": "application/x-www-form-urlencoded"}
    answer = system.api.call("POST", f"/v1/notices/{platform}", content=body, headers=headers)
    return answer.status_code


def calls(system: System) -> int:
    counters = system.market.state()["counters"]
    return sum(value for name, value in counters.items() if name.endswith(".calls"))


def message(order_id: str, kind: str = "ANNOUNCE_SENDGOODS") -> str:
    name = f"ORDER_BUYER_VIEW_{kind}"
    return f'{{"msgId":1,"type":"{name}","data":{{"orderId":{order_id}}}}}'


def notify(system: System, order_id: str, kind: str) -> int:
    """Push a genuine notice; the status of the response."""
    said = message(order_id, kind)
    return push(system, said, signing.alibaba_notice(KEYS["sandbox"].secret, said))


def test_a_forged_notice_is_refused_and_nobody_is_asked(quiet: System) -> None:
    order = quiet.paid()
    quiet.market.advance(order["order_id"], "ship")
    facts, hints = quiet.facts(order["id"]), quiet.stored(order["id"])["hints"]
    made = []
    for _ in range(3):  # the worker has other orders to look at, though not all the time
        before = calls(quiet)
        assert push(quiet, message(order["order_id"]), "0" * 40) == 401
        assert push(quiet, message(order["order_id"]), "") == 401
        assert push(quiet, "", "") == 401
        made.append(calls(quiet) - before)

    assert min(made) == 0
    assert quiet.facts(order["id"]) == facts
    assert quiet.stored(order["id"])["hints"] == hints


def test_a_genuine_notice_has_the_order_looked_at_and_is_no_fact_itself(quiet: System) -> None:
    order, other = quiet.paid(), quiet.paid()
    quiet.market.advance(order["order_id"], "ship")
    secret = KEYS["sandbox"].secret

    for item in (order, other):
        said = message(item["order_id"])
        assert push(quiet, said, signing.alibaba_notice(secret, said)) == 200

    quiet.until_stored(order["id"], lambda row: row["status"] == "shipped")
    heard = quiet.stored(other["id"])["hints"]
    quiet.until_stored(other["id"], lambda row: row["next_sync_at"] > row["synced_at"])
    assert heard == 1
    assert quiet.stored(other["id"])["status"] == "paid"


def test_a_notice_that_tells_nothing_new_has_no_order_looked_at(quiet: System) -> None:
    order = quiet.paid()
    hints = quiet.stored(order["id"])["hints"]

    assert notify(quiet, order["order_id"], "BUYER_MAKE") == 200
    assert notify(quiet, order["order_id"], "ORDER_PAY") == 200

    assert quiet.stored(order["id"])["hints"] == hints


def test_a_notice_of_a_payment_that_the_status_did_not_show_yet_has_the_order_looked_at(
    quiet: System,
) -> None:
    order = quiet.paid()
    quiet.force(order["id"], status="pending_payment")

    assert notify(quiet, order["order_id"], "ORDER_PAY") == 200

    quiet.until_stored(order["id"], lambda row: row["status"] == "paid")


def test_a_notice_of_a_payment_that_we_did_not_make_has_the_order_looked_at(quiet: System) -> None:
    order = quiet.order()
    quiet.market.advance(order["order_id"], "pay")

    assert notify(quiet, order["order_id"], "ORDER_PAY") == 200

    quiet.until_stored(order["id"], lambda row: row["status"] == "paid")


def test_in_production_a_notice_with_the_published_demo_secret_is_refused(
    quiet: System, launcher: ServerLauncher
) -> None:
    order = quiet.order()
    said = message(order["order_id"])
    signature = signing.alibaba_notice(KEYS["sandbox"].secret, said)
    settings = {
        **simulated(quiet.market),
        "TRADEWIND_ENV": "production",
        "TRADEWIND_PUBLIC_URL": "https://api.tradewind.example.com",
        "TRADEWIND_HOST": "127.0.0.1",
    }

    with launcher.serving_on(quiet.api.database_url, workers=1, settings=settings) as production:
        assert push(replace(quiet, api=production), said, signature) == 401

    log = production.log.read_text()
    assert "the application has the published demo secret" in log
    assert "notice.taken" not in log
    assert push(quiet, said, signature) == 200


def test_a_notice_about_a_strangers_order_is_taken_and_forgotten(quiet: System) -> None:
    said = message("123456789")

    assert push(quiet, said, signing.alibaba_notice(KEYS["sandbox"].secret, said)) == 200


def test_a_notice_of_a_platform_that_nobody_knows_is_refused(system: System) -> None:
    answer = system.api.call("POST", "/v1/notices/ebay", content=b"x")

    assert (answer.status_code, answer.json()["code"]) == (422, "unsupported_platform")


def test_notices_that_come_often_and_out_of_order_tell_everything_once(system: System) -> None:
    system.market.control(
        "push",
        url=f"{system.api.url}/v1/notices/{{app}}",
        duplicates=3,
        shuffle=True,
        window_seconds=0.2,
    )
    order = system.order()

    for step in ("pay", "ship", "receive"):
        system.market.advance(order["order_id"], step)
    system.until_stored(order["id"], lambda row: row["status"] == "received")
    system.hear_notices()

    reported = system.told(order["id"])
    assert [item for item in reported if item[0] == "payment.updated"] == [
        (
            "payment.updated",
            reported[[item[0] for item in reported].index("payment.updated")][1],
            "paid",
        )
    ]
    statuses = [status for event, status, _ in reported if event == "order.updated"]
    assert statuses == sorted(set(statuses), key=statuses.index)
    assert (statuses[0], statuses[-1]) == ("pending_payment", "received")
