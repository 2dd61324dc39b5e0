"""What each of the marketplace's error codes means: later, never, or nobody knows."""

from dataclasses import dataclass

from tradewind.platforms.failures import (
    NotAuthorised,
    OutcomeUnknown,
    PlatformFailure,
    Reason,
    Rejected,
    Throttled,
    Unavailable,
)
from tradewind.platforms.taobao.values import Json, record, text, truth

PLATFORM = "taobao"

# The gateway turned the call away before anything was done; a fresh token may help.
TOKEN_REFUSED = frozenset({"IllegalAccessToken"})

# The gateway turned the call away, and only an operator can change that.
_OPERATOR = TOKEN_REFUSED | {
    "AppWhiteIpLimit",
    "IllegalAppKey",
    "IllegalRefreshToken",
    "IncompleteSignature",
    "InsufficientPermission",
    "InvalidAppKey",
    "InvalidSignature",
}

# Nothing was done, and the same call may succeed after this many seconds.
_TOO_MANY_CALLS = {"ApiCallLimit": 5.0, "AppCallLimit": 5.0, "SellerCallLimit": 5.0}
_WRONG_TIME = {"IllegalTimestamp": 30.0, "InvalidTimestamp": 30.0}

_NEVER = {
    "500_001": Reason.NOT_FOR_SALE,
    "500_002": Reason.NOT_FOUND,  # a product with choices, and none was made
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

# Business codes are not published as a list; their words are what there is to go by.
_WORDS = (
    (("INVENTORY", "STOCK", "SOLD_OUT", "库存"), Reason.OUT_OF_STOCK),
    (("OFF_SHELF", "OFFLINE", "OFFSHELF", "UNAVAILABLE", "下架"), Reason.NOT_FOR_SALE),
    (("MINIMUM", "BEGIN_AMOUNT", "起批", "起购"), Reason.BELOW_MINIMUM),
    (("PRICE_CHANGE", "AMOUNT_CHANGE"), Reason.PRICE_CHANGED),
    (("ADDRESS", "RECEIVER"), Reason.BAD_ADDRESS),
    (("BALANCE", "余额"), Reason.NO_FUNDS),
    (("NOT_EXIST", "NOT_FOUND", "不存在"), Reason.NOT_FOUND),
)

# A failure inside the marketplace: what it had done by then, it does not say. Where one of these
# words stands, no other word counts: 库存服务超时 is no lack of stock.
_TROUBLE = ("BUSY", "EXCEPTION", "INTERNAL", "SYSTEM", "TIMEOUT", "TIME_OUT", "UNKNOWN")
_TROUBLE_TOLD = ("繁忙", "超时", "异常", "稍后")
_TROUBLED_GATEWAY = frozenset(
    {"-1", "429", "500", "502", "503", "504", "ServiceTimeout", "ServiceUnavailable"}
)
_FAULT_OF_THEIRS = frozenset({"ISP", "SYSTEM"})


@dataclass(frozen=True, slots=True)
class TaobaoError:
    """A no from the marketplace. `kind` is whose fault it is, where the gateway says so."""

    code: str
    message: str
    kind: str | None = None


def failure(refused: TaobaoError, *, safe: bool) -> PlatformFailure:
    """`safe` is whether the call changes nothing, so that its outcome need not be found out.

    Only a no that we know, by its code or its words, is for good; any other may hide a yes.
    """
    code, message = refused.code, refused.message
    if code in _OPERATOR:
        return NotAuthorised(PLATFORM, code, message, retry_after=60)
    if code in _TOO_MANY_CALLS:
        return Throttled(PLATFORM, code, message, retry_after=_TOO_MANY_CALLS[code])
    if code in _WRONG_TIME:
        return Unavailable(PLATFORM, code, message, retry_after=_WRONG_TIME[code])
    if is_known(code):
        return Rejected(PLATFORM, code, message, reason=_NEVER[code])
    reason = None if _is_trouble(refused) else _worded(code, message)
    if reason is None:
        return unknown(code, message, safe=safe)
    return Rejected(PLATFORM, code, message, reason=reason)


def unknown(code: str, message: str, *, safe: bool) -> PlatformFailure:
    """No answer that means anything."""
    return Unavailable(PLATFORM, code, message) if safe else OutcomeUnknown(PLATFORM, code, message)


def is_known(code: str) -> bool:
    """Whether the code is certain to mean that nothing was done, and that nothing will be."""
    return code in _NEVER


def reason_of(code: str, message: str) -> Reason:
    return _NEVER.get(code) or _worded(code, message) or Reason.OTHER


def _worded(code: str, message: str) -> Reason | None:
    for said in (code.upper(), message):
        for words, reason in _WORDS:
            if any(word in said for word in words):
                return reason
    return None


def _is_trouble(refused: TaobaoError) -> bool:
    if refused.kind in _FAULT_OF_THEIRS or refused.code in _TROUBLED_GATEWAY:
        return True
    if any(word in refused.message for word in _TROUBLE_TOLD):
        return True
    return any(word in refused.code.upper() for word in _TROUBLE)


_FINE = frozenset({None, "0", "200", "SUCCESS", "success"})


def error_in(answer: Json) -> TaobaoError | None:
    """The gateway's own no, or that of the operation behind it; None when it is a yes."""
    code = text(answer.get("code"))
    if code not in _FINE:
        kind = text(answer.get("type"))
        return TaobaoError(code or "", text(answer.get("message")) or "No message.", kind)
    return _business(inner(answer)) or _business(record(inner(answer).get("data")))


def inner(answer: Json) -> Json:
    """Some operations put everything one level deeper, in `result`."""
    return record(answer.get("result")) or answer


def _business(said: Json) -> TaobaoError | None:
    code = text(said.get("error_code")) or text(said.get("biz_error_code"))
    success = truth(said.get("success"))
    if success is True or (success is None and code in _FINE):
        return None
    names = ("error_msg", "error_message", "biz_error_msg", "inner_error_msg")
    message = next((told for name in names if (told := text(said.get(name)))), "No message.")
    return TaobaoError(code or "no_code", message)
