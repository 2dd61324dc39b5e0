"""Orders to and from rows: nested values are JSON, read back into the types they were."""

from typing import Any
from uuid import UUID

import asyncpg
import msgspec

from tradewind.orders.model import (
    OPEN_REQUESTS,
    Failure,
    Order,
    OrderRefund,
    PaymentRequest,
    PaymentStatus,
    PayMode,
    RequestStatus,
    Status,
    Who,
)
from tradewind.platforms.model import Address, CloseReason, Line, PaymentState, PlatformOrder
from tradewind.web.response import encode

_LINES = msgspec.json.Decoder(list[Line])
_ADDRESS = msgspec.json.Decoder(Address)
_METADATA = msgspec.json.Decoder(dict[str, str])
_PARTS = msgspec.json.Decoder(list[PlatformOrder])
_REFUNDS = msgspec.json.Decoder(list[OrderRefund])
_SUMS = msgspec.json.Decoder(dict[str, int])
_FAILURE = msgspec.json.Decoder(Failure)


def to_json(value: Any) -> str:
    return encode(value).decode()


def to_json_or_none(value: Any) -> str | None:
    return None if value is None else to_json(value)


def tracking_numbers(value: Order) -> list[str]:
    """What an order can be found by once it is shipped."""
    found = (parcel.tracking_number for part in value.parts for parcel in part.shipments)
    return sorted({number for number in found if number})


def open_payment(value: Order) -> UUID | None:
    """The id of the request that is still open, if there is one."""
    request = value.payment
    return request.id if request is not None and request.status in OPEN_REQUESTS else None


def order(row: asyncpg.Record) -> Order:
    """An order, with its open payment request where the row was joined with it."""
    return Order(
        id=row["id"],
        account_id=row["account_id"],
        platform=row["platform"],
        lines=_LINES.decode(row["items"]),
        address=_ADDRESS.decode(row["address"]),
        remark=row["remark"],
        external_id=row["external_id"],
        metadata=_METADATA.decode(row["metadata"]),
        expected_fen=row["expected_fen"],
        previewed=row["previewed"],
        status=Status(row["status"]),
        payment_status=PaymentStatus(row["payment_status"]),
        platform_payment_status=PaymentState(row["platform_payment_status"]),
        platform_status=row["platform_status"],
        goods_fen=row["goods_fen"],
        freight_fen=row["freight_fen"],
        discount_fen=row["discount_fen"],
        total_fen=row["total_fen"],
        paid_fen=row["paid_fen"],
        refunded_fen=row["refunded_fen"],
        parts=_PARTS.decode(row["parts"]),
        order_ids=row["order_ids"],
        refunds=_REFUNDS.decode(row["refunds"]),
        payment=None if row["pay_status"] is None else payment(row, "pay_"),
        failure=None if row["failure"] is None else _FAILURE.decode(row["failure"]),
        cancel_requested=row["cancel_requested"],
        dispute=row["dispute"],
        paid_outside=row["paid_outside"],
        close_reason=None if row["close_reason"] is None else CloseReason(row["close_reason"]),
        pay_before=row["pay_before"],
        created_at=row["created_at"],
        updated_at=row["updated_at"],
        version=row["version"],
        next_sync_at=row["next_sync_at"],
        synced_at=row["synced_at"],
        sync_failures=row["sync_failures"],
        create_sent_at=row["create_sent_at"],
        cancel_sent_at=row["cancel_sent_at"],
        now=row["now"],
        hints=row["hints"],
    )


def payment(row: asyncpg.Record, lead: str = "") -> PaymentRequest:
    """A payment request from the columns that begin with `lead`."""
    decided_by, failure = row[f"{lead}decided_by"], row[f"{lead}failure"]
    return PaymentRequest(
        id=row[f"{lead}id"],
        status=RequestStatus(row[f"{lead}status"]),
        amount_fen=row[f"{lead}amount_fen"],
        sums=_SUMS.decode(row[f"{lead}sums"]),
        mode=PayMode(row[f"{lead}mode"]),
        requested_by=Who(row[f"{lead}requested_by"], row[f"{lead}requested_email"]),
        requested_at=row[f"{lead}requested_at"],
        decided_by=None if decided_by is None else Who(decided_by, row[f"{lead}decided_email"]),
        decided_at=row[f"{lead}decided_at"],
        reason=row[f"{lead}reason"],
        pay_url=row[f"{lead}pay_url"],
        sent_at=row[f"{lead}sent_at"],
        failure=None if failure is None else _FAILURE.decode(failure),
    )
