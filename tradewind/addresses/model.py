"""A saved address: where to ship to, its label, and whether it is the default."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from tradewind.platforms.model import Address

# The largest number of addresses of an account.
MOST_ADDRESSES = 500


@dataclass(frozen=True, slots=True)
class SavedAddress:
    """An address of the address book. If an account has any, exactly one is the default."""

    id: UUID
    account_id: UUID
    label: str
    address: Address
    is_default: bool
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class AddressChanges:
    """What to change about a saved address; None leaves it, and an empty text clears it."""

    label: str | None = None
    name: str | None = None
    phone: str | None = None
    province: str | None = None
    city: str | None = None
    district: str | None = None
    detail: str | None = None
    postal_code: str | None = None
    is_default: bool | None = None
