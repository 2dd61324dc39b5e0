"""Signatures: the published values, and the gateways that check them."""

import pytest
from simulator.sandbox_kit import Market
from tradewind_simulator import signing


def test_the_published_value_of_the_1688_dialect() -> None:
    made = signing.alibaba_request("test123", "param2/1/system/currentTime/1000000a1b2", {})

    assert made == "33E54F4F7B989E3E0E912D3FBD2F1A03CA7CCE88"


def test_a_notice_of_the_1688_dialect_is_signed_without_a_path() -> None:
    made = signing.alibaba_notice("test123", '{"type":"ORDER_BUYER_VIEW_ORDER_PAY"}')

    assert made == "E2E5EEA2D3962CC8AD342475FEBAFA64B53F51DE"


def test_the_published_value_of_the_taobao_dialect() -> None:
    params = {
        "access_token": "test",
        "app_key": "123456",
        "order_id": "1234",
        "sign_method": "sha256",
        "timestamp": "1517820392000",
        "sign": "not part of it",
    }

    made = signing.taobao_request("helloworld", "/order/get", params)

    assert made == "4190D32361CFB9581350222F345CB77F3B19F0E31D162316848A2C1FFD5FAB4A"


def test_a_wrong_signature_is_turned_away(market: Market) -> None:
    path, form = market.alibaba_request("alibaba.trade.get.buyerView", webSite="1688", orderId="1")

    answer = market.client.post(path, data={**form, "orderId": "2"})

    assert answer.status_code == 400
    assert answer.json() == {
        "error_code": "gw.SignatureInvalid",
        "error_message": "Invalid signature",
    }


@pytest.mark.parametrize(
    ("left_out", "code"), [("_aop_signature", "gw.ParamMissing"), ("access_token", "401")]
)
def test_what_is_missing_is_told(market: Market, left_out: str, code: str) -> None:
    if left_out == "access_token":
        answer = market.raw("alibaba.trade.getBuyerOrderList", token="")
    else:
        path, form = market.alibaba_request("alibaba.trade.getBuyerOrderList")
        del form[left_out]
        answer = market.client.post(path, data=form)

    assert (answer.status_code, answer.json()["error_code"]) == (400, code)


def test_an_unknown_api_needs_a_permission_nobody_has(market: Market) -> None:
    assert market.call("alibaba.trade.nonsense")["error_code"] == "gw.APIACLDecline"


def test_the_token_of_another_app_is_no_good(market: Market) -> None:
    answer = market.call("alibaba.trade.getBuyerOrderList", token="alibaba-demo-access-token")

    assert answer["error_code"] == "401"


def test_values_are_signed_raw_and_sent_encoded(market: Market) -> None:
    query = {"keyword": "红色 & 连衣裙 100%+", "country": "en"}

    answer = market.call("product.search.keywordQuery", offerQueryParam=query)

    assert answer["result"]["success"] is True


def test_the_taobao_gateway_checks_too(market: Market) -> None:
    path = "/purchase/orders/query"
    good = market.taobao_request(path)

    bad_sign = market.client.post(f"/rest{path}", data={**good, "page_no": "2"}).json()
    bad_token = market.rest(path, token="nonsense")
    old = market.taobao_request(path)
    old["timestamp"] = "1517820392000"
    old["sign"] = signing.taobao_request("taobao-demo-secret", path, old)

    assert (bad_sign["code"], bad_sign["type"]) == ("IncompleteSignature", "ISV")
    assert set(bad_token) == {"code", "type", "message", "request_id"}
    assert bad_token["code"] == "IllegalAccessToken"
    assert market.client.post(f"/rest{path}", data=old).json()["code"] == "IllegalTimestamp"


def test_the_taobao_gateway_reads_json_bodies_and_queries(market: Market) -> None:
    path = "/purchase/orders/query"

    by_json = market.client.post(f"/rest{path}", json=market.taobao_request(path))
    by_query = market.client.get(f"/rest{path}", params=market.taobao_request(path))

    assert by_json.json()["code"] == by_query.json()["code"] == "0"
