"""Payments and refunds as JSON: what callers send, and what they get."""

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated
from uuid import UUID

from msgspec import Meta

from tradewind import clock, ids, money
from tradewind.errors import FieldError
from tradewind.money import Cny, CnyIn
from tradewind.orders.payments.model import (
    Failure,
    NewRefund,
    OrderRefund,
    PaymentRequest,
    PayMode,
    RequestStatus,
)
from tradewind.orders.payments.sql import OrderPayment
from tradewind.orders.person import Person
from tradewind.platforms.model import RefundKind, RefundState
from tradewind.web.inputs import Input, Output, id_text, read_amount, read_id
from tradewind.web.paging import CursorList, PageCursor, PageLimit
from tradewind.web.validation import NOT_BLANK

_Time = clock.Timestamp


class FailureOut(Output):
    """Why it was rejected for good."""

    code: Annotated[str, Meta(examples=["out_of_stock"])]
    message: Annotated[str, Meta(examples=["Not enough in stock."])]

    @staticmethod
    def of(failure: Failure | None) -> "FailureOut | None":
        return None if failure is None else FailureOut(code=failure.code, message=failure.message)


class PersonOut(Output):
    """An account, with the e-mail that it had then."""

    account_id: Annotated[str, Meta(examples=["acc_06EJ4KQZC5T9XN4R5ZJ2V7M8QW"])]
    email: Annotated[str, Meta(examples=["buyer@example.com"])]
    agent: Annotated[
        str | None,
        Meta(description="The program that acted for it, if it gave its name.", examples=[None]),
    ]

    @staticmethod
    def of(person: Person) -> "PersonOut":
        return PersonOut(
            account_id=ids.ACCOUNT.show(person.id), email=person.email, agent=person.agent
        )

    @staticmethod
    def or_none(person: Person | None) -> "PersonOut | None":
        return None if person is None else PersonOut.of(person)


class RefundOut(Output):
    """A refund. `failure` is there when the platform never got it."""

    id: Annotated[str, id_text(ids.REFUND)]
    platform_refund_id: Annotated[str | None, Meta(examples=["TQ1688000000001"])]
    order_id: Annotated[str, Meta(examples=["1688000000001"])]
    status: RefundState
    type: RefundKind | None
    amount_cny: Cny
    freight_cny: Annotated[Cny, Meta(examples=[0.0])]
    reason: Annotated[str | None, Meta(examples=["damaged"])]
    note: Annotated[str | None, Meta(examples=["The box was open."])]
    failure: Annotated[FailureOut | None, Meta(examples=[None])]
    requested_at: _Time
    updated_at: _Time

    @staticmethod
    def of(refund: OrderRefund) -> "RefundOut":
        return RefundOut(
            id=ids.REFUND.show(refund.id),
            platform_refund_id=refund.platform_id,
            order_id=refund.order_id,
            status=refund.state,
            type=refund.kind,
            amount_cny=money.show(refund.amount_fen),
            freight_cny=money.show(refund.freight_fen),
            reason=refund.reason,
            note=refund.note,
            failure=FailureOut.of(refund.failure),
            requested_at=clock.show(refund.requested_at),
            updated_at=clock.show(refund.updated_at),
        )


class PaymentOut(Output):
    """A request to pay an order, and what became of it."""

    id: Annotated[str, id_text(ids.PAYMENT)]
    status: Annotated[RequestStatus, Meta(examples=["paid"])]
    amount_cny: Cny
    mode: PayMode
    requested_by: PersonOut
    requested_at: _Time
    note: Annotated[
        str | None,
        Meta(
            description="Why it is requested, in the requester's words.",
            examples=["Restock for the pop-up store."],
        ),
    ]
    decided_by: Annotated[
        PersonOut | None,
        Meta(
            description="Who approved, rejected or withdrew it.",
            examples=[
                {
                    "account_id": "acc_06EJ4KR01AB8G2W7KM3N5P9QTV",
                    "email": "approver@example.com",
                    "agent": None,
                }
            ],
        ),
    ]
    decided_at: Annotated[_Time | None, Meta(description="When they did.")]
    reason: Annotated[
        str | None,
        Meta(
            description="Of a rejection in the approver's words; of `superseded` one of "
            "`amount_changed`, `paid_outside`, `order_closed`.",
            examples=[None],
        ),
    ]
    pay_url: Annotated[
        str | None, Meta(description="Where a person pays, in pay mode `link`.", examples=[None])
    ]
    failure: Annotated[FailureOut | None, Meta(examples=[None])]

    @staticmethod
    def of(request: PaymentRequest) -> "PaymentOut":
        return PaymentOut(
            id=ids.PAYMENT.show(request.id),
            status=request.status,
            amount_cny=money.show(request.amount_fen),
            mode=request.mode,
            requested_by=PersonOut.of(request.requested_by),
            requested_at=clock.show(request.requested_at),
            note=request.note,
            decided_by=PersonOut.or_none(request.decided_by),
            decided_at=clock.show_or_none(request.decided_at),
            reason=request.reason,
            pay_url=request.pay_url,
            failure=FailureOut.of(request.failure),
        )

    @staticmethod
    def or_none(request: PaymentRequest | None) -> "PaymentOut | None":
        return None if request is None else PaymentOut.of(request)


class PaymentFilters(Input):
    """Which payments."""

    status: Annotated[
        list[RequestStatus] | None,
        Meta(
            description="Any of these, by comma or repeated; the latest first. Without `status` "
            "and `order`, the queue: `pending_approval`, the most urgent first."
        ),
    ] = None
    order: Annotated[
        Annotated[str, Meta(pattern=ids.ORDER.pattern)] | None,
        Meta(description="Requests to pay this order; the latest first."),
    ] = None

    @property
    def order_id(self) -> UUID | None:
        return read_id(ids.ORDER, "?order", self.order)


class PaymentsQuery(PaymentFilters):
    """Which payments to list."""

    limit: PageLimit = 20
    cursor: PageCursor = None


class SeenAmountIn(Input):
    """The amount that the caller saw."""

    amount_cny: Annotated[
        CnyIn | None,
        Meta(description="If the order costs something else: 409 `amount_changed`."),
    ] = None

    @property
    def amount_fen(self) -> int | None:
        return read_amount("/amount_cny", self.amount_cny)


class PaymentIn(SeenAmountIn):
    """The amount that the buyer saw, and why it should be paid."""

    note: Annotated[
        Annotated[str, Meta(max_length=500)] | None,
        Meta(
            description="For whoever approves it.",
            examples=["Restock for the pop-up store, needed before 2 December."],
        ),
    ] = None

    @property
    def note_text(self) -> str | None:
        """The note without the spaces around it; None if it is empty."""
        return (self.note or "").strip() or None


class ApproveIn(SeenAmountIn):
    """The amount that the approver saw."""


class RejectIn(Input):
    """Why it is rejected."""

    reason: Annotated[
        str, Meta(min_length=1, max_length=500, pattern=NOT_BLANK, examples=["Too expensive."])
    ]


class RefundIn(Input):
    """How much to refund, and why."""

    type: RefundKind
    reason: Annotated[
        str, Meta(min_length=1, max_length=200, pattern=NOT_BLANK, examples=["damaged"])
    ]
    amount_cny: Annotated[
        CnyIn | None,
        Meta(
            description="For the goods. Left out: all that is left of the goods. 0 only "
            "with `freight_cny` above 0: for the freight alone.",
            examples=[10.0],
        ),
    ] = None
    freight_cny: Annotated[
        CnyIn | None, Meta(description="For the freight, on top.", examples=[None])
    ] = None
    note: Annotated[str, Meta(max_length=150, examples=["The box was open."])] | None = None
    order_id: Annotated[
        Annotated[str, Meta(max_length=100)] | None,
        Meta(
            description="Of an order that the platform split: of which part of it, by the "
            "platform's id.",
            examples=[None],
        ),
    ] = None

    def refund(self) -> NewRefund:
        return NewRefund(
            kind=self.type,
            reason=self.reason,
            amount_fen=read_amount("/amount_cny", self.amount_cny),
            freight_fen=read_amount("/freight_cny", self.freight_cny),
            note=self.note,
            order_id=self.order_id,
        )

    def check_fields(self) -> Iterator[FieldError]:
        """Reject a refund of nothing. An amount of 0 with freight above 0 is for freight alone."""
        if self.amount_cny == 0 and not self.freight_cny:
            message = (
                f"Must be more than {money.text(0)}; leave it out to request everything that is "
                "left."
            )
            yield FieldError("/amount_cny", message)


PAYMENTS: CursorList[OrderPayment] = CursorList("payments", UUID, key=lambda pair: pair.request.id)
PAYMENT_QUEUE: CursorList[OrderPayment] = CursorList(
    "payment queue", tuple[datetime, UUID], key=lambda pair: pair.queue_key
)
