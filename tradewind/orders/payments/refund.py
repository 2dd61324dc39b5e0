"""Requests refunds from the seller."""

import asyncio
from dataclasses import dataclass, field
from uuid import UUID

from tradewind import ids, money
from tradewind.audit.model import Actor
from tradewind.audit.record import record
from tradewind.background.background_tasks import BackgroundTasks
from tradewind.errors import ValidationFailed
from tradewind.observability.logs import log
from tradewind.orders import advance, sql, sql_leases, sql_lists
from tradewind.orders.get_order import get_order, lock_order
from tradewind.orders.idempotency import PENDING, Idempotency
from tradewind.orders.model import Cause, Order
from tradewind.orders.payments import decide
from tradewind.orders.payments.errors import RefundRejected, RefundTooLarge
from tradewind.orders.payments.model import Failure, NewRefund, OrderRefund
from tradewind.orders.person import Person
from tradewind.orders.rollup import GOT_MONEY
from tradewind.orders.sync import sync_topic
from tradewind.platforms.contract import Capability, Connector
from tradewind.platforms.errors import CapabilityNotSupported, api_error
from tradewind.platforms.failures import OutcomeUnknown, PlatformFailure, Rejected
from tradewind.platforms.model import PlatformOrder, RefundKind, RefundRequest, RefundState
from tradewind.platforms.registry import Platforms
from tradewind.storage.pool import Database
from tradewind.storage.transaction import transaction

_PATIENCE_SECONDS = 5.0
_COUNTS = frozenset({RefundState.REQUESTED, RefundState.APPROVED, RefundState.SUCCEEDED})


async def request_refund(
    db: Database,
    platforms: Platforms,
    background_tasks: BackgroundTasks,
    actor: Actor,
    by: Person,
    order_id: UUID,
    wanted: NewRefund,
    idempotency: Idempotency[OrderRefund],
) -> OrderRefund:
    """Store a refund, then request it from the marketplace; return it as it is by then."""
    stored = await get_order(db, by.id, order_id)
    connector = await platforms.connector(stored.platform)
    async with transaction(db) as tx:
        await idempotency.claim(tx)
        order = await lock_order(tx, by.id, order_id)
        decide.must_be_refundable(order, by)
        if Capability.REFUND not in connector.traits.capabilities:
            raise CapabilityNotSupported(order.platform, Capability.REFUND)
        refund = _new(order, wanted)
        step = decide.refund_requested(order, refund, by)
        order = advance.to(tx, order, step, Cause("refund_requested", by))
        record(
            tx,
            actor,
            "refund.requested",
            account_id=order.account_id,
            subject=ids.REFUND.show(refund.id),
            order=order.reference,
            amount_fen=refund.amount_fen + refund.freight_fen,
        )
        idempotency.store(tx, refund, pending=PENDING)
    progress = _Progress()
    sending = _send(db, connector, order, refund, idempotency, progress)
    if not await background_tasks.within(_PATIENCE_SECONDS, sending):
        if progress.failure is None:
            progress.is_returned = True
        else:
            await progress.settled.wait()
    latest = await _latest(db, by, order_id, refund)
    if latest is None and progress.failure is not None:
        failure = progress.failure
        raise RefundRejected(failure) if isinstance(failure, Rejected) else api_error(failure)
    await idempotency.replace(db, latest or refund)
    return latest or refund


@dataclass(slots=True)
class _Progress:
    """What the use case and the call to the marketplace know of each other.

    Each sets its flag without an await after its check: either the refund is returned as requested,
    and it stays, or a failure removes it, and the failure is raised instead.
    """

    is_returned: bool = False
    failure: PlatformFailure | None = None
    settled: asyncio.Event = field(default_factory=asyncio.Event)


async def _latest(
    db: Database, by: Person, order_id: UUID, refund: OrderRefund
) -> OrderRefund | None:
    """Return the refund as it is now; None: it was removed."""
    order = await sql_lists.find_order(db, by.id, order_id)
    return next((r for r in order.refunds if r.id == refund.id), None) if order else None


async def _send(
    db: Database,
    connector: Connector,
    order: Order,
    refund: OrderRefund,
    idempotency: Idempotency[OrderRefund],
    progress: _Progress,
) -> None:
    """Request the refund. One that fails is removed, unless it was returned to the buyer."""
    request = RefundRequest(
        refund.order_id,
        refund.kind or RefundKind.REFUND_ONLY,
        refund.amount_fen,
        refund.freight_fen,
        refund.reason or "",
        refund.note,
    )
    try:
        platform_id = await connector.refund(request)
    except OutcomeUnknown as unknown:
        log.warning("refund.unknown", order=order.reference, code=unknown.code)
        await sql_leases.hint(db, order.platform, [refund.order_id])
        db.wakeups.announce(sync_topic(order.platform))
        return
    except PlatformFailure as failure:
        if not progress.is_returned:
            progress.failure = failure
        try:
            await _fail(db, order, refund, idempotency, failure, is_returned=progress.is_returned)
        finally:
            progress.settled.set()
        return
    async with transaction(db) as tx:
        locked = await sql.lock_order(tx, None, order.id)
        if locked is not None:
            step = decide.refund_accepted(locked, refund.id, platform_id, locked.now)
            advance.to(tx, locked, step, Cause("refund_accepted"))


async def _fail(
    db: Database,
    order: Order,
    refund: OrderRefund,
    idempotency: Idempotency[OrderRefund],
    failure: PlatformFailure,
    *,
    is_returned: bool,
) -> None:
    async with transaction(db) as tx:
        locked = await sql.lock_order(tx, None, order.id)
        if locked is not None and is_returned:
            reason = Failure(failure.code, failure.message)
            step = decide.refund_failed(locked, refund.id, reason, locked.now)
            advance.to(tx, locked, step, Cause("refund_refused"))
        elif locked is not None:
            step = decide.refund_dropped(locked, refund.id)
            advance.to(tx, locked, step, Cause("refund_refused"))
        if not is_returned:
            await idempotency.release(tx)


def _new(order: Order, wanted: NewRefund) -> OrderRefund:
    part = _part(order, wanted.order_id)
    goods, freight = _amounts(order, part, wanted)
    if goods + freight == 0 and decide.refundable_of(order, part) > 0:
        raise ValidationFailed(
            "/freight_cny",
            "The goods are refunded or requested already, only freight is left; a refund must be "
            f"of more than {money.text(0)}.",
        )
    return OrderRefund(
        id=ids.new(),
        platform_id=None,
        order_id=part.id,
        state=RefundState.REQUESTED,
        kind=wanted.kind,
        amount_fen=goods,
        freight_fen=freight,
        reason=wanted.reason,
        note=wanted.note,
        failure=None,
        requested_at=order.now,
        updated_at=order.now,
    )


def _part(order: Order, order_id: str | None) -> PlatformOrder:
    """Return the part of the order that the refund is for."""
    paid = [part for part in order.parts if part.payment in GOT_MONEY]
    matching = [part for part in paid if order_id in (None, part.id)]
    if len(matching) == 1:
        return matching[0]
    paid_ids = ", ".join(part.id for part in paid)
    problem = "Is required: send one" if order_id is None else "Is no paid order: send one"
    message = f"{problem} of the orders that it was split into: {paid_ids}."
    raise ValidationFailed("/order_id", message)


def _amounts(order: Order, part: PlatformOrder, wanted: NewRefund) -> tuple[int, int]:
    """Return goods and freight to request: together no more than is left of this part.

    Without an amount it is all that is left of the goods and, unless the freight has an amount, of
    the freight. With an amount and no freight, it is no freight.
    """
    goods, freight = wanted.amount_fen, wanted.freight_fen
    left = decide.refundable_of(order, part)
    if goods is None:
        freight_left = min(_freight_left(order, part), left)
        goods = left - freight_left
        freight = freight_left if freight is None else freight
    total = goods + (freight or 0)
    if total > left:
        raise RefundTooLarge(total, left)
    return goods, freight or 0


def _freight_left(order: Order, part: PlatformOrder) -> int:
    """What is neither refunded nor requested of the freight. Marketplaces count it apart."""
    requested = sum(
        refund.freight_fen
        for refund in order.refunds
        if refund.order_id == part.id and refund.state in _COUNTS
    )
    return max(0, part.freight_fen - requested)
