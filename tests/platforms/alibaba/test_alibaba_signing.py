"""Signatures match what the platform publishes."""

from tradewind.platforms.alibaba import gateway


def test_the_published_request_signature() -> None:
    path = "param2/1/system/currentTime/1000000a1b2"

    signature = gateway.sign_request("test123", path, {})

    assert signature == "33E54F4F7B989E3E0E912D3FBD2F1A03CA7CCE88"


def test_the_push_signature_is_over_the_parameters_alone() -> None:
    form = {"message": '{"type":"ORDER_BUYER_VIEW_ORDER_PAY"}', "_aop_signature": "ignored"}

    signature = gateway.sign_notice("test123", form)

    assert signature == "E2E5EEA2D3962CC8AD342475FEBAFA64B53F51DE"


def test_parameters_are_sorted_and_raw() -> None:
    item = gateway.sign_request("s", "param2/1/a/b/c", {"b": "红 &=", "a": "1"})
    other = gateway.sign_request("s", "param2/1/a/b/ca1b红 &=", {})

    assert item == other
