"""Orders to and from rows: nested values are JSON, read back into the types they were."""

from time import monotonic

import asyncpg
import msgspec

from tradewind.orders.model import Order, OrderStatus
from tradewind.orders.payments.model import OrderRefund, PaymentStatus
from tradewind.orders.payments.rows import COLUMNS as PAYMENT_COLUMNS
from tradewind.orders.payments.rows import FAILURE, read_payment
from tradewind.platforms.model import Address, CloseReason, Line, PaymentState, PlatformOrder

# What an order is read from, in a query where it is `o` and its open payment request is `pay`.
COLUMNS = f"""
    o.id, o.account_id, o.platform, o.external_id, o.items, o.address, o.remark, o.metadata,
    o.expected_fen, o.previewed, o.status, o.payment_status, o.platform_payment_status,
    o.platform_status, o.goods_fen, o.freight_fen, o.discount_fen, o.total_fen, o.paid_fen,
    o.refunded_fen, o.parts, o.order_ids, o.refunds, o.failure, o.cancel_requested, o.dispute,
    o.paid_outside, o.close_reason, o.pay_before, o.created_at, o.updated_at, o.version,
    o.next_sync_at, o.synced_at, o.sync_failures, o.create_sent_at, o.cancel_sent_at, o.hints,
    tradewind_now() AS now, {PAYMENT_COLUMNS}
"""
# The columns that are fields of an order as they are.
_PLAIN = (
    *("id", "account_id", "platform", "external_id", "remark", "expected_fen", "previewed"),
    *("platform_status", "goods_fen", "freight_fen", "discount_fen", "total_fen", "paid_fen"),
    *("refunded_fen", "order_ids", "cancel_requested", "dispute", "paid_outside", "pay_before"),
    *("created_at", "updated_at", "version", "next_sync_at", "synced_at", "sync_failures"),
    *("create_sent_at", "cancel_sent_at", "hints", "now"),
)
_LINES = msgspec.json.Decoder(list[Line])
_ADDRESS = msgspec.json.Decoder(Address)
_METADATA = msgspec.json.Decoder(dict[str, str])
_PARTS = msgspec.json.Decoder(list[PlatformOrder])
_REFUNDS = msgspec.json.Decoder(list[OrderRefund])


def to_json(value: object) -> str:
    return msgspec.json.encode(value).decode()


def tracking_numbers(order: Order) -> list[str]:
    """List what an order can be found by once it is shipped."""
    numbers = (parcel.tracking_number for part in order.parts for parcel in part.shipments)
    return sorted({number for number in numbers if number})


def read_order(row: asyncpg.Record) -> Order:
    """An order, with its open payment request where the row was joined with it."""
    failure, close_reason = row["failure"], row["close_reason"]
    return Order(
        **{name: row[name] for name in _PLAIN},
        lines=_LINES.decode(row["items"]),
        address=_ADDRESS.decode(row["address"]),
        metadata=_METADATA.decode(row["metadata"]),
        status=OrderStatus(row["status"]),
        payment_status=PaymentStatus(row["payment_status"]),
        platform_payment_status=PaymentState(row["platform_payment_status"]),
        parts=_PARTS.decode(row["parts"]),
        refunds=_REFUNDS.decode(row["refunds"]),
        payment=None if row["pay_status"] is None else read_payment(row),
        failure=None if failure is None else FAILURE.decode(failure),
        close_reason=None if close_reason is None else CloseReason(close_reason),
        read_at=monotonic(),
    )
