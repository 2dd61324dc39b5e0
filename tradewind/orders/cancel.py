"""Cancels orders: asks the platform, and waits for it to say that it is done."""

import random
from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from tradewind import ids
from tradewind.background.background_tasks import BackgroundTasks
from tradewind.errors import ApiError, ResourceNotFound
from tradewind.observability.logs import log
from tradewind.orders import advance, decide, sql, sql_leases, sql_lists
from tradewind.orders.errors import CancelRefused
from tradewind.orders.lease import HELD, Lease
from tradewind.orders.model import Cause, Order, Status, Who
from tradewind.orders.schedule import next_look
from tradewind.orders.submit import retry_at
from tradewind.orders.wire import OrderOut
from tradewind.platforms.contract import Capability, Connector
from tradewind.platforms.failures import OutcomeUnknown, PlatformFailure, Rejected, Unavailable
from tradewind.platforms.model import PlatformOrder
from tradewind.platforms.registry import Platforms
from tradewind.storage.pool import Database
from tradewind.storage.transaction import transaction
from tradewind.web import idempotency
from tradewind.web.idempotency import PENDING, IdempotencyKey
from tradewind.web.response import Response

_PATIENCE_SECONDS = 3.0
# A platform that has not cancelled by then never will.
_LAPSES = timedelta(minutes=10)
_OPEN = frozenset({Status.CREATING, Status.PENDING_PAYMENT, Status.UNKNOWN})


async def cancel(
    db: Database,
    platforms: Platforms,
    errands: BackgroundTasks,
    by: Who,
    order_id: UUID,
    once: IdempotencyKey | None,
) -> Response:
    """Ask to cancel: 200 when it is done, 202 when the platform has yet to say."""
    async with transaction(db) as tx:
        await idempotency.claim(tx, once)
        order = await sql.lock_order(tx, by.id, order_id)
        if order is None:
            raise ResourceNotFound(ids.ORDER)
        if not order.cancel_requested:
            order = await advance.to(tx, order, decide.cancel_asked(order, by), Cause("cancel", by))
        await idempotency.keep(tx, once, _answer(order), pending=PENDING)
    refused: list[Rejected] = []
    await errands.within(_PATIENCE_SECONDS, _now(db, platforms, order, refused))
    if refused:
        async with transaction(db) as tx:
            await idempotency.release(tx, once)
        raise CancelRefused(refused[0])
    found = await sql_lists.find_order(db, by.id, order_id)
    if found is None:
        raise ResourceNotFound(ids.ORDER)
    return await idempotency.replace(db, once, _answer(found))


def _answer(order: Order) -> Response:
    return Response(OrderOut.of(order), 200 if order.status is Status.CANCELLED else 202)


async def _now(db: Database, platforms: Platforms, order: Order, refused: list[Rejected]) -> None:
    """Do it at once if nobody else deals with the order; the worker does it otherwise."""
    try:
        connector = await platforms.connector(order.platform)
    except ApiError:  # it is no longer set up here: the worker waits until it is
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
    except Rejected as never:
        refused.append(never)
    except PlatformFailure as failure:
        log.warning("order.not_cancelled_yet", order=order.reference, error=str(failure))


async def carry_out(db: Database, connector: Connector, order: Order, lease: Lease) -> None:
    """Have an order that we hold cancelled on the platform. Rejected: the platform refuses to."""
    refusal: Rejected | None = None
    not_before = order.now
    lapsed = order.cancel_sent_at is not None and order.now - order.cancel_sent_at > _LAPSES
    if order.cancel_sent_at is None:
        try:
            await _ask(db, connector, order, lease)
        except Rejected as never:
            refusal = never  # it may be closed already: the order itself tells
        except (
            OutcomeUnknown,
            Unavailable,
        ) as failure:  # not now, or nobody knows: look, and ask again
            log.warning("order.not_cancelled_yet", order=order.reference, code=failure.code)
            if isinstance(failure, Unavailable):
                not_before += timedelta(seconds=failure.retry_after)
    elif lapsed:
        refusal = Rejected(order.platform, "lapsed", "The platform never answered.")
    try:
        news = await connector.read_many(order.order_ids)
    except PlatformFailure as failure:
        await sql_leases.finish(db, lease.id, [(order, retry_at(order, failure))], heard=False)
        raise
    refusal = await _record(db, order, lease, news, refusal, not_before)
    if refusal is not None:
        raise refusal


async def _ask(db: Database, connector: Connector, order: Order, lease: Lease) -> None:
    """Ask for each part, and write down that the platform took it.

    Asking twice does no harm. What may not have been taken is therefore asked for again, and a
    part that was cancelled before, and so is refused now, does not keep the others from it.
    """
    if Capability.CANCEL not in connector.traits.capabilities:
        raise Rejected(order.platform, "not_supported", "This platform cancels nothing.")
    refusals: list[Rejected] = []
    for order_id in order.order_ids:
        try:
            await connector.cancel(order_id)
        except Rejected as never:
            refusals.append(never)
    if refusals:
        raise refusals[0]
    await sql_leases.mark_cancel_sent(db, lease.id, order.id, sent=True)


async def _record(
    db: Database,
    order: Order,
    lease: Lease,
    news: Sequence[PlatformOrder],
    refusal: Rejected | None,
    not_before: datetime,
) -> Rejected | None:
    """Bring the order to where it is there; whether the refusal stands.

    If it is still to be cancelled, that is `not_before` the platform wants to be asked again.
    """
    async with transaction(db) as tx:
        locked = await sql.lock_order(tx, None, order.id)
        if locked is None:
            return refusal
        order = await advance.by_news(tx, locked, news, Cause("cancel"))
        stands = refusal if order.status in _OPEN else None
        if stands is not None:
            order = await advance.to(
                tx, order, decide.cancel_refused(order), Cause("cancel_refused")
            )
    if stands is not None:
        await sql_leases.mark_cancel_sent(db, lease.id, order.id, sent=False)
    at = next_look(order, order.now, random.random())  # noqa: S311 - it only spreads the load
    if at is not None and order.cancel_requested:
        at = max(at, not_before)
    await sql_leases.finish(db, lease.id, [(order, at)], heard=True)
    return stands
