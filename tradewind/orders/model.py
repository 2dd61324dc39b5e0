"""What an order is: its two axes, its money, and the orders on the platform that it became."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from tradewind import ids
from tradewind.platforms.model import (
    Address,
    CloseReason,
    Line,
    PaymentState,
    PlatformOrder,
    RefundKind,
    RefundState,
)


class OrderStatus(StrEnum):
    """Where an order stands on its platform. Only what the platform says writes it."""

    CREATING = "creating"
    CREATE_FAILED = "create_failed"
    PENDING_PAYMENT = "pending_payment"
    PAID = "paid"
    PARTIALLY_SHIPPED = "partially_shipped"
    SHIPPED = "shipped"
    RECEIVED = "received"
    COMPLETED = "completed"
    CANCELLED = "cancelled"
    CLOSED = "closed"
    UNKNOWN = "unknown"


Status = OrderStatus


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
    """Where a request to pay stands."""

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


class Work(StrEnum):
    """What is to be done at the platform next."""

    CREATE = "create"
    CANCEL = "cancel"
    PAY = "pay"
    FOLLOW = "follow"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Failure:
    """Why something was refused for good, in our code and a sentence."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Who:
    """An account that did something, with the e-mail it had then.

    `roles` are those of a caller who does something now; of what is stored they are not known.
    """

    id: UUID
    email: str
    roles: frozenset[str] = field(default=frozenset(), compare=False)


@dataclass(frozen=True, slots=True)
class PaymentRequest:
    """A wish to pay an order, of an amount, and what became of it."""

    id: UUID
    status: RequestStatus
    amount_fen: int
    # What each order on the platform cost when it was asked for: exactly that is paid.
    sums: Mapping[str, int]
    mode: PayMode
    requested_by: Who
    requested_at: datetime
    decided_by: Who | None = None
    decided_at: datetime | None = None
    reason: str | None = None
    pay_url: str | None = None
    sent_at: datetime | None = None
    failure: Failure | None = None


@dataclass(frozen=True, slots=True)
class OrderRefund:
    """Money that is asked back. `platform_id` is None until the platform has named it."""

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


@dataclass(frozen=True, slots=True)
class Draft:
    """What a caller wants to buy, checked."""

    platform: str
    lines: Sequence[Line]
    address: Address
    remark: str | None
    expected_fen: int | None
    external_id: str | None
    metadata: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Order:
    """An order. `parts` are the orders that it became on the platform, as last heard of."""

    id: UUID
    account_id: UUID
    platform: str
    lines: Sequence[Line]
    address: Address
    remark: str | None
    external_id: str | None
    metadata: Mapping[str, Any]
    expected_fen: int | None
    previewed: bool
    status: Status
    payment_status: PaymentStatus
    platform_payment_status: PaymentState
    platform_status: str | None
    goods_fen: int | None
    freight_fen: int | None
    discount_fen: int | None
    total_fen: int | None
    paid_fen: int
    refunded_fen: int
    parts: Sequence[PlatformOrder]
    order_ids: Sequence[str]
    refunds: Sequence[OrderRefund]
    payment: PaymentRequest | None
    failure: Failure | None
    cancel_requested: bool
    dispute: bool
    paid_outside: bool
    close_reason: CloseReason | None
    pay_before: datetime | None
    created_at: datetime
    updated_at: datetime
    version: int
    next_sync_at: datetime | None
    synced_at: datetime | None
    sync_failures: int
    create_sent_at: datetime | None
    cancel_sent_at: datetime | None
    # What the database says now, read together with the order.
    now: datetime
    hints: int = 0

    @property
    def reference(self) -> str:
        """What the platform finds the order by, from before it was placed there."""
        return ids.ORDER.show(self.id)

    @property
    def order_id(self) -> str | None:
        """The order's id on the platform; of several, the first."""
        return self.order_ids[0] if self.order_ids else None


@dataclass(frozen=True, slots=True)
class Cause:
    """Why an order changed, and who asked for it; nobody, where a platform or we did."""

    word: str
    by: Who | None = None
