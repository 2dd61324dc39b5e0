"""Ids: UUIDv7 inside, opaque text in the API, sortable by time in both forms."""

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

    @property
    def example(self) -> str:
        """An id of this kind for the reference, and for messages."""
        return f"{self.prefix}06EJ4KQZC5T9XN4R5ZJ2V7M8QW"

    def show(self, value: UUID) -> str:
        """The id as customers see it."""
        n, two = value.int, _PAIRS
        # Written out: every response and delivery has ids, and this takes a third of the time.
        return (
            f"{self.prefix}{two[n >> 120]}{two[n >> 110 & 1023]}{two[n >> 100 & 1023]}"
            f"{two[n >> 90 & 1023]}{two[n >> 80 & 1023]}{two[n >> 70 & 1023]}{two[n >> 60 & 1023]}"
            f"{two[n >> 50 & 1023]}{two[n >> 40 & 1023]}{two[n >> 30 & 1023]}{two[n >> 20 & 1023]}"
            f"{two[n >> 10 & 1023]}{two[n & 1023]}"
        )

    def read(self, text: str) -> UUID | None:
        """Parse an id; None when the text is no id of this kind."""
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
    """A new id of any kind."""
    return uuid7()


ACCOUNT = Kind("acc_", "account")
ADDRESS = Kind("adr_", "address")
API_KEY = Kind("key_", "API key")
AUDIT = Kind("aud_", "audit entry")
CART_LINE = Kind("cln_", "cart line")
CHECKOUT = Kind("chk_", "checkout")
DELIVERY = Kind("dlv_", "delivery")
EVENT = Kind("evt_", "event")
IMPORT = Kind("imp_", "import")
JOB = Kind("job_", "recovery")
ORDER = Kind("ORD", "order")
PAYMENT = Kind("pay_", "payment request")
PRODUCT = Kind("", "product")  # the marketplace chooses the id
REFUND = Kind("rfd_", "refund")
REQUEST = Kind("req_", "request")
SESSION = Kind("ses_", "session")
SUBSCRIPTION = Kind("whk_", "subscription")
# In the body of a test delivery; nothing has these ids.
TEST_EVENT = Kind("evt_test_", "test event")
TEST_ORDER = Kind("ORDTEST", "test order")

# Every kind of id that we generate.
OURS = (
    *(ACCOUNT, ADDRESS, API_KEY, AUDIT, CART_LINE, CHECKOUT, DELIVERY, EVENT, IMPORT, JOB, ORDER),
    *(PAYMENT, REFUND, REQUEST, SESSION, SUBSCRIPTION, TEST_EVENT, TEST_ORDER),
)

AccountId = Annotated[UUID, ACCOUNT]
AddressId = Annotated[UUID, ADDRESS]
ApiKeyId = Annotated[UUID, API_KEY]
CartLineId = Annotated[UUID, CART_LINE]
CheckoutId = Annotated[UUID, CHECKOUT]
DeliveryId = Annotated[UUID, DELIVERY]
EventId = Annotated[UUID, EVENT]
ImportId = Annotated[UUID, IMPORT]
JobId = Annotated[UUID, JOB]
OrderId = Annotated[UUID, ORDER]
PaymentId = Annotated[UUID, PAYMENT]
SessionId = Annotated[UUID, SESSION]
SubscriptionId = Annotated[UUID, SUBSCRIPTION]
