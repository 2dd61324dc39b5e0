"""How a call to a marketplace can fail: unavailable, rejected, or with an unknown outcome."""

from dataclasses import dataclass
from enum import StrEnum

from tradewind.errors import TradewindError


class Reason(StrEnum):
    """Why a marketplace rejected a call, in terms that all marketplaces share."""

    OUT_OF_STOCK = "out_of_stock"
    BELOW_MINIMUM = "below_minimum"
    MIXED_BATCH = "mixed_batch"
    NOT_FOR_SALE = "not_for_sale"
    SEVERAL_SELLERS = "several_sellers"
    PRICE_CHANGED = "price_changed"
    BAD_ADDRESS = "bad_address"
    NOT_FOUND = "not_found"
    WRONG_STATE = "wrong_state"
    NO_FUNDS = "no_funds"
    ACCOUNT_FROZEN = "account_frozen"
    ALREADY_PAID = "already_paid"
    REFUND_TOO_LARGE = "refund_too_large"
    NOT_SUPPORTED = "not_supported"
    OTHER = "other"


class PlatformFailure(TradewindError):
    """A call to a marketplace failed. `code` and `message` are the marketplace's own."""

    def __init__(self, platform: str, code: str, message: str) -> None:
        super().__init__(f"{platform}: {message} ({code})")
        self.platform = platform
        self.code = code
        self.message = message


class Unavailable(PlatformFailure):
    """Nothing was done, and the same call may succeed after `retry_after` seconds."""

    def __init__(self, platform: str, code: str, message: str, *, retry_after: float = 5) -> None:
        super().__init__(platform, code, message)
        self.retry_after = retry_after


class Throttled(Unavailable):
    """Too many calls: the marketplace asks us to slow down."""


class BudgetUsedUp(Throttled):
    """Our own budget of calls to the marketplace is used up: the call was not made."""

    def __init__(self, platform: str, *, retry_after: float) -> None:
        message = "Our budget of calls to the marketplace is used up."
        super().__init__(platform, "paced", message, retry_after=retry_after)


class NotAuthorised(Unavailable):
    """Our authorisation at the marketplace is missing, expired or revoked: an operator must act."""


class TokenRejected(NotAuthorised):
    """The access token is no longer valid; a refresh may help."""


class Rejected(PlatformFailure):
    """The marketplace rejected the call for good: repeating it cannot succeed."""

    def __init__(
        self, platform: str, code: str, message: str, *, reason: Reason = Reason.OTHER
    ) -> None:
        super().__init__(platform, code, message)
        self.reason = reason

    @property
    def word(self) -> str:
        """Our word for the reason; the marketplace's own code where we have none."""
        return self.code if self.reason is Reason.OTHER else self.reason.value


class OutcomeUnknown(PlatformFailure):
    """The call may have been carried out. Look it up by our reference before repeating it."""


def unclassified(platform: str, code: str, message: str, *, safe: bool) -> PlatformFailure:
    """Return the failure of a call whose response says nothing about the outcome."""
    return (Unavailable if safe else OutcomeUnknown)(platform, code, message)


@dataclass(frozen=True, slots=True)
class ErrorResponse:
    """An error as a marketplace reports it. `kind` says whose fault it is, if it is named."""

    code: str
    message: str
    kind: str | None = None


class UnreadableResponse(ValueError):
    """A marketplace's response lacks a required field or does not have the documented form."""
