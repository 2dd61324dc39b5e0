"""Signatures of requests and pushes, by the values that are published for them."""

from urllib.parse import parse_qsl

from platforms.taobao.scripted import NOW

from tradewind.platforms.access import PlatformAccess
from tradewind.platforms.taobao.gateway import form, sign_notice, sign_request

PARAMS = {
    "access_token": "test",
    "app_key": "123456",
    "order_id": "1234",
    "sign_method": "sha256",
    "timestamp": "1517820392000",
}
PUBLISHED = "4190D32361CFB9581350222F345CB77F3B19F0E31D162316848A2C1FFD5FAB4A"
PUSHED = "5423596ebf4f24f62acaf193e4c7396c857b18460f6d372adbe642faf97c8d7f"


def test_the_published_value_comes_out() -> None:
    assert sign_request("helloworld", "/order/get", PARAMS) == PUBLISHED


def test_neither_the_order_of_parameters_nor_a_sign_among_them_matters() -> None:
    turned = {"sign": "D13F", **dict(reversed(PARAMS.items()))}

    assert sign_request("helloworld", "/order/get", turned) == PUBLISHED


def test_the_published_value_of_a_token_call_comes_out() -> None:
    params = {
        "app_key": "12345678",
        "code": "3_500102_JxZ05Ux3cnnSSUm6dCxYg6Q26",
        "sign_method": "sha256",
        "timestamp": "1517820392000",
    }

    assert sign_request("helloworld", "/auth/token/create", params) == (
        "35607762342831B6A417A0DED84B79C05FEFBF116969C48AD6DC00279A9F4D81"
    )


def test_a_push_is_signed_in_lower_case_over_key_and_bytes() -> None:
    # By hand: printf '500123{"message_type":3}' | openssl dgst -sha256 -hmac helloworld
    assert sign_notice("helloworld", "500123", b'{"message_type":3}') == PUSHED


def test_a_form_carries_everything_signed_and_nothing_empty() -> None:
    params = {"order_id": "1234", "note": "", "name": "帆布"}

    body = form("/order/get", params, PlatformAccess("k", "s", "t"), NOW)

    sent = dict(parse_qsl(body.decode(), strict_parsing=True))
    sign = sent.pop("sign")
    assert sent == {
        "order_id": "1234",
        "name": "帆布",
        "app_key": "k",
        "access_token": "t",
        "timestamp": "1763164800000",
        "sign_method": "sha256",
    }
    assert sign == sign_request("s", "/order/get", sent)
