"""Payment requests from rows: nested values are JSON."""

import asyncpg
import msgspec

from tradewind.orders.payments.model import Failure, PaymentRequest, PayMode, RequestStatus
from tradewind.orders.person import Person

# What a payment request is read from, in a query where it is `pay`.
COLUMNS = """
    pay.id AS pay_id, pay.status AS pay_status, pay.amount_fen AS pay_amount_fen,
    pay.sums AS pay_sums,
    pay.mode AS pay_mode, pay.requested_by AS pay_requested_by,
    pay.requested_email AS pay_requested_email, pay.requested_agent AS pay_requested_agent,
    pay.requested_at AS pay_requested_at,
    pay.note AS pay_note, pay.decided_by AS pay_decided_by, pay.decided_email AS pay_decided_email,
    pay.decided_at AS pay_decided_at, pay.reason AS pay_reason, pay.pay_url AS pay_pay_url,
    pay.sent_at AS pay_sent_at, pay.failure AS pay_failure
"""
_SUMS = msgspec.json.Decoder(dict[str, int])
FAILURE = msgspec.json.Decoder(Failure)


def read_payment(row: asyncpg.Record) -> PaymentRequest:
    decided_by, failure = row["pay_decided_by"], row["pay_failure"]
    return PaymentRequest(
        id=row["pay_id"],
        status=RequestStatus(row["pay_status"]),
        amount_fen=row["pay_amount_fen"],
        sums=_SUMS.decode(row["pay_sums"]),
        mode=PayMode(row["pay_mode"]),
        requested_by=Person(
            row["pay_requested_by"], row["pay_requested_email"], agent=row["pay_requested_agent"]
        ),
        requested_at=row["pay_requested_at"],
        note=row["pay_note"],
        decided_by=None if decided_by is None else Person(decided_by, row["pay_decided_email"]),
        decided_at=row["pay_decided_at"],
        reason=row["pay_reason"],
        pay_url=row["pay_pay_url"],
        sent_at=row["pay_sent_at"],
        failure=None if failure is None else FAILURE.decode(failure),
    )
