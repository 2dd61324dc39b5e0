"""Every error code, and what it means for a call that may be repeated and one that may not."""

import json
from typing import Any

import pytest

from tradewind.platforms.failures import (
    NotAuthorised,
    OutcomeUnknown,
    PlatformFailure,
    Reason,
    Rejected,
    Throttled,
    TokenRejected,
    Unavailable,
    UnreadableResponse,
)
from tradewind.platforms.taobao.gateway import read_response

GATEWAY = [
    ("IllegalAccessToken", "ISV", TokenRejected),
    ("IncompleteSignature", "ISV", NotAuthorised),
    ("InvalidAppKey", "ISV", NotAuthorised),
    ("InsufficientPermission", "ISV", NotAuthorised),
    ("IllegalRefreshToken", "ISP", NotAuthorised),
    ("ApiCallLimit", "ISV", Throttled),
    ("AppCallLimit", "SYSTEM", Throttled),
    ("IllegalTimestamp", "ISV", Unavailable),
    ("MissingParameter", "ISV", Rejected),
    ("InvalidApiPath", "ISV", Rejected),
]
TROUBLE = [
    ("ServiceTimeout", "ISV"),
    ("ServiceUnavailable", None),
    ("SystemError", "SYSTEM"),
    ("SomethingNew", "ISP"),
    ("InternalError", None),
    ("SomethingNew", "ISV"),
    ("500", "ISV"),
    ("-1", None),
    ("429", "ISV"),
]
BUSINESS = [
    ("500_001", Reason.NOT_FOR_SALE),
    ("500_003", Reason.NOT_FOUND),
    ("500_004", Reason.OUT_OF_STOCK),
    ("500_005", Reason.BELOW_MINIMUM),
    ("500_006", Reason.MIXED_BATCH),
    ("500_008", Reason.NOT_FOR_SALE),
    ("ACCOUNT_BALANCE_NOT_ENOUGH", Reason.NO_FUNDS),
    ("ACCOUNT_FROZEN", Reason.ACCOUNT_FROZEN),
    ("ADDRESS_INVALID", Reason.BAD_ADDRESS),
    ("ITEM_NOT_FOUND", Reason.NOT_FOUND),
    ("ORDER_ALREADY_PAID", Reason.ALREADY_PAID),
    ("ORDER_NOT_EXIST", Reason.NOT_FOUND),
    ("ORDER_STATUS_ERROR", Reason.WRONG_STATE),
    ("PAY_AMOUNT_NOT_MATCH", Reason.PRICE_CHANGED),
    ("PURCHASE_AMOUNT_CHANGED", Reason.PRICE_CHANGED),
    ("SKU_INVENTORY_LACK", Reason.OUT_OF_STOCK),
    ("ITEM_OFF_SHELF", Reason.NOT_FOR_SALE),
    ("RECEIVER_PHONE_WRONG", Reason.BAD_ADDRESS),
]


def outcome(answer: Any, *, safe: bool) -> PlatformFailure:
    with pytest.raises(PlatformFailure) as raised:
        read_response(json.dumps(answer).encode(), lambda _: None, safe=safe)
    return raised.value


@pytest.mark.parametrize("safe", [True, False])
@pytest.mark.parametrize(("code", "kind", "means"), GATEWAY)
def test_the_gateway_refuses_before_anything_is_done(
    code: str, kind: str, means: type[PlatformFailure], *, safe: bool
) -> None:
    said = {"code": code, "type": kind, "message": "No.", "request_id": "1"}

    failure = outcome(said, safe=safe)

    assert type(failure) is means
    assert (failure.platform, failure.code, failure.message) == ("taobao", code, "No.")


@pytest.mark.parametrize(("code", "kind"), TROUBLE)
def test_trouble_inside_leaves_open_what_was_done(code: str, kind: str | None) -> None:
    said = {"code": code, "type": kind, "message": "Oh."}

    assert type(outcome(said, safe=True)) is Unavailable
    assert type(outcome(said, safe=False)) is OutcomeUnknown


@pytest.mark.parametrize("safe", [True, False])
@pytest.mark.parametrize(("code", "reason"), BUSINESS)
def test_a_refusal_of_the_operation_is_for_good(code: str, reason: Reason, *, safe: bool) -> None:
    forms = [
        {"code": "0", "success": False, "error_code": code, "error_msg": "No."},
        {"code": 0, "success": "false", "error_code": code, "error_msg": "No.", "data": None},
        {"result": {"success": False, "error_code": code, "error_msg": "No."}},
        {"code": "0", "biz_error_code": code, "biz_error_msg": "No.", "data": None},
        {"success": True, "data": {"success": False, "error_code": code, "error_message": "No."}},
    ]

    for form in forms:
        failure = outcome(form, safe=safe)
        assert isinstance(failure, Rejected)
        assert (failure.reason, failure.code, failure.message) == (reason, code, "No.")


@pytest.mark.parametrize(
    "no",
    [
        {"error_code": "SYSTEM_ERROR", "error_msg": "Oh."},
        {"error_code": "SOMETHING_NEW", "error_msg": "No."},
        {"error_code": "F1", "error_msg": "库存服务超时"},
        {"error_msg": "系统繁忙"},
        {},
    ],
)
def test_a_no_that_we_do_not_know_leaves_open_what_was_done(no: dict[str, str]) -> None:
    said = {"code": "0", "success": False, **no}

    assert type(outcome(said, safe=True)) is Unavailable
    assert type(outcome(said, safe=False)) is OutcomeUnknown


def test_a_reason_can_be_in_the_words_alone() -> None:
    said = {"success": False, "error_code": "F1", "error_msg": "商品库存不足"}

    failure = outcome(said, safe=False)

    assert isinstance(failure, Rejected)
    assert failure.reason is Reason.OUT_OF_STOCK


def test_a_no_without_a_code_has_no_words_either() -> None:
    failure = outcome({"success": "false"}, safe=False)

    assert type(failure) is OutcomeUnknown
    assert (failure.code, failure.message) == ("no_code", "No message.")


@pytest.mark.parametrize(
    "answer",
    [
        {"code": "0", "data": 1},
        {"code": 0, "success": "true", "error_code": ""},
        {"success": True, "error_code": "0"},
        {"code": None, "biz_error_code": "", "data": {}},
        {"result": {"success": True, "data": {}}},
    ],
)
def test_a_yes_in_every_form(answer: Any) -> None:
    assert read_response(json.dumps(answer).encode(), lambda _: "yes", safe=True) == "yes"


@pytest.mark.parametrize("body", [b"", b"[]", b"1", b"<html>", b'{"code":"0"}{"code":"0"}'])
def test_an_answer_that_nobody_can_read(body: bytes) -> None:
    with pytest.raises(UnreadableResponse):
        read_response(body, lambda _: None, safe=True)
