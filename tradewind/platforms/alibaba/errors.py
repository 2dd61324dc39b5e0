"""The error codes of 1688, and the failures that they stand for."""

from collections.abc import Mapping

from tradewind.platforms.alibaba.values import Json, entry, flag, text
from tradewind.platforms.failures import (
    ErrorResponse,
    NotAuthorised,
    PlatformFailure,
    Reason,
    Rejected,
    Throttled,
    TokenRejected,
    Unavailable,
    unclassified,
)

# The same call may succeed after this many seconds.
TOO_MANY_CALLS: Mapping[str, float] = {"gw.QosAppFrequencyLimit": 10.0}
TOO_EARLY: Mapping[str, float] = {"CLOSE_ORDER_TOO_FAST": 10.0}

# Only an operator can resolve these: a wrong secret, an API that was not subscribed to.
UNAUTHORISED = frozenset({"gw.SignatureInvalid", "gw.APIACLDecline"})
TOKEN = "401"  # noqa: S105 - the code for a token that is missing, expired or revoked
_OPERATOR_SECONDS = 60.0

SEVERAL_SELLERS_OR_NO_SPEC = frozenset({"500_002", "500_003"})

REASONS: Mapping[str, Reason] = {
    "gw.ParamMissing": Reason.OTHER,
    # Preview and create.
    "500_001": Reason.NOT_FOR_SALE,
    "500_002": Reason.SEVERAL_SELLERS,
    "500_003": Reason.SEVERAL_SELLERS,
    "500_004": Reason.OUT_OF_STOCK,
    "500_005": Reason.BELOW_MINIMUM,
    "500_006": Reason.MIXED_BATCH,
    "500_007": Reason.NOT_SUPPORTED,
    "500_008": Reason.NOT_FOR_SALE,
    "500_009": Reason.BELOW_MINIMUM,
    # Reading and cancelling.
    "404": Reason.NOT_FOUND,
    "ORDER_NOT_EXIST": Reason.NOT_FOUND,
    "400_3": Reason.NOT_FOUND,  # another buyer's order
    "ORDER_STATUS_ERROR": Reason.WRONG_STATE,
    # Paying.
    "ACCOUNT_BALANCE_NOT_ENOUGH": Reason.NO_FUNDS,
    "ACCOUNT_NOT_EXIST": Reason.NOT_SUPPORTED,
    "ACCOUNT_FROZEN": Reason.ACCOUNT_FROZEN,
    "PARAM_ILLEGAL": Reason.OTHER,
    "ORDER_ALREADY_PAID": Reason.ALREADY_PAID,
    "PAY_AMOUNT_NOT_MATCH": Reason.PRICE_CHANGED,
    # Asking for a refund.
    "5001": Reason.NOT_FOUND,
    "5002": Reason.NOT_FOUND,
    "5003": Reason.WRONG_STATE,
    "5004": Reason.OTHER,
    "5005": Reason.NOT_SUPPORTED,  # the reason requires pictures
    "5006": Reason.REFUND_TOO_LARGE,  # the reason does not refund freight
    "5007": Reason.OTHER,
    "5008": Reason.OTHER,
    "5009": Reason.OTHER,
    "5010": Reason.WRONG_STATE,
    "5011": Reason.REFUND_TOO_LARGE,
    "5012": Reason.OTHER,
    "5013": Reason.OTHER,
    "5100": Reason.OTHER,
}

_BAD_PARAMETER = "400"  # also with a suffix, 400_3; 4001 is a fault of the marketplace itself
_SUCCESS_CODES = frozenset({"0", "200", "success", "SUCCESS"})
_CODES = ("errorCode", "error_code", "code", "resultCode")
_MESSAGES = ("errorMsg", "errorMessage", "erroMsg", "error_message", "message")


def gateway_error(response: Json) -> ErrorResponse | None:
    """Read an error that the gateway returned before it called the operation."""
    code = text(response.get("error_code"))
    if code is None:
        return None
    return ErrorResponse(code, text(response.get("error_message")) or code)


def operation_error(response: Json) -> ErrorResponse | None:
    """Read an error of the operation: at the top or under `result`, in any of its spellings."""
    for layer in (response, entry(response.get("result"))):
        success = flag(layer.get("success"))
        code = text(layer.get("errorCode"))
        if success is False or (
            success is None and code is not None and code not in _SUCCESS_CODES
        ):
            return read_error(layer)
    return None


def succeeded(response: Json) -> bool:
    """Whether the response reports success, at the top or under `result`."""
    layers = (response, entry(response.get("result")))
    return any(flag(layer.get("success")) is True for layer in layers)


def read_error(layer: Json) -> ErrorResponse:
    """Read the code and message of an object, under any of their names."""
    code = next(filter(None, (text(layer.get(name)) for name in _CODES)), "")
    messages = (text(layer.get(name)) for name in _MESSAGES)
    return ErrorResponse(code, next(filter(None, messages), code or "No reason was given."))


def gateway_failure(platform: str, error: ErrorResponse, *, safe: bool) -> PlatformFailure:
    """Classify an error of the gateway."""
    code, message = error.code, error.message
    if code == TOKEN:
        return TokenRejected(platform, code, message, retry_after=_OPERATOR_SECONDS)
    if code in UNAUTHORISED:
        return NotAuthorised(platform, code, message, retry_after=_OPERATOR_SECONDS)
    if code in TOO_MANY_CALLS or code in TOO_EARLY or code in REASONS:
        return operation_failure(platform, error, safe=safe)
    return unclassified(platform, code, message, safe=safe)


def operation_failure(platform: str, error: ErrorResponse, *, safe: bool) -> PlatformFailure:
    """Classify an error of an operation.

    Only a known code is final: an order exists in spite of `DUPLICATE_ORDER`.
    """
    code, message = error.code, error.message
    if code in TOO_MANY_CALLS:
        return Throttled(platform, code, message, retry_after=TOO_MANY_CALLS[code])
    if code in TOO_EARLY:
        return Unavailable(platform, code, message, retry_after=TOO_EARLY[code])
    reason = reason_of(error)
    if reason is None and code == _BAD_PARAMETER:
        reason = Reason.OTHER
    if reason is not None:
        return Rejected(platform, code, message, reason=reason)
    return unclassified(platform, code, message, safe=safe)


def reason_of(error: ErrorResponse) -> Reason | None:
    """Return our reason; None for an unknown code. Some errors hold the code in the message."""
    reason = REASONS.get(error.code) or REASONS.get(error.message)
    bad_parameter = error.code.partition("_")[0] == _BAD_PARAMETER
    about_address = "address" in error.message.lower() or "地址" in error.message
    if reason is None and bad_parameter and about_address:
        return Reason.BAD_ADDRESS
    return reason
