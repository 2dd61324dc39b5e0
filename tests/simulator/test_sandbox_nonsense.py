"""Invalid requests: rejected in the dialect they came in, without breaking the simulator."""

from typing import Any

import pytest
from simulator.sandbox_kit import Market, cargo
from tradewind_simulator.alibaba import gateway as alibaba
from tradewind_simulator.taobao import gateway as taobao

VALUES: list[Any] = [
    "", "x", "-1", "²", "9" * 5_000, "1e400", "[]", "{}", "[1e400]", "null", "[null]", '"\\ud800"',
    [{}], {"offerId": "²", "country": None}, [{"offerId": 1, "quantity": 1e300}], "\x00", "🛒" * 99,
    "00010101000000000+0800", "99991231235959999-9999", [[[[]]]], [9**40], {"keyword": "x" * 9_000},
]  # fmt: skip
PARAMS_1688 = (
    "offerQueryParam", "offerDetailParam", "addressParam", "cargoParamList", "flow", "orderId",
    "outOrderId", "orderIds", "page", "pageSize", "createStartTime", "modifyEndTime", "webSite",
    "tradeID", "cancelReason", "orderIdList", "tradeWithholdPreparePayParam", "orderEntryIds",
    "disputeRequest", "applyPayment", "applyCarriage", "applyReasonId", "description",
    "goodsStatus", "queryType", "quantity", "msgIdList",
)  # fmt: skip
PARAMS_TAOBAO = (
    "keyword", "page_no", "page_size", "filters", "item_id", "render_item_list",
    "receiver_address", "outer_purchase_id", "purchase_amount", "order_line_list", "receiver",
    "purchaseOrderIdList", "purchase_id", "cancel_reason", "purchase_ids", "modify_time_start",
    "refundId", "purchase_order_line_id",
)  # fmt: skip


@pytest.mark.parametrize("name", sorted(alibaba.OPERATIONS))
def test_nonsense_in_the_1688_dialect(market: Market, name: str) -> None:
    api = name.partition("/")[2]
    for value in VALUES:
        answer = market.raw(api, **dict.fromkeys(PARAMS_1688, value))

        assert answer.status_code in (200, 400), value
        assert isinstance(answer.json(), dict)
    assert market.state()["orders_total"] == 0


@pytest.mark.parametrize("path", sorted(taobao.OPERATIONS))
def test_nonsense_in_the_taobao_dialect(market: Market, path: str) -> None:
    for value in VALUES:
        form = market.taobao_request(path, **dict.fromkeys(PARAMS_TAOBAO, value))
        answer = market.client.post(f"/rest{path}", data=form)

        assert answer.status_code == 200, value
        assert isinstance(answer.json(), dict)
    assert market.state()["orders_total"] == 0


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "clock"),
        ("POST", "faults"),
        ("POST", "push"),
        ("POST", "limits"),
        ("POST", "tokens/expire"),
        ("POST", "orders/²/advance"),
        ("GET", "orders/x"),
        ("PATCH", "state"),
    ],
)
def test_nonsense_at_the_control_api(market: Market, method: str, path: str) -> None:
    for body in (b"{", b"[]", b'"x"', b'{"nonsense": 1}', b"\xff"):
        answer = market.client.request(method, f"/_control/{path}", content=body)

        assert answer.status_code in (404, 422)
        assert answer.json()["error"]


def test_a_body_that_is_too_large(market: Market) -> None:
    answer = market.client.post("/_control/clock", content=b"x" * 6_000_001)

    assert answer.status_code == 413


def test_numbers_as_strings_are_numbers(market: Market) -> None:
    item = cargo(quantity=2)

    made = market.create({**item, "offerId": str(item["offerId"]), "quantity": "2"})

    assert made["result"]["totalSuccessAmount"] == 2_500
