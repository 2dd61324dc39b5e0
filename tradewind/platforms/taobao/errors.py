"""The error codes of Taobao Global, and the failures that they stand for."""

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
from tradewind.platforms.taobao.values import Json, record, text, truth

PLATFORM = "taobao"

_TOKEN = "IllegalAccessToken"  # noqa: S105 - the code for a token that is no longer valid

# The gateway rejected the call, and only an operator can change that.
_OPERATOR = frozenset(
    {
        _TOKEN,
        "AppWhiteIpLimit",
        "IllegalAppKey",
        "IllegalRefreshToken",
        "IncompleteSignature",
        "InsufficientPermission",
        "InvalidAppKey",
        "InvalidSignature",
    }
)

# Nothing was done, and the same call may succeed after this many seconds.
_TOO_MANY_CALLS = {"ApiCallLimit": 5.0, "AppCallLimit": 5.0, "SellerCallLimit": 5.0}
_WRONG_TIME = {"IllegalTimestamp": 30.0, "InvalidTimestamp": 30.0}

_REASONS = {
    "500_001": Reason.NOT_FOR_SALE,
    "500_002": Reason.NOT_FOUND,  # a product with variants, and none was chosen
    "500_003": Reason.NOT_FOUND,
    "500_004": Reason.OUT_OF_STOCK,
    "500_005": Reason.BELOW_MINIMUM,
    "500_006": Reason.MIXED_BATCH,
    "500_008": Reason.NOT_FOR_SALE,
    "500_009": Reason.BELOW_MINIMUM,
    "ACCOUNT_BALANCE_NOT_ENOUGH": Reason.NO_FUNDS,
    "ACCOUNT_FROZEN": Reason.ACCOUNT_FROZEN,
    "ACCOUNT_NOT_EXIST": Reason.ACCOUNT_FROZEN,
    "ADDRESS_INVALID": Reason.BAD_ADDRESS,
    "InvalidApiPath": Reason.NOT_SUPPORTED,
    "InvalidCode": Reason.OTHER,
    "InvalidParameter": Reason.OTHER,
    "ITEM_NOT_FOUND": Reason.NOT_FOUND,
    "MissingParameter": Reason.OTHER,
    "ORDER_ALREADY_PAID": Reason.ALREADY_PAID,
    "ORDER_NOT_EXIST": Reason.NOT_FOUND,
    "ORDER_STATUS_ERROR": Reason.WRONG_STATE,
    "PARAM_ILLEGAL": Reason.OTHER,
    "PAY_AMOUNT_NOT_MATCH": Reason.PRICE_CHANGED,
    "PURCHASE_AMOUNT_CHANGED": Reason.PRICE_CHANGED,
    "REFUND_NOT_EXIST": Reason.NOT_FOUND,
}

# Business codes are not published as a list, so unknown ones are classified by these words.
_WORDS = (
    (("INVENTORY", "STOCK", "SOLD_OUT", "库存"), Reason.OUT_OF_STOCK),
    (("OFF_SHELF", "OFFLINE", "OFFSHELF", "UNAVAILABLE", "下架"), Reason.NOT_FOR_SALE),
    (("MINIMUM", "BEGIN_AMOUNT", "起批", "起购"), Reason.BELOW_MINIMUM),
    (("PRICE_CHANGE", "AMOUNT_CHANGE"), Reason.PRICE_CHANGED),
    (("ADDRESS", "RECEIVER"), Reason.BAD_ADDRESS),
    (("BALANCE", "余额"), Reason.NO_FUNDS),
    (("NOT_EXIST", "NOT_FOUND", "不存在"), Reason.NOT_FOUND),
)

# An internal error of the marketplace, with an unknown outcome. These words have precedence over
# those above: 库存服务超时 is not a lack of stock.
_INTERNAL_CODES = ("BUSY", "EXCEPTION", "INTERNAL", "SYSTEM", "TIMEOUT", "TIME_OUT", "UNKNOWN")
_INTERNAL_MESSAGES = ("繁忙", "超时", "异常", "稍后")
_INTERNAL_GATEWAY_CODES = frozenset(
    {"-1", "429", "500", "502", "503", "504", "ServiceTimeout", "ServiceUnavailable"}
)
_INTERNAL_KINDS = frozenset({"ISP", "SYSTEM"})
_SUCCESS_CODES = frozenset({None, "0", "200", "SUCCESS", "success"})


def failure(error: ErrorResponse, *, safe: bool) -> PlatformFailure:
    """Classify an error. `safe`: the call changes nothing, so that its outcome does not matter.

    Only an error that is known by its code or words is final; any other may hide a success.
    """
    code, message = error.code, error.message
    if code in _OPERATOR:
        kind = TokenRejected if code == _TOKEN else NotAuthorised
        return kind(PLATFORM, code, message, retry_after=60)
    if code in _TOO_MANY_CALLS:
        return Throttled(PLATFORM, code, message, retry_after=_TOO_MANY_CALLS[code])
    if code in _WRONG_TIME:
        return Unavailable(PLATFORM, code, message, retry_after=_WRONG_TIME[code])
    if is_known(code):
        return Rejected(PLATFORM, code, message, reason=_REASONS[code])
    reason = None if _is_internal(error) else _reason_by_words(code, message)
    if reason is None:
        return unclassified(PLATFORM, code, message, safe=safe)
    return Rejected(PLATFORM, code, message, reason=reason)


def is_known(code: str) -> bool:
    """Whether the code certainly means that nothing was done."""
    return code in _REASONS


def reason_of(code: str, message: str) -> Reason:
    return _REASONS.get(code) or _reason_by_words(code, message) or Reason.OTHER


def _reason_by_words(code: str, message: str) -> Reason | None:
    for text_of_error in (code.upper(), message):
        for words, reason in _WORDS:
            if any(word in text_of_error for word in words):
                return reason
    return None


def _is_internal(error: ErrorResponse) -> bool:
    if error.kind in _INTERNAL_KINDS or error.code in _INTERNAL_GATEWAY_CODES:
        return True
    if any(word in error.message for word in _INTERNAL_MESSAGES):
        return True
    return any(word in error.code.upper() for word in _INTERNAL_CODES)


def error_in(response: Json) -> ErrorResponse | None:
    """Read the error of the gateway or of the operation; None for a success."""
    code = text(response.get("code"))
    if code not in _SUCCESS_CODES:
        kind = text(response.get("type"))
        return ErrorResponse(code or "", text(response.get("message")) or "No message.", kind)
    return _operation_error(inner(response)) or _operation_error(
        record(inner(response).get("data"))
    )


def inner(response: Json) -> Json:
    """Return the object with the result: some operations nest it in `result`."""
    return record(response.get("result")) or response


def _operation_error(layer: Json) -> ErrorResponse | None:
    code = text(layer.get("error_code")) or text(layer.get("biz_error_code"))
    success = truth(layer.get("success"))
    if success is True or (success is None and code in _SUCCESS_CODES):
        return None
    names = ("error_msg", "error_message", "biz_error_msg", "inner_error_msg")
    messages = (text(layer.get(name)) for name in names)
    message = next(filter(None, messages), "No message.")
    return ErrorResponse(code or "no_code", message)
