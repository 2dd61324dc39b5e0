"""What each of the marketplace's error codes means: later, never, or nobody knows."""

from dataclasses import dataclass

from tradewind.platforms.failures import (
    FindOut,
    Never,
    NotAuthorised,
    PlatformFailure,
    Reason,
    TryLater,
)

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

# Nothing was done, and the same call may be accepted after so many seconds.
_LATER = {
    "ApiCallLimit": 5.0,
    "AppCallLimit": 5.0,
    "SellerCallLimit": 5.0,
    "IllegalTimestamp": 30.0,
    "InvalidTimestamp": 30.0,
}

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

# A failure inside the marketplace: what it had done by then, it does not say.
_TROUBLE = ("BUSY", "EXCEPTION", "INTERNAL", "SYSTEM", "TIMEOUT", "TIME_OUT", "UNKNOWN")
_TROUBLED_GATEWAY = frozenset({"ServiceTimeout", "ServiceUnavailable"})
_FAULT_OF_THEIRS = frozenset({"ISP", "SYSTEM"})


@dataclass(frozen=True, slots=True)
class Refused:
    """A no from the marketplace. `kind` is whose fault it is, where the gateway says so."""

    code: str
    message: str
    kind: str | None = None


def failure(refused: Refused, *, safe: bool) -> PlatformFailure:
    """`safe` is whether the call changes nothing, so that its outcome need not be found out."""
    code, message = refused.code, refused.message
    if code in _OPERATOR:
        return NotAuthorised(PLATFORM, code, message, retry_after=60)
    if code in _LATER:
        return TryLater(PLATFORM, code, message, retry_after=_LATER[code])
    if code in _NEVER:
        return Never(PLATFORM, code, message, reason=_NEVER[code])
    if _is_trouble(refused):
        return unknown(code, message, safe=safe)
    return Never(PLATFORM, code, message, reason=reason_of(code, message))


def unknown(code: str, message: str, *, safe: bool) -> PlatformFailure:
    """No answer that means anything."""
    return TryLater(PLATFORM, code, message) if safe else FindOut(PLATFORM, code, message)


def reason_of(code: str, message: str) -> Reason:
    if code in _NEVER:
        return _NEVER[code]
    for said in (code.upper(), message):
        for words, reason in _WORDS:
            if any(word in said for word in words):
                return reason
    return Reason.OTHER


def _is_trouble(refused: Refused) -> bool:
    if refused.kind in _FAULT_OF_THEIRS or refused.code in _TROUBLED_GATEWAY:
        return True
    return any(word in refused.code.upper() for word in _TROUBLE)
