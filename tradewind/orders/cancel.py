"""Cancels orders: requests it from the marketplace, and waits for its confirmation."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from tradewind.audit.record import record
from tradewind.background.background_tasks import BackgroundTasks
from tradewind.errors import ApiError
from tradewind.observability.logs import log
from tradewind.orders import advance, decide, sql_leases
from tradewind.orders.advance import Advance, GiveBack
from tradewind.orders.errors import CancelRejected
from tradewind.orders.get_order import get_order, lock_order
from tradewind.orders.idempotency import PENDING, Idempotency
from tradewind.orders.lease import HELD, Lease
from tradewind.orders.model import Cause, Order, OrderStatus
from tradewind.orders.person import Person
from tradewind.orders.submit import retry_at
from tradewind.platforms.contract import Capability, Connector
from tradewind.platforms.failures import OutcomeUnknown, PlatformFailure, Rejected, Unavailable
from tradewind.platforms.model import PlatformOrder
from tradewind.platforms.registry import Platforms
from tradewind.storage.pool import Database
from tradewind.storage.transaction import transaction

_PATIENCE_SECONDS = 3.0
# A marketplace that has not cancelled by then never will.
_LAPSES = timedelta(minutes=10)
_OPEN = frozenset({OrderStatus.CREATING, OrderStatus.PENDING_PAYMENT, OrderStatus.UNKNOWN})


async def cancel(
    db: Database,
    platforms: Platforms,
    background_tasks: BackgroundTasks,
    by: Person,
    order_id: UUID,
    idempotency: Idempotency[Order],
) -> Order:
    """Request the cancellation of an order, and return the order: cancelled, or still open."""
    async with transaction(db) as tx:
        await idempotency.claim(tx)
        order = await lock_order(tx, by.id, order_id)
        if not order.cancel_requested:
            step = decide.cancel_requested(order, by)
            order = advance.to(tx, order, step, Cause("cancel", by))
            if by.agent_actor is not None:
                record(
                    tx,
                    by.agent_actor,
                    "order.cancel_requested",
                    account_id=order.account_id,
                    subject=order.reference,
                )
        idempotency.store(tx, order, pending=PENDING)
    rejections: list[Rejected] = []
    await background_tasks.within(_PATIENCE_SECONDS, _now(db, platforms, order, rejections))
    if rejections:
        async with transaction(db) as tx:
            await idempotency.release(tx)
        raise CancelRejected(rejections[0])
    stored = await get_order(db, by.id, order_id)
    await idempotency.replace(db, stored)
    return stored


async def _now(
    db: Database, platforms: Platforms, order: Order, rejections: list[Rejected]
) -> None:
    """Cancel at once if nobody else holds the order's lease; the worker does it otherwise."""
    try:
        connector = await platforms.connector(order.platform)
    except ApiError:  # it is no longer configured here: the worker waits until it is
        return
    lease = Lease()
    held = await sql_leases.take_lease(db, order.account_id, order.id, lease=lease.id, held=HELD)
    if held is None:
        return
    if not held.order_ids:
        await sql_leases.release(db, lease.id, held.id)
        return
    try:
        await carry_out(db, connector, held, lease)
    except Rejected as rejected:
        rejections.append(rejected)
    except PlatformFailure as failure:
        log.warning("order.not_cancelled_yet", order=order.reference, error=str(failure))


async def carry_out(db: Database, connector: Connector, order: Order, lease: Lease) -> None:
    """Cancel an order whose lease we hold on the marketplace; raise Rejected if it does not."""
    rejected: Rejected | None = None
    not_before = order.now
    lapsed = order.cancel_sent_at is not None and order.now - order.cancel_sent_at > _LAPSES
    if order.cancel_sent_at is None:
        try:
            await _request(db, connector, order, lease)
        except Rejected as failure:
            rejected = failure  # it may be closed already: its state decides
        except (OutcomeUnknown, Unavailable) as failure:  # read its state, and request it again
            log.warning("order.not_cancelled_yet", order=order.reference, code=failure.code)
            if isinstance(failure, Unavailable):
                not_before += timedelta(seconds=failure.retry_after)
    elif lapsed:
        rejected = Rejected(order.platform, "lapsed", "The marketplace never responded.")
    try:
        parts = await connector.read_many(order.order_ids)
    except PlatformFailure as failure:
        await sql_leases.give_back(db, lease.id, [(order, retry_at(order, failure))], synced=False)
        raise
    order = await _record(db, order, lease, parts, rejected, not_before)
    if rejected is not None and order.status in _OPEN:
        raise rejected


async def _request(db: Database, connector: Connector, order: Order, lease: Lease) -> None:
    """Request the cancellation of each part, and record that the marketplace took it.

    Requesting it twice is harmless, so requests that may not have arrived are repeated. A part
    that is cancelled already, and is therefore rejected now, does not stop the others.
    """
    if Capability.CANCEL not in connector.traits.capabilities:
        raise Rejected(
            order.platform, "not_supported", "This marketplace does not support cancelling."
        )
    rejections: list[Rejected] = []
    for order_id in order.order_ids:
        try:
            await connector.cancel(order_id)
        except Rejected as rejected:
            rejections.append(rejected)
    if rejections:
        raise rejections[0]
    await sql_leases.mark_cancel_sent(db, lease.id, order.id, sent=True)


async def _record(
    db: Database,
    order: Order,
    lease: Lease,
    parts: Sequence[PlatformOrder],
    rejected: Rejected | None,
    not_before: datetime,
) -> Order:
    """Save the state of the order there; while it is open, a rejection ends the cancellation.

    If it is still to be cancelled, the marketplace is asked again `not_before` that time.
    """

    def plan(latest: Order) -> Advance:
        planned = advance.by_platform(latest, parts, Cause("cancel"))
        if rejected is None or planned.end.status not in _OPEN:
            return planned
        return planned.then(decide.cancel_rejected(planned.end), Cause("cancel_refused"))

    def next_sync(after: Order) -> datetime | None:
        at = advance.next_sync(after)
        return max(at, not_before) if at is not None and after.cancel_requested else at

    if rejected is not None:
        await sql_leases.mark_cancel_sent(db, lease.id, order.id, sent=False)
    return await advance.record(db, order, GiveBack(lease.id, next_sync), plan)
