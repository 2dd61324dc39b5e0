"""What 1688 says when it refuses, and which of our failures that is."""

from collections.abc import Mapping
from dataclasses import dataclass

from tradewind.platforms.alibaba.values import Json, entry, flag, text, text_or
from tradewind.platforms.failures import (
    NotAuthorised,
    OutcomeUnknown,
    PlatformFailure,
    Reason,
    Rejected,
    Throttled,
    Unavailable,
)

# The same call may succeed after this many seconds.
TOO_MANY_CALLS: Mapping[str, float] = {"gw.QosAppFrequencyLimit": 10.0}
TOO_EARLY: Mapping[str, float] = {"CLOSE_ORDER_TOO_FAST": 10.0}

# Refusals that an operator ends: a wrong secret, an API that was not subscribed to.
UNAUTHORISED = frozenset({"gw.SignatureInvalid", "gw.APIACLDecline"})
TOKEN = "401"  # noqa: S105 - the code for a token that is missing, expired or revoked
_OPERATOR_SECONDS = 60.0
_WAIT_SECONDS = 5.0

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
    "400_3": Reason.NOT_FOUND,  # somebody else's order
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
    "5005": Reason.NOT_SUPPORTED,  # the reason asks for pictures
    "5006": Reason.REFUND_TOO_LARGE,  # the reason pays no freight back
    "5007": Reason.OTHER,
    "5008": Reason.OTHER,
    "5009": Reason.OTHER,
    "5010": Reason.WRONG_STATE,
    "5011": Reason.REFUND_TOO_LARGE,
    "5012": Reason.OTHER,
    "5013": Reason.OTHER,
    "5100": Reason.OTHER,
}

_BAD_PARAMETER = "400"  # also with a number, 400_3; but not 4001, which is its own fault
_FINE = frozenset({"0", "200", "success", "SUCCESS"})
_CODES = ("errorCode", "error_code", "code", "resultCode")
_MESSAGES = ("errorMsg", "errorMessage", "erroMsg", "error_message", "message")


class TokenRejected(NotAuthorised):
    """The access token does not count any more; one refresh may help."""


@dataclass(frozen=True, slots=True)
class AlibabaError:
    """The platform's own code and message."""

    code: str
    message: str


def at_gateway(answer: Json) -> AlibabaError | None:
    """What the gateway said before any operation was reached, if it said no."""
    code = text(answer.get("error_code"))
    if code is None:
        return None
    return AlibabaError(code, text_or(answer.get("error_message"), code))


def of_operation(answer: Json) -> AlibabaError | None:
    """What the operation said no with: at the top or under `result`, in any of its spellings."""
    for layer in (answer, entry(answer.get("result"))):
        said = flag(layer.get("success"))
        code = text(layer.get("errorCode"))
        if said is False or (said is None and code is not None and code not in _FINE):
            return spelled(layer)
    return None


def succeeded(answer: Json) -> bool:
    """Whether the answer says so, at the top or under `result`."""
    layers = (answer, entry(answer.get("result")))
    return any(flag(layer.get("success")) is True for layer in layers)


def spelled(layer: Json) -> AlibabaError:
    """Code and message of an object, whatever it calls them."""
    codes = [text_or(layer.get(name), "") for name in _CODES]
    messages = [text_or(layer.get(name), "") for name in _MESSAGES]
    code = next(filter(None, codes), "")
    return AlibabaError(code, next(filter(None, messages), code or "It gave no reason."))


def gateway_failure(platform: str, refusal: AlibabaError, *, safe: bool) -> PlatformFailure:
    """The gateway's refusals that we know were made before anything was done."""
    code, message = refusal.code, refusal.message
    if code == TOKEN:
        return TokenRejected(platform, code, message, retry_after=_OPERATOR_SECONDS)
    if code in UNAUTHORISED:
        return NotAuthorised(platform, code, message, retry_after=_OPERATOR_SECONDS)
    if code in TOO_MANY_CALLS or code in TOO_EARLY or code in REASONS:
        return operation_failure(platform, refusal, safe=safe)
    return _not_known(platform, refusal, safe=safe)


def operation_failure(platform: str, refusal: AlibabaError, *, safe: bool) -> PlatformFailure:
    """What a refusal of an operation means for whoever asked.

    Only one that we know is for good: `DUPLICATE_ORDER` says no, and there is an order.
    """
    code, message = refusal.code, refusal.message
    if code in TOO_MANY_CALLS:
        return Throttled(platform, code, message, retry_after=TOO_MANY_CALLS[code])
    if code in TOO_EARLY:
        return Unavailable(platform, code, message, retry_after=TOO_EARLY[code])
    reason = reason_of(refusal)
    if reason is None and code == _BAD_PARAMETER:
        reason = Reason.OTHER
    if reason is not None:
        return Rejected(platform, code, message, reason=reason)
    return _not_known(platform, refusal, safe=safe)


def reason_of(refusal: AlibabaError) -> Reason | None:
    """Our word for it; None for a code that we do not know. Some put the code in the message."""
    reason = REASONS.get(refusal.code) or REASONS.get(refusal.message)
    bad_parameter = refusal.code.partition("_")[0] == _BAD_PARAMETER
    if reason is None and bad_parameter and _is_about_address(refusal.message):
        return Reason.BAD_ADDRESS
    return reason


def unreadable(platform: str, why: str, *, safe: bool) -> PlatformFailure:
    """An answer came, and nobody can read it."""
    return _not_known(platform, AlibabaError("unreadable_answer", why), safe=safe)


def _is_about_address(message: str) -> bool:
    return "address" in message.lower() or "地址" in message


def _not_known(platform: str, refusal: AlibabaError, *, safe: bool) -> PlatformFailure:
    if safe:
        return Unavailable(platform, refusal.code, refusal.message, retry_after=_WAIT_SECONDS)
    return OutcomeUnknown(platform, refusal.code, refusal.message)
