"""Every refusal of the platform becomes the failure that tells a caller what to do."""

import pytest

from tradewind.platforms.alibaba import errors
from tradewind.platforms.failures import (
    ErrorResponse,
    NotAuthorised,
    OutcomeUnknown,
    Reason,
    Rejected,
    Throttled,
    TokenRejected,
    Unavailable,
)

NEVER = [
    ("500_001", Reason.NOT_FOR_SALE), ("500_002", Reason.SEVERAL_SELLERS),
    ("500_003", Reason.SEVERAL_SELLERS), ("500_004", Reason.OUT_OF_STOCK),
    ("500_005", Reason.BELOW_MINIMUM), ("500_006", Reason.MIXED_BATCH),
    ("500_007", Reason.NOT_SUPPORTED), ("500_008", Reason.NOT_FOR_SALE),
    ("500_009", Reason.BELOW_MINIMUM), ("404", Reason.NOT_FOUND),
    ("ORDER_NOT_EXIST", Reason.NOT_FOUND), ("400_3", Reason.NOT_FOUND),
    ("ORDER_STATUS_ERROR", Reason.WRONG_STATE), ("ACCOUNT_BALANCE_NOT_ENOUGH", Reason.NO_FUNDS),
    ("ACCOUNT_NOT_EXIST", Reason.NOT_SUPPORTED), ("ACCOUNT_FROZEN", Reason.ACCOUNT_FROZEN),
    ("PARAM_ILLEGAL", Reason.OTHER), ("ORDER_ALREADY_PAID", Reason.ALREADY_PAID),
    ("PAY_AMOUNT_NOT_MATCH", Reason.PRICE_CHANGED), ("5001", Reason.NOT_FOUND),
    ("5002", Reason.NOT_FOUND), ("5003", Reason.WRONG_STATE), ("5004", Reason.OTHER),
    ("5005", Reason.NOT_SUPPORTED), ("5006", Reason.REFUND_TOO_LARGE), ("5007", Reason.OTHER),
    ("5008", Reason.OTHER), ("5009", Reason.OTHER), ("5010", Reason.WRONG_STATE),
    ("5011", Reason.REFUND_TOO_LARGE), ("5012", Reason.OTHER), ("5013", Reason.OTHER),
    ("5100", Reason.OTHER), ("gw.ParamMissing", Reason.OTHER),
]  # fmt: skip


def test_the_table_below_covers_every_code_that_we_know() -> None:
    assert {code for code, _ in NEVER} >= set(errors.REASONS)


@pytest.mark.parametrize("safe", [True, False])
@pytest.mark.parametrize(("code", "reason"), NEVER)
def test_a_refusal_for_good_keeps_the_platforms_words(
    code: str, reason: Reason, safe: bool
) -> None:
    failure = errors.operation_failure("alibaba", ErrorResponse(code, "其话"), safe=safe)

    assert isinstance(failure, Rejected)
    assert (failure.reason, failure.platform, failure.code, failure.message) == (
        reason, "alibaba", code, "其话",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("message", "expected"),
    [("AddressParam invalid: mobile", Reason.BAD_ADDRESS), ("收货地址错误", Reason.BAD_ADDRESS),
     ("quantity invalid", Reason.OTHER)],
)  # fmt: skip
def test_a_wrong_parameter_may_be_the_address(message: str, expected: Reason) -> None:
    failure = errors.operation_failure("alibaba", ErrorResponse("400", message), safe=False)

    assert isinstance(failure, Rejected)
    assert failure.reason is expected


def test_a_fault_of_its_own_is_no_bad_address() -> None:
    refusal = ErrorResponse("4001", "address service failed")

    assert type(errors.operation_failure("alibaba", refusal, safe=False)) is OutcomeUnknown


def test_a_code_may_hide_in_the_message() -> None:
    failure = errors.operation_failure(
        "alibaba", ErrorResponse("500", "ORDER_NOT_EXIST"), safe=True
    )

    assert isinstance(failure, Rejected)
    assert failure.reason is Reason.NOT_FOUND


@pytest.mark.parametrize(
    ("code", "kind"),
    [("CLOSE_ORDER_TOO_FAST", Unavailable), ("gw.QosAppFrequencyLimit", Throttled)],
)
@pytest.mark.parametrize("safe", [True, False])
def test_some_errors_pass_after_ten_seconds(code: str, kind: type[Unavailable], safe: bool) -> None:
    failure = errors.gateway_failure("alibaba", ErrorResponse(code, "m"), safe=safe)

    assert type(failure) is kind
    assert failure.retry_after == 10


@pytest.mark.parametrize("safe", [True, False])
@pytest.mark.parametrize("code", ["gw.SignatureInvalid", "gw.APIACLDecline", "401"])
def test_an_operator_must_act(code: str, safe: bool) -> None:
    failure = errors.gateway_failure("alibaba", ErrorResponse(code, "m"), safe=safe)

    assert isinstance(failure, NotAuthorised)
    assert isinstance(failure, TokenRejected) == (code == "401")


@pytest.mark.parametrize(
    "code",
    ["", "-1", "500", "503", "SYSTEM_ERROR", "S_SYSTEM_EXCEPTION", "TIMEOUT", "TIME_OUT",
     "SERVICE_TIMEOUT", "SYSTEM_BUSY", "UNKNOWN_ERROR", "4001", "400_9", "SOMETHING_NEW",
     "REPEAT_SUBMIT", "DUPLICATE_ORDER", "FAIL_BIZ_ORDER_HAS_EXIST"],
)  # fmt: skip
def test_what_we_do_not_know_is_safe_to_repeat_or_to_be_found_out(code: str) -> None:
    refusal = ErrorResponse(code, "m")

    assert type(errors.operation_failure("alibaba", refusal, safe=True)) is Unavailable
    assert type(errors.operation_failure("alibaba", refusal, safe=False)) is OutcomeUnknown


def test_a_gateway_code_that_we_do_not_know_may_have_been_executed() -> None:
    refusal = ErrorResponse("gw.SomethingNew", "m")

    assert type(errors.gateway_failure("alibaba", refusal, safe=True)) is Unavailable
    assert type(errors.gateway_failure("alibaba", refusal, safe=False)) is OutcomeUnknown


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ({"success": True, "result": []}, None),
        ({"success": "true", "errorCode": ""}, None),
        ({"result": {"success": True, "code": "200", "message": "操作成功"}}, None),
        ({"result": [], "totalRecord": 0}, None),
        ({"result": [], "errorCode": None}, None),
        ({"success": "false", "errorCode": "A", "errorMessage": "B"}, ErrorResponse("A", "B")),
        ({"success": False, "errorCode": "A", "errorMsg": "B"}, ErrorResponse("A", "B")),
        ({"success": False, "errorCode": "A", "erroMsg": "B"}, ErrorResponse("A", "B")),
        ({"success": False, "errorCode": 500, "erroMsg": ""}, ErrorResponse("500", "500")),
        ({"result": {"success": False, "code": "A", "message": "B"}}, ErrorResponse("A", "B")),
        ({"errorCode": "A", "errorMessage": "B"}, ErrorResponse("A", "B")),
        ({"result": [], "errorCode": "A"}, ErrorResponse("A", "A")),
        ({"success": False}, ErrorResponse("", "No reason was given.")),
    ],
)
def test_a_refusal_is_found_wherever_it_stands(
    answer: dict[str, object], expected: ErrorResponse | None
) -> None:
    assert errors.operation_error(answer) == expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ({"error_code": "401", "error_message": "m"}, ErrorResponse("401", "m")),
        ({"error_code": 401}, ErrorResponse("401", "401")),
        ({"errorCode": "401"}, None),
        ({}, None),
    ],
)
def test_the_gateways_refusal_is_told_by_its_spelling(
    answer: dict[str, object], expected: ErrorResponse | None
) -> None:
    assert errors.gateway_error(answer) == expected
