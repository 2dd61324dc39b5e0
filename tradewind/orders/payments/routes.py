"""Payments over HTTP: buyers request payments and refunds, approvers approve or reject."""

from functools import partial
from uuid import UUID

from msgspec import structs

from tradewind import ids
from tradewind.audit.model import Actor
from tradewind.auth.model import Approver, Buyer
from tradewind.background.background_tasks import BackgroundTasks
from tradewind.errors import existing
from tradewind.orders.errors import InvalidTransition
from tradewind.orders.get_order import get_order
from tradewind.orders.payments import approve as approving
from tradewind.orders.payments import refund as refunding
from tradewind.orders.payments import sql
from tradewind.orders.payments.errors import (
    AmountChanged,
    ApproverNotIndependent,
    OwnRequest,
    PaymentAccountLocked,
    RefundRejected,
    RefundTooLarge,
)
from tradewind.orders.payments.model import OrderRefund, PaymentRequest
from tradewind.orders.payments.modes import PayModes
from tradewind.orders.payments.request import request_payment, withdraw_payment
from tradewind.orders.payments.sql import OrderPayment
from tradewind.orders.payments.wire import (
    PAYMENT_QUEUE,
    PAYMENTS,
    ApproveIn,
    PaymentIn,
    PaymentOut,
    PaymentsQuery,
    RefundIn,
    RefundOut,
    RejectIn,
)
from tradewind.orders.person import Person
from tradewind.orders.wire import OrderOut
from tradewind.platforms.errors import (
    CapabilityNotSupported,
    PlatformAuthExpired,
    PlatformBusy,
    PlatformFailed,
    PlatformNotConfigured,
)
from tradewind.platforms.registry import Platforms
from tradewind.storage.pool import Database
from tradewind.web.endpoint import Routes
from tradewind.web.idempotency import IdempotencyKey, StoredResponse
from tradewind.web.paging import CursorList, Page, PageQuery
from tradewind.web.response import Response, location
from tradewind.web.scopes import FULL_ACCESS, Scope

routes = Routes("/v1/orders", tag="Payments")
approvals = Routes("/v1/payments", tag="Payments (approvers)")

_PAYMENTS_OF_ORDER: CursorList[PaymentRequest] = CursorList(
    "payments of an order", UUID, key=lambda payment: payment.id
)


class PaymentWithOrderOut(PaymentOut):
    """A request to pay, with the order that it is about."""

    order: OrderOut

    @staticmethod
    def of_both(payment: OrderPayment) -> "PaymentWithOrderOut":
        return PaymentWithOrderOut(
            **structs.asdict(PaymentOut.of(payment.request)), order=OrderOut.of(payment.order)
        )


@routes.post(
    "/{id}/payment",
    scope=Scope.PAY_REQUEST,
    status=201,
    returns=PaymentOut,
    errors=(InvalidTransition, AmountChanged),
    headers={"Location": "The path of the order's payment requests, the new one first."},
)
async def request_order_payment(
    order_id: ids.OrderId,
    caller: Buyer,
    body: PaymentIn | None,
    idempotency_key: IdempotencyKey | None,
    modes: PayModes,
    db: Database,
) -> Response:
    """Request the payment of an order. Another person has to approve it.

    The request is for what the order costs now. If that changes before it is paid, the request is
    `superseded` and `payment_status` is `unpaid` again. Whoever approves it sees the `note`.
    """

    def show(payment: PaymentRequest) -> Response:
        where = location("orders", ids.ORDER.show(order_id), "payments")
        return Response(PaymentOut.of(payment), 201, [where])

    actor, by = Actor.of(caller), Person.of(caller)
    amount_fen = body.amount_fen if body else None
    note = body.note_text if body else None
    stored = StoredResponse(idempotency_key, show)
    payment = await request_payment(db, actor, by, order_id, modes, amount_fen, stored, note=note)
    return stored.response(payment)


@routes.delete(
    "/{id}/payment", scope=Scope.PAY_REQUEST, returns=PaymentOut, errors=(InvalidTransition,)
)
async def withdraw_order_payment(
    order_id: ids.OrderId, caller: Buyer, idempotency_key: IdempotencyKey | None, db: Database
) -> Response:
    """Withdraw a payment request that is not approved or rejected yet."""

    def show(payment: PaymentRequest) -> Response:
        return Response(PaymentOut.of(payment), 200)

    actor, stored = Actor.of(caller), StoredResponse(idempotency_key, show)
    payment = await withdraw_payment(db, actor, Person.of(caller), order_id, stored)
    return stored.response(payment)


@routes.get("/{id}/payments", scope=Scope.READ)
async def list_order_payments(
    order_id: ids.OrderId, caller: Buyer, query: PageQuery, db: Database
) -> Page[PaymentOut]:
    """List every request to pay an order, newest first."""
    await get_order(db, caller.account_id, order_id)
    read = partial(sql.list_payments_of, db, caller.account_id, order_id)
    return await _PAYMENTS_OF_ORDER.page(query.cursor, query.limit, read, PaymentOut.of)


@routes.post(
    "/{id}/refunds",
    scope=Scope.PAY_REQUEST,
    status=201,
    returns=RefundOut,
    errors=(
        InvalidTransition,
        RefundTooLarge,
        RefundRejected,
        CapabilityNotSupported,
        PlatformNotConfigured,
        PlatformFailed,
        PlatformBusy,
        PlatformAuthExpired,
    ),
    headers={"Location": "The path of the order's refunds, the new one first."},
)
async def request_refund(
    order_id: ids.OrderId,
    caller: Buyer,
    body: RefundIn,
    idempotency_key: IdempotencyKey,
    platforms: Platforms,
    background_tasks: BackgroundTasks,
    db: Database,
) -> Response:
    """Request a refund from the seller, of all or a part.

    The refund is `requested` until the seller decides. `payment_status` becomes
    `partially_refunded` or `refunded` when the money is back.
    """

    def show(refund: OrderRefund) -> Response:
        where = location("orders", ids.ORDER.show(order_id), "refunds")
        return Response(RefundOut.of(refund), 201, [where])

    actor, by = Actor.of(caller), Person.of(caller)
    stored = StoredResponse(idempotency_key, show)
    refund = await refunding.request_refund(
        db, platforms, background_tasks, actor, by, order_id, body.refund(), stored
    )
    return stored.response(refund)


@routes.get("/{id}/refunds", scope=Scope.READ)
async def list_refunds(order_id: ids.OrderId, caller: Buyer, db: Database) -> Page[RefundOut]:
    """List every refund of an order, newest first."""
    order = await get_order(db, caller.account_id, order_id)
    newest = [RefundOut.of(refund) for refund in reversed(order.refunds)]
    return Page(items=newest, has_more=False, next_cursor=None)


@approvals.get(scope=Scope.READ, expensive=True)
async def list_payments(
    caller: Approver, query: PaymentsQuery, db: Database
) -> Page[PaymentWithOrderOut]:
    """List payments of all accounts, with their orders.

    Without a filter it is the queue: what waits for approval, the least time left before the
    platform closes the order first. With a filter, the newest come first.
    """
    if query.status is None and query.order is None:
        listed, read = PAYMENT_QUEUE, partial(sql.list_queue, db)
    else:
        listed, read = PAYMENTS, partial(sql.list_payments, db, query.status, query.order_id)
    return await listed.page(query.cursor, query.limit, read, PaymentWithOrderOut.of_both)


@approvals.get("/{id}", scope=Scope.READ)
async def get_payment(
    payment_id: ids.PaymentId, caller: Approver, db: Database
) -> PaymentWithOrderOut:
    """Get a payment request of any account, with its order."""
    payment = existing(await sql.find_payment(db, payment_id), ids.PAYMENT)
    return PaymentWithOrderOut.of_both(payment)


def _decided(payment: OrderPayment) -> Response:
    return Response(PaymentWithOrderOut.of_both(payment), 200)


@approvals.post(
    "/{id}/approve",
    scope=FULL_ACCESS,
    returns=PaymentWithOrderOut,
    errors=(
        InvalidTransition,
        OwnRequest,
        ApproverNotIndependent,
        PaymentAccountLocked,
        AmountChanged,
    ),
)
async def approve_payment(
    payment_id: ids.PaymentId,
    caller: Approver,
    body: ApproveIn | None,
    idempotency_key: IdempotencyKey | None,
    db: Database,
) -> Response:
    """Approve a payment that another person requested.

    Send the `amount_cny` that you saw: if it is another by now, nothing is approved. What was
    approved is paid exactly once, and not at all if its amount changes first. While an operator has
    locked the account of the order, nothing of it can be approved.
    """
    actor, by = Actor.of(caller), Person.of(caller)
    amount_fen = body.amount_fen if body else None
    stored = StoredResponse(idempotency_key, _decided)
    payment = await approving.approve(db, actor, by, payment_id, amount_fen, stored)
    return stored.response(payment)


@approvals.post(
    "/{id}/reject",
    scope=FULL_ACCESS,
    returns=PaymentWithOrderOut,
    errors=(InvalidTransition, OwnRequest),
)
async def reject_payment(
    payment_id: ids.PaymentId,
    caller: Approver,
    body: RejectIn,
    idempotency_key: IdempotencyKey | None,
    db: Database,
) -> Response:
    """Reject a payment that another person requested, with a reason."""
    actor, by = Actor.of(caller), Person.of(caller)
    stored = StoredResponse(idempotency_key, _decided)
    payment = await approving.reject(db, actor, by, payment_id, body.reason, stored)
    return stored.response(payment)
