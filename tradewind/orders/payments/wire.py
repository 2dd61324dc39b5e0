"""Payments and refunds as JSON: what callers send, and what approvers see."""

from collections.abc import Iterator
from typing import Annotated
from uuid import UUID

from msgspec import Meta

from tradewind import ids, money
from tradewind.errors import FieldError, ValidationFailed
from tradewind.money import CnyIn
from tradewind.orders.model import Order, PaymentRequest, RequestStatus
from tradewind.orders.wire import OrderOut, PaymentOut, payment_fields
from tradewind.platforms.model import RefundKind
from tradewind.web.inputs import Input, read_amount
from tradewind.web.paging import PageQuery
from tradewind.web.validation import NOT_BLANK


class PaymentWithOrderOut(PaymentOut):
    """A request to pay, with the order that it is about."""

    order: OrderOut

    @staticmethod
    def of_both(request: PaymentRequest, order: Order) -> "PaymentWithOrderOut":
        return PaymentWithOrderOut(**payment_fields(request), order=OrderOut.of(order))


class PaymentsQuery(PageQuery):
    """Which payments to list."""

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
        if self.order is None:
            return None
        order_id = ids.ORDER.read(self.order)
        if order_id is None:
            raise ValidationFailed("?order", "This is not the id of an order.")
        return order_id


class PaymentIn(Input):
    """What the buyer looked at."""

    amount_cny: Annotated[
        CnyIn | None,
        Meta(description="If the order costs something else: 409 `amount_changed`."),
    ] = None

    @property
    def amount_fen(self) -> int | None:
        return read_amount("/amount_cny", self.amount_cny)


class ApproveIn(PaymentIn):
    """What the approver looked at."""


class RejectIn(Input):
    """Why not."""

    reason: Annotated[
        str, Meta(min_length=1, max_length=500, pattern=NOT_BLANK, examples=["Too expensive."])
    ]


class RefundIn(Input):
    """How much to ask back, and why."""

    type: RefundKind
    reason: Annotated[
        str, Meta(min_length=1, max_length=200, pattern=NOT_BLANK, examples=["damaged"])
    ]
    amount_cny: Annotated[
        CnyIn | None,
        Meta(
            description="For the goods. Left out: all that is left of the goods. 0 only "
            "with `freight_cny` above 0: for the freight alone."
        ),
    ] = None
    freight_cny: Annotated[CnyIn | None, Meta(description="For the freight, on top.")] = None
    note: Annotated[str, Meta(max_length=150, examples=["The box was open."])] | None = None
    order_id: Annotated[
        Annotated[str, Meta(max_length=100)] | None,
        Meta(
            description="Of an order that the platform split: of which part of it, by the "
            "platform's id.",
            examples=[None],
        ),
    ] = None

    @property
    def amount_fen(self) -> int | None:
        return read_amount("/amount_cny", self.amount_cny)

    @property
    def freight_fen(self) -> int | None:
        return read_amount("/freight_cny", self.freight_cny)

    def check_fields(self) -> Iterator[FieldError]:
        """Refuse a refund of nothing. An amount of 0 with freight above 0 is for freight alone."""
        if self.amount_cny == 0 and not self.freight_cny:
            message = (
                f"Must be more than {money.text(0)}; leave it out to ask for everything that is "
                "left."
            )
            yield FieldError("/amount_cny", message)
