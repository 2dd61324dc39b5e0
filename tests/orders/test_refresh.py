"""Reading an order syncs it first: one call for all readers, three seconds at most."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from kit.system import System

pytestmark = pytest.mark.xdist_group("system")

# Of a read that thirty others come to meanwhile.
_SLOW = 0.8


def reads(system: System) -> int:
    counters = system.market.state()["counters"]
    return sum(int(counters.get(f"{word}.calls", 0)) for word in ("read", "list"))


def test_an_order_that_did_not_change_is_not_sent_again(quiet: System) -> None:
    order = quiet.order()
    path = f"/v1/orders/{order['id']}"

    first = quiet.call("GET", path)
    again = quiet.call("GET", path, headers={"if-none-match": first.headers["etag"]})
    many = quiet.call("GET", path, headers={"if-none-match": f'"x", {first.headers["etag"]}'})

    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["etag"] == first.headers["etag"] == f'W/"{order["version"]}"'
    assert many.status_code == 304
    quiet.market.advance(order["order_id"], "change_price", fen=1700)
    other = quiet.call("GET", path, headers={"if-none-match": first.headers["etag"]})
    assert other.status_code == 200
    assert other.headers["etag"] == f'W/"{order["version"] + 1}"'


@pytest.mark.parametrize("mode", ["hang", "http500"])
def test_a_platform_that_fails_gives_what_was_last_heard_in_time(quiet: System, mode: str) -> None:
    order = quiet.order()
    for operation in ("read", "list"):
        quiet.market.fault(operation, mode)
    began = time.monotonic()

    answer = quiet.call("GET", f"/v1/orders/{order['id']}")

    assert time.monotonic() - began < 3.5
    shown = answer.json()
    assert (answer.status_code, shown["stale"], shown["status"]) == (200, True, "pending_payment")
    assert shown["version"] == order["version"]
    assert answer.headers["etag"] == f'W/"{order["version"]}-stale"'


def test_thirty_who_look_at_once_cause_a_call_or_two(quiet: System) -> None:
    order = quiet.paid()
    quiet.market.advance(order["order_id"], "ship")
    for operation in ("read", "list"):
        quiet.market.fault(operation, "slow", seconds=_SLOW)
    before, began = reads(quiet), time.monotonic()

    with ThreadPoolExecutor(30) as pool:
        answers = list(pool.map(lambda _: quiet.look(order["id"]), range(30)))

    assert {(answer["status"], answer["stale"]) for answer in answers} == {("shipped", False)}
    # One read after another: each of them is for all who came meanwhile.
    most = 2 * (1 + (time.monotonic() - began) / _SLOW)
    assert 1 <= reads(quiet) - before <= min(most, 15)
    shipped = [item for item in quiet.told(order["id"]) if item[1] == "shipped"]
    assert shipped == [("order.updated", "shipped", "paid")]


def test_what_a_look_found_is_in_the_journal_before_it_answers(quiet: System) -> None:
    order = quiet.order()
    quiet.market.advance(order["order_id"], "close_by_seller")

    seen = quiet.look(order["id"])

    assert (seen["status"], seen["payment_status"]) == ("cancelled", "cancelled")
    assert seen["close_reason"] == "seller"
    assert quiet.events(order["id"])[-1]["data"]["order"]["updated_at"] == seen["updated_at"]


def test_a_look_changes_nothing_when_there_is_no_news(quiet: System) -> None:
    order = quiet.order()

    again = quiet.look(order["id"])

    assert again["version"] == order["version"]
    assert again["updated_at"] == order["updated_at"]
    assert again["synced_at"] > order["synced_at"]
