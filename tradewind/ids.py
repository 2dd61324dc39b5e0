"""Ids: opaque on the wire, UUIDv7 inside, sortable by time in both spellings."""

from dataclasses import dataclass
from typing import Annotated
from uuid import UUID

from uuid_utils.compat import uuid7

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_VALUES = {letter: value for value, letter in enumerate(_ALPHABET)}
_LENGTH = 26
_PAIRS = [high + low for high in _ALPHABET for low in _ALPHABET]


@dataclass(frozen=True, slots=True)
class Kind:
    """One family of ids: 128 bits in Crockford's base 32 behind a prefix."""

    prefix: str
    noun: str

    @property
    def pattern(self) -> str:
        """The JSON Schema pattern of such an id."""
        return f"^{self.prefix}[0-7][0-9A-HJKMNP-TV-Z]{{{_LENGTH - 1}}}$"

    def show(self, value: UUID) -> str:
        """Spell an id as customers see it."""
        n, of = value.int, _PAIRS
        # Written out, because every answer and every delivery spells ids: it takes a third.
        return (
            f"{self.prefix}{of[n >> 120]}{of[n >> 110 & 1023]}{of[n >> 100 & 1023]}"
            f"{of[n >> 90 & 1023]}{of[n >> 80 & 1023]}{of[n >> 70 & 1023]}{of[n >> 60 & 1023]}"
            f"{of[n >> 50 & 1023]}{of[n >> 40 & 1023]}{of[n >> 30 & 1023]}{of[n >> 20 & 1023]}"
            f"{of[n >> 10 & 1023]}{of[n & 1023]}"
        )

    def read(self, text: str) -> UUID | None:
        """Read an id in its one spelling; None means that nothing can have this id."""
        digits = text.removeprefix(self.prefix)
        if len(digits) != _LENGTH or len(text) != _LENGTH + len(self.prefix):
            return None
        bits = 0
        for digit in digits:
            value = _VALUES.get(digit)
            if value is None:
                return None
            bits = bits << 5 | value
        return UUID(int=bits) if bits >> 128 == 0 else None


def new() -> UUID:
    """A fresh id of any kind."""
    return uuid7()


ACCOUNT = Kind("acc_", "account")
API_KEY = Kind("key_", "API key")
AUDIT = Kind("aud_", "audit entry")
DELIVERY = Kind("dlv_", "delivery")
EVENT = Kind("evt_", "event")
JOB = Kind("job_", "recovery")
ORDER = Kind("ORD", "order")
PAYMENT = Kind("pay_", "payment request")
PRODUCT = Kind("", "product")  # named by the marketplace, not by us
REFUND = Kind("rfd_", "refund")
REQUEST = Kind("req_", "request")
SESSION = Kind("ses_", "session")
SUBSCRIPTION = Kind("whk_", "subscription")
# In the body of a test delivery: of nothing that exists.
TEST_EVENT = Kind("evt_test_", "test event")
TEST_ORDER = Kind("ORDTEST", "test order")

# Every kind of id that we make, and so can say in words what it looks like.
OURS = (
    *(ACCOUNT, API_KEY, AUDIT, DELIVERY, EVENT, JOB, ORDER, PAYMENT, REFUND, REQUEST, SESSION),
    *(SUBSCRIPTION, TEST_EVENT, TEST_ORDER),
)

AccountId = Annotated[UUID, ACCOUNT]
ApiKeyId = Annotated[UUID, API_KEY]
DeliveryId = Annotated[UUID, DELIVERY]
EventId = Annotated[UUID, EVENT]
JobId = Annotated[UUID, JOB]
OrderId = Annotated[UUID, ORDER]
PaymentId = Annotated[UUID, PAYMENT]
SessionId = Annotated[UUID, SESSION]
SubscriptionId = Annotated[UUID, SUBSCRIPTION]
