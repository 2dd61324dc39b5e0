"""Asks the seller for money back."""

import asyncio
from dataclasses import dataclass, field
from uuid import UUID

from tradewind import ids, money
from tradewind.audit.model import Actor
from tradewind.audit.record import record
from tradewind.background.background_tasks import BackgroundTasks
from tradewind.errors import ResourceNotFound, ValidationFailed
from tradewind.observability.logs import log
from tradewind.orders import advance, decide, lifecycle, sql, sql_leases, sql_lists
from tradewind.orders.errors import RefundRefused, RefundTooLarge
from tradewind.orders.model import Cause, Failure, Order, OrderRefund, Who
from tradewind.orders.payments.wire import RefundIn
from tradewind.orders.rollup import GOT_MONEY
from tradewind.orders.sync import FOLLOW
from tradewind.orders.wire import RefundOut
from tradewind.platforms.contract import Capability, Connector
from tradewind.platforms.errors import CapabilityNotSupported, api_error
from tradewind.platforms.failures import OutcomeUnknown, PlatformFailure, Rejected
from tradewind.platforms.model import PlatformOrder, RefundRequest, RefundState
from tradewind.platforms.registry import Platforms
from tradewind.storage.pool import Database
from tradewind.storage.transaction import transaction
from tradewind.web import idempotency
from tradewind.web.idempotency import PENDING, IdempotencyKey
from tradewind.web.response import Response, location

_PATIENCE_SECONDS = 5.0
_COUNTS = frozenset({RefundState.REQUESTED, RefundState.APPROVED, RefundState.SUCCEEDED})


async def ask_refund(
    db: Database,
    platforms: Platforms,
    errands: BackgroundTasks,
    actor: Actor,
    by: Who,
    order_id: UUID,
    asked: RefundIn,
    once: IdempotencyKey,
) -> Response:
    """Write the refund down, then ask the platform for it: its answer, or `requested` so far."""
    found = await sql_lists.find_order(db, by.id, order_id)
    if found is None:
        raise ResourceNotFound(ids.ORDER)
    connector = await platforms.connector(found.platform)
    async with transaction(db) as tx:
        await idempotency.claim(tx, once)
        order = await sql.lock_order(tx, by.id, order_id)
        if order is None:
            raise ResourceNotFound(ids.ORDER)
        lifecycle.must_be_refundable(order, by)
        if Capability.REFUND not in connector.traits.capabilities:
            raise CapabilityNotSupported(order.platform, Capability.REFUND)
        refund = _new(order, asked)
        step = decide.refund_asked(order, refund, by)
        order = await advance.to(tx, order, step, Cause("refund_requested", by))
        await record(
            tx,
            actor,
            "refund.requested",
            account_id=order.account_id,
            subject=ids.REFUND.show(refund.id),
            order=order.reference,
            amount_fen=refund.amount_fen + refund.freight_fen,
        )
        where = [location("orders", order.reference, "refunds")]
        first = Response(RefundOut.of(refund), 201, where)
        await idempotency.keep(tx, once, first, pending=PENDING)
    course = _Course()
    sending = _send(db, connector, order, refund, asked, once, course)
    if not await errands.within(_PATIENCE_SECONDS, sending):
        if course.refusal is None:
            course.is_told = True
        else:
            await course.settled.wait()
    latest = await _latest(db, by, order_id, refund)
    if latest is None and course.refusal is not None:
        failure = course.refusal
        raise RefundRefused(failure) if isinstance(failure, Rejected) else api_error(failure)
    answer = Response(RefundOut.of(latest or refund), 201, where)
    return await idempotency.replace(db, once, answer)


@dataclass(slots=True)
class _Course:
    """What whoever answers the owner and whoever asks the platform know of each other.

    Each decides and says so without a pause in between: either the owner is told that the refund
    is requested, and it stays, or a refusal takes it back, and the owner hears of nothing else.
    """

    is_told: bool = False
    refusal: PlatformFailure | None = None
    settled: asyncio.Event = field(default_factory=asyncio.Event)


async def _latest(db: Database, by: Who, order_id: UUID, refund: OrderRefund) -> OrderRefund | None:
    """The refund as it is now; None: it was taken back."""
    order = await sql_lists.find_order(db, by.id, order_id)
    return next((one for one in order.refunds if one.id == refund.id), None) if order else None


async def _send(
    db: Database,
    connector: Connector,
    order: Order,
    refund: OrderRefund,
    asked: RefundIn,
    once: IdempotencyKey,
    course: _Course,
) -> None:
    """Ask the platform. What it refuses was never asked for, unless its owner was told so."""
    request = RefundRequest(
        refund.order_id,
        asked.type,
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
        db.wakeups.announce(FOLLOW)
        return
    except PlatformFailure as failure:
        if not course.is_told:
            course.refusal = failure
        try:
            await _refused(db, order, refund, once, failure, is_told=course.is_told)
        finally:
            course.settled.set()
        return
    async with transaction(db) as tx:
        locked = await sql.lock_order(tx, None, order.id)
        if locked is not None:
            step = decide.refund_named(locked, refund.id, platform_id, locked.now)
            await advance.to(tx, locked, step, Cause("refund_accepted"))


async def _refused(
    db: Database,
    order: Order,
    refund: OrderRefund,
    once: IdempotencyKey,
    failure: PlatformFailure,
    *,
    is_told: bool,
) -> None:
    async with transaction(db) as tx:
        locked = await sql.lock_order(tx, None, order.id)
        if locked is not None and is_told:
            why = Failure(failure.code, failure.message)
            step = decide.refund_failed(locked, refund.id, why, locked.now)
            await advance.to(tx, locked, step, Cause("refund_refused"))
        elif locked is not None:
            step = decide.refund_dropped(locked, refund.id)
            await advance.to(tx, locked, step, Cause("refund_refused"))
        if not is_told:
            await idempotency.release(tx, once)


def _new(order: Order, asked: RefundIn) -> OrderRefund:
    part = _part(order, asked.order_id)
    goods, freight = _amounts(order, part, asked)
    if goods + freight == 0 and decide.refundable_of(order, part) > 0:
        raise ValidationFailed(
            "/freight_cny",
            "All of the goods was refunded or asked for already, only freight is left; a refund "
            f"must be of more than {money.text(0)}.",
        )
    return OrderRefund(
        id=ids.new(),
        platform_id=None,
        order_id=part.id,
        state=RefundState.REQUESTED,
        kind=asked.type,
        amount_fen=goods,
        freight_fen=freight,
        reason=asked.reason,
        note=asked.note,
        failure=None,
        requested_at=order.now,
        updated_at=order.now,
    )


def _part(order: Order, order_id: str | None) -> PlatformOrder:
    """Which order on the platform the money is asked back for."""
    paid = [part for part in order.parts if part.payment in GOT_MONEY]
    named = [part for part in paid if order_id in (None, part.id)]
    if len(named) == 1:
        return named[0]
    known = ", ".join(part.id for part in paid)
    problem = "Name one" if order_id is None else "There is no such paid order"
    raise ValidationFailed("/order_id", f"{problem} of the orders that it was split into: {known}.")


def _amounts(order: Order, part: PlatformOrder, asked: RefundIn) -> tuple[int, int]:
    """Goods and freight to request: together no more than is left of this part.

    `amount_cny` left out means all that is left of the goods; `freight_cny` left out with it, all
    that is left of the freight, and left out alone, none.
    """
    goods, freight = asked.amount_fen, asked.freight_fen
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
    """Of the freight, what nobody has got or asked back. Platforms count it apart."""
    asked = sum(
        refund.freight_fen
        for refund in order.refunds
        if refund.order_id == part.id and refund.state in _COUNTS
    )
    return max(0, part.freight_fen - asked)
