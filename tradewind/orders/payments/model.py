"""Payments: where the money of an order stands, requests to pay it, and refunds."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from msgspec import Struct

from tradewind.orders.person import Person
from tradewind.platforms.model import RefundKind, RefundState


class PaymentStatus(StrEnum):
    """Where the money of an order stands with us. Commands and confirmed facts write it."""

    UNPAID = "unpaid"
    PENDING_APPROVAL = "pending_approval"
    APPROVED = "approved"
    REJECTED = "rejected"
    PROCESSING = "processing"
    PAID = "paid"
    FAILED = "failed"
    PARTIALLY_REFUNDED = "partially_refunded"
    REFUNDED = "refunded"
    CANCELLED = "cancelled"


class RequestStatus(StrEnum):
    """Where a payment request stands."""

    PENDING_APPROVAL = "pending_approval"
    WITHDRAWN = "withdrawn"
    APPROVED = "approved"
    REJECTED = "rejected"
    SUPERSEDED = "superseded"
    PROCESSING = "processing"
    PAID = "paid"
    FAILED = "failed"


OPEN_REQUESTS = frozenset(
    {RequestStatus.PENDING_APPROVAL, RequestStatus.APPROVED, RequestStatus.PROCESSING}
)


class PayMode(StrEnum):
    """How an approved payment is made: we debit, or a person follows a link."""

    AUTO = "auto"
    LINK = "link"


@dataclass(frozen=True, slots=True)
class Failure:
    """Why the marketplace rejected something for good: our code, and a sentence."""

    code: str
    message: str


class PaymentRequest(Struct, frozen=True):
    """A request to pay an order."""

    id: UUID
    status: RequestStatus
    amount_fen: int
    # What each order on the marketplace cost at the time of the request: exactly that is paid.
    sums: Mapping[str, int]
    mode: PayMode
    requested_by: Person
    requested_at: datetime
    # Why it is requested, for whoever approves it.
    note: str | None = None
    decided_by: Person | None = None
    decided_at: datetime | None = None
    reason: str | None = None
    pay_url: str | None = None
    sent_at: datetime | None = None
    failure: Failure | None = None


@dataclass(frozen=True, slots=True)
class NewRefund:
    """A refund that a buyer requests. `order_id` is that of a part, where there are several.

    An `amount_fen` of None is all that is left of the goods.
    """

    kind: RefundKind
    reason: str
    amount_fen: int | None = None
    freight_fen: int | None = None
    note: str | None = None
    order_id: str | None = None


class OrderRefund(Struct, frozen=True):
    """A refund of an order. `platform_id` is None until the marketplace has given it an id."""

    id: UUID
    platform_id: str | None
    order_id: str
    state: RefundState
    kind: RefundKind | None
    amount_fen: int
    freight_fen: int
    reason: str | None
    note: str | None
    failure: Failure | None
    requested_at: datetime
    updated_at: datetime
    raw_status: str | None = None
