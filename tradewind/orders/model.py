"""What an order is: its two statuses, its money, and the orders on the marketplace it became."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from msgspec import Struct

from tradewind import ids
from tradewind.orders.payments.model import (
    OPEN_REQUESTS,
    Failure,
    OrderRefund,
    PaymentRequest,
    PaymentStatus,
)
from tradewind.orders.person import Person
from tradewind.platforms.model import Address, CloseReason, Line, PaymentState, PlatformOrder


class OrderStatus(StrEnum):
    """Where an order stands on its marketplace. Only what the marketplace says writes it."""

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


class PlatformJob(StrEnum):
    """What is to be done next at the marketplace. It is stored as `work`."""

    CREATE = "create"
    CANCEL = "cancel"
    PAY = "pay"
    SYNC = "sync"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class NewOrder:
    """What a caller wants to buy, validated."""

    platform: str
    lines: Sequence[Line]
    address: Address
    remark: str | None
    expected_fen: int | None
    external_id: str | None
    metadata: Mapping[str, str]


class Order(Struct, frozen=True, kw_only=True):
    """An order. `parts` are the orders that it became on the marketplace, as last read.

    The defaults are those of a new order. It is copied with a change some fifty times until it is
    paid, and a dataclass with this many fields takes sixty times as long to copy.
    """

    id: UUID
    account_id: UUID
    platform: str
    lines: Sequence[Line]
    address: Address
    remark: str | None
    external_id: str | None
    metadata: Mapping[str, str]
    expected_fen: int | None
    previewed: bool
    status: OrderStatus = OrderStatus.CREATING
    payment_status: PaymentStatus = PaymentStatus.UNPAID
    platform_payment_status: PaymentState = PaymentState.UNPAID
    platform_status: str | None = None
    goods_fen: int | None = None
    freight_fen: int | None = None
    discount_fen: int | None = None
    total_fen: int | None = None
    paid_fen: int = 0
    refunded_fen: int = 0
    parts: Sequence[PlatformOrder] = ()
    order_ids: Sequence[str] = ()
    refunds: Sequence[OrderRefund] = ()
    payment: PaymentRequest | None = None
    failure: Failure | None = None
    cancel_requested: bool = False
    dispute: bool = False
    paid_outside: bool = False
    close_reason: CloseReason | None = None
    pay_before: datetime | None = None
    created_at: datetime
    updated_at: datetime
    version: int = 1
    next_sync_at: datetime | None
    synced_at: datetime | None = None
    sync_failures: int = 0
    create_sent_at: datetime | None
    cancel_sent_at: datetime | None = None
    # The database's time when the order was read, and this process's monotonic clock right then.
    now: datetime
    hints: int = 0
    read_at: float | None = None

    @property
    def reference(self) -> str:
        """What the marketplace finds the order by, even before it exists there."""
        return ids.ORDER.show(self.id)

    @property
    def order_id(self) -> str | None:
        """The order's id on the marketplace; of several, the first."""
        return self.order_ids[0] if self.order_ids else None

    @property
    def open_payment(self) -> PaymentRequest | None:
        """The payment request that is open; one that has just ended is history."""
        is_open = self.payment is not None and self.payment.status in OPEN_REQUESTS
        return self.payment if is_open else None


@dataclass(frozen=True, slots=True)
class Cause:
    """Why an order changed, and the person who asked for it; None: the marketplace or a job."""

    name: str
    by: Person | None = None
