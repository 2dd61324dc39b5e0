"""Money over HTTP: buyers ask to pay and to be paid back, approvers decide."""

from datetime import UTC, datetime
from uuid import UUID

from tradewind import ids
from tradewind.audit.model import Actor
from tradewind.auth.model import Approver, Buyer
from tradewind.background.background_tasks import BackgroundTasks
from tradewind.errors import ResourceNotFound
from tradewind.orders import sql_lists
from tradewind.orders.errors import (
    AmountChanged,
    InvalidTransition,
    OwnRequest,
    RefundRefused,
    RefundTooLarge,
)
from tradewind.orders.model import Order, PaymentRequest
from tradewind.orders.payments import decide
from tradewind.orders.payments import refund as refunding
from tradewind.orders.payments.errors import ApproverNotIndependent, PaymentAccountLocked
from tradewind.orders.payments.modes import PayModes
from tradewind.orders.payments.request import request_payment, withdraw_payment
from tradewind.orders.payments.wire import (
    ApproveIn,
    PaymentIn,
    PaymentsQuery,
    PaymentWithOrderOut,
    RefundIn,
    RejectIn,
)
from tradewind.orders.routes import who
from tradewind.orders.wire import PaymentOut, RefundOut
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
from tradewind.web.idempotency import IdempotencyKey
from tradewind.web.paging import Page, PageQuery, page, read_cursor
from tradewind.web.request import Request
from tradewind.web.response import Response

routes = Routes("/v1/orders", tag="Payments")
approvals = Routes("/v1/payments", tag="Payments (approvers)")

# What has no time to be paid by comes last.
_NEVER = datetime(9998, 1, 1, tzinfo=UTC)


@routes.post(
    "/{id}/payment",
    status=201,
    returns=PaymentOut,
    errors=(ResourceNotFound, InvalidTransition, AmountChanged),
    headers={"Location": "The path of the order's payment requests, the new one first."},
)
async def request_order_payment(
    order_id: ids.OrderId,
    caller: Buyer,
    body: PaymentIn | None,
    once: IdempotencyKey | None,
    request: Request,
    modes: PayModes,
    db: Database,
) -> Response:
    """Ask for an order to be paid. Somebody else has to approve it.

    The request is for what the order costs now. If that changes before it is paid, the request is
    `superseded` and `payment_status` is `unpaid` again.
    """
    seen = body.amount_fen if body else None
    actor = Actor.of(caller, request)
    return await request_payment(db, actor, who(caller), order_id, modes, seen, once)


@routes.delete("/{id}/payment", returns=PaymentOut, errors=(ResourceNotFound, InvalidTransition))
async def withdraw_order_payment(
    order_id: ids.OrderId,
    caller: Buyer,
    once: IdempotencyKey | None,
    request: Request,
    db: Database,
) -> Response:
    """Take back a payment request that nobody has decided about yet."""
    return await withdraw_payment(db, Actor.of(caller, request), who(caller), order_id, once)


@routes.get("/{id}/payments", errors=(ResourceNotFound,))
async def list_order_payments(
    order_id: ids.OrderId, caller: Buyer, query: PageQuery, db: Database
) -> Page[PaymentOut]:
    """List every request to pay an order, newest first."""
    if await sql_lists.find_order(db, caller.account_id, order_id) is None:
        raise ResourceNotFound(ids.ORDER)
    found = await sql_lists.list_payments_of(
        db,
        caller.account_id,
        order_id,
        below=read_cursor("payments of an order", query.cursor, UUID),
        limit=query.limit + 1,
    )
    return page(
        "payments of an order",
        found,
        query.limit,
        key=lambda payment: payment.id,
        show=PaymentOut.of,
    )


@routes.post(
    "/{id}/refunds",
    status=201,
    returns=RefundOut,
    errors=(
        ResourceNotFound,
        InvalidTransition,
        RefundTooLarge,
        RefundRefused,
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
    once: IdempotencyKey,
    request: Request,
    platforms: Platforms,
    errands: BackgroundTasks,
    db: Database,
) -> Response:
    """Ask the seller for money back, all of it or a part.

    The refund is `requested` until the seller decides. `payment_status` becomes
    `partially_refunded` or `refunded` when the money is back.
    """
    return await refunding.ask_refund(
        db, platforms, errands, Actor.of(caller, request), who(caller), order_id, body, once
    )


@routes.get("/{id}/refunds", errors=(ResourceNotFound,))
async def list_refunds(order_id: ids.OrderId, caller: Buyer, db: Database) -> Page[RefundOut]:
    """List every refund of an order, newest first."""
    order = await sql_lists.find_order(db, caller.account_id, order_id)
    if order is None:
        raise ResourceNotFound(ids.ORDER)
    newest = [RefundOut.of(refund) for refund in reversed(order.refunds)]
    return Page(items=newest, has_more=False, next_cursor=None)


@approvals.get(expensive=True)
async def list_payments(
    caller: Approver, query: PaymentsQuery, db: Database
) -> Page[PaymentWithOrderOut]:
    """List payments of all accounts, with their orders.

    Without a filter it is the queue: what waits for a decision, those first that have the least
    time left before the platform closes the order. With one, the latest come first.
    """
    if query.status is None and query.order is None:
        waiting = await sql_lists.list_queue(
            db,
            after=read_cursor("payment queue", query.cursor, tuple[datetime, UUID]),
            limit=query.limit + 1,
        )
        return page("payment queue", waiting, query.limit, key=time_left, show=_shown)
    found = await sql_lists.list_payments(
        db,
        query.status,
        query.order_id,
        below=read_cursor("payments", query.cursor, UUID),
        limit=query.limit + 1,
    )
    return page("payments", found, query.limit, key=lambda pair: pair[0].id, show=_shown)


def time_left(pair: tuple[PaymentRequest, Order]) -> tuple[datetime, UUID]:
    payment, order = pair
    return order.pay_before or _NEVER, payment.id


def _shown(pair: tuple[PaymentRequest, Order]) -> PaymentWithOrderOut:
    return PaymentWithOrderOut.of_both(*pair)


@approvals.get("/{id}", errors=(ResourceNotFound,))
async def get_payment(
    payment_id: ids.PaymentId, caller: Approver, db: Database
) -> PaymentWithOrderOut:
    """Look at a payment request of any account, with its order."""
    found = await sql_lists.find_payment(db, payment_id)
    if found is None:
        raise ResourceNotFound(ids.PAYMENT)
    return _shown(found)


@approvals.post(
    "/{id}/approve",
    returns=PaymentWithOrderOut,
    errors=(
        ResourceNotFound,
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
    once: IdempotencyKey | None,
    request: Request,
    db: Database,
) -> Response:
    """Approve a payment that somebody else asked for.

    Send the `amount_cny` that you saw: if it is another by now, nothing is approved. What was
    approved is paid exactly once, and not at all if its amount changes first. While an operator has
    locked the account of the order, nothing of it can be approved.
    """
    seen = body.amount_fen if body else None
    return await decide.approve(db, Actor.of(caller, request), who(caller), payment_id, seen, once)


@approvals.post(
    "/{id}/reject",
    returns=PaymentWithOrderOut,
    errors=(ResourceNotFound, InvalidTransition, OwnRequest),
)
async def reject_payment(
    payment_id: ids.PaymentId,
    caller: Approver,
    body: RejectIn,
    once: IdempotencyKey | None,
    request: Request,
    db: Database,
) -> Response:
    """Reject a payment that somebody else asked for, and say why."""
    return await decide.reject(
        db, Actor.of(caller, request), who(caller), payment_id, body.reason, once
    )
