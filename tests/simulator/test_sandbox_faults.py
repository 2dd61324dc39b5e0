"""Faults: each happens as requested, as often as requested, and nothing else."""

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from kit.tls import NO_TLS
from simulator.sandbox_kit import ADDRESS, Market, cargo, line

CREATE = "alibaba.trade.createCrossOrder"


def post(market: Market, reference: str, timeout: float = 5) -> httpx.Response:
    """A create on a connection of its own."""
    path, form = market.alibaba_request(
        CREATE, flow="general", addressParam=ADDRESS, cargoParamList=[cargo()],
        outOrderId=reference,
    )  # fmt: skip
    return httpx.post(market.url + path, data=form, timeout=timeout, verify=NO_TLS)


def made(market: Market, reference: str) -> int:
    result = market.call("alibaba.trade.getBuyerOrderList", outOrderId=reference)
    count: int = result["totalRecord"]
    return count


def test_an_error_in_the_shape_of_the_operation(market: Market) -> None:
    market.fault("create", "error", code="SYSTEM_BUSY", message="稍后", count=1)

    refused = market.create(cargo(), outOrderId="F-1")
    taken = market.create(cargo(), outOrderId="F-1")

    assert (refused["success"], refused["code"], refused["message"]) == (
        False,
        "SYSTEM_BUSY",
        "稍后",
    )
    assert taken["success"] is True
    assert made(market, "F-1") == 1


def test_an_error_of_the_gateway(market: Market) -> None:
    market.fault(CREATE, "error", code="gw.QosAppFrequencyLimit", count=1, status=200)

    answer = post(market, "F-2")

    assert answer.status_code == 200
    assert answer.json()["error_code"] == "gw.QosAppFrequencyLimit"
    assert made(market, "F-2") == 0


def test_an_error_after_it_was_done(market: Market) -> None:
    market.fault("create", "error", code="SYSTEM_ERROR", after=True, count=1)

    assert post(market, "F-3").json()["success"] is False
    assert made(market, "F-3") == 1


def test_http_500(market: Market) -> None:
    market.fault("create", "http500", count=1)

    answer = post(market, "F-4")

    assert answer.status_code == 500
    assert answer.text.startswith("<html>")
    assert made(market, "F-4") == 0


def test_slow_does_it_at_once(market: Market) -> None:
    market.fault("create", "slow", seconds=0.6, count=1)

    with pytest.raises(httpx.TimeoutException):
        post(market, "F-5", timeout=0.2)
    assert made(market, "F-5") == 1


def test_slow_answers_in_the_end(market: Market) -> None:
    market.fault("create", "slow", seconds=0.3, count=1)
    began = time.monotonic()

    answer = post(market, "F-6")

    assert answer.json()["success"] is True
    assert time.monotonic() - began >= 0.3


def test_late_does_it_though_nobody_waits_any_more(market: Market) -> None:
    market.fault("create", "late", seconds=0.6, count=1)

    with pytest.raises(httpx.TimeoutException):
        post(market, "F-7", timeout=0.2)
    before = made(market, "F-7")
    time.sleep(0.8)

    assert (before, made(market, "F-7")) == (0, 1)


def test_hang_does_nothing(market: Market) -> None:
    market.fault("create", "hang", count=1)

    with pytest.raises(httpx.TimeoutException):
        post(market, "F-8", timeout=0.3)
    assert made(market, "F-8") == 0


def test_drop_does_it_and_cuts_the_connection(market: Market) -> None:
    market.fault("create", "drop", count=1)
    began = time.monotonic()

    with pytest.raises(httpx.RemoteProtocolError):
        post(market, "F-9")

    assert time.monotonic() - began < 2
    assert made(market, "F-9") == 1


def test_twice_makes_two(market: Market) -> None:
    market.fault("create", "twice", count=1)

    assert post(market, "F-10").json()["success"] is True
    assert made(market, "F-10") == 2


def test_twice_pays_once(market: Market) -> None:
    number = market.order()
    market.fault("pay", "twice", count=1)

    assert market.pay(number)["result"]["paySuccess"] is True
    assert market.debits(number) == [1_500]


@pytest.mark.parametrize("mode", ["doubled", "garbage"])
def test_an_answer_that_is_not_json(market: Market, mode: str) -> None:
    market.fault("create", mode, count=1)

    answer = post(market, f"F-{mode}")

    assert answer.status_code == 200
    with pytest.raises(ValueError, match=r"Extra data|Expecting value"):
        answer.json()
    assert made(market, f"F-{mode}") == 1


def test_a_good_signature_is_called_bad(market: Market) -> None:
    market.fault("create", "wrong_signature", count=1)

    assert post(market, "F-11").json()["error_code"] == "gw.SignatureInvalid"
    assert made(market, "F-11") == 0


def test_drift_turns_numbers_into_strings(market: Market) -> None:
    number = market.purchased(line())
    (plain,) = market.purchases(number)
    market.fault("/purchase/orders/query", "drift", count=1)

    (order,) = market.purchases(number)

    assert plain["purchase_amount"] == 1_500
    assert order["purchase_id"] == str(number)
    assert order["purchase_amount"] == "1500"
    assert isinstance(order["sub_purchase_orders"][0]["item_id"], int)
    assert order["pay_time"] is None


def test_a_rate_of_a_half_strikes_sometimes(market: Market) -> None:
    market.fault("list", "http500", rate=0.5)

    answers = [market.raw("alibaba.trade.getBuyerOrderList").status_code for _ in range(60)]

    assert set(answers) == {200, 500}
    (fault,) = market.state()["faults"]
    assert fault["hits"] == answers.count(500)


def test_a_star_strikes_everything_in_both_dialects(market: Market) -> None:
    market.fault("*", "error", code="SYSTEM_ERROR")

    assert market.preview(cargo())["errorCode"] == "SYSTEM_ERROR"
    assert market.rest("/purchase/orders/query")["error_code"] == "SYSTEM_ERROR"
    assert market.rest("/traffic/item/search")["biz_error_code"] == "SYSTEM_ERROR"

    assert market.control("faults", method="DELETE") == {"cleared": 1}
    assert market.preview(cargo())["success"] is True


def test_an_error_of_the_taobao_gateway(market: Market) -> None:
    market.fault("list", "error", code="ApiCallLimit", count=1)

    answer = market.rest("/purchase/orders/query")

    assert (answer["code"], answer["type"]) == ("ApiCallLimit", "ISV")


@pytest.mark.parametrize(
    "body",
    [
        {"operation": "create"},
        {"operation": "create", "mode": "nonsense"},
        {"operation": "create", "mode": "slow", "rate": 2},
        {"operation": "create", "mode": "slow", "unknown": 1},
    ],
)
def test_a_fault_that_makes_no_sense_is_refused(market: Market, body: dict[str, Any]) -> None:
    answer = market.client.post("/_control/faults", json=body)

    assert answer.status_code == 422
    assert answer.json()["error"]
    assert market.state()["faults"] == []


def test_calls_are_counted(market: Market) -> None:
    market.fault("create", "http500", count=1)
    post(market, "F-12")
    post(market, "F-12")
    market.create(cargo(900000000002))

    counters = market.state()["counters"]

    assert counters["create.calls"] == 3
    assert counters["create.faults"] == 1
    assert counters["create.done"] == 2
    assert counters["create.refused"] == 1


def test_a_call_that_is_performed_late_is_counted_until_then(market: Market) -> None:
    market.fault("create", "late", seconds=0.5, count=1)

    with ThreadPoolExecutor(1) as pool:
        late = pool.submit(post, market, "F-13")
        while not market.state()["counters"].get("create.waiting"):
            assert not late.done()
        assert market.state()["counters"].get("create.done", 0) == 0
        late.result()

    counters = market.state()["counters"]
    assert (counters["create.waiting"], counters["create.done"]) == (0, 1)
