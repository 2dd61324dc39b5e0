"""Pays what was approved: the intent first, then the call, and one debit for one approval."""

import random
from collections.abc import Sequence

from tradewind import ids
from tradewind.observability.logs import log
from tradewind.orders import advance, decide, sql, sql_leases
from tradewind.orders.hear import is_another_amount
from tradewind.orders.lease import Lease
from tradewind.orders.model import (
    Cause,
    Failure,
    Order,
    PaymentRequest,
    PaymentStatus,
    PayMode,
    Status,
)
from tradewind.orders.rollup import unpaid
from tradewind.orders.schedule import next_look
from tradewind.orders.submit import retry_at
from tradewind.platforms.contract import Connector
from tradewind.platforms.failures import FindOut, Never, PlatformFailure, Reason
from tradewind.platforms.model import Payment, PaymentState, PlatformOrder
from tradewind.storage.pool import Database
from tradewind.storage.transaction import transaction

_PAY = Cause("pay")
_AMOUNT_CHANGED = ("amount_changed", "The order costs something else than was approved.")


async def pay(db: Database, connector: Connector, order: Order, lease: Lease) -> None:
    """Bring the payment of an order that we hold one step further.

    The order is read afresh first: what was approved may have been paid by hand, cancelled, or
    changed its price meanwhile.
    """
    try:
        fresh, sent_before = await _read_and_commit(db, connector, order)
        request = fresh.payment
        if request is None or fresh.payment_status not in (
            PaymentStatus.APPROVED,
            PaymentStatus.PROCESSING,
        ):
            await _give_back(db, fresh, lease)
            return
        if fresh.payment_status is PaymentStatus.APPROVED:
            if request.mode is PayMode.LINK:
                fresh = await _give_link(db, connector, fresh)
            await _give_back(db, fresh, lease)
            return
        if not lease.is_good_for_a_call():
            return
        failure = await _debit(connector, fresh, request, sent_before=sent_before)
        fresh = await _record(db, connector, fresh, failure)
    except PlatformFailure as problem:
        await sql_leases.finish(db, lease.id, [(order, retry_at(order, problem))], heard=False)
        raise
    await _give_back(db, fresh, lease)


async def _read_and_commit(db: Database, connector: Connector, order: Order) -> tuple[Order, bool]:
    """The order as it is there, with the intent to debit written down if all is still as approved.

    And whether that intent is older: then something may have been sent already.
    """
    news = await connector.read_many(order.order_ids)
    async with transaction(db) as tx:
        locked = await sql.lock_order(tx, None, order.id)
        if locked is None:
            return order, True
        sent_before = locked.payment_status is PaymentStatus.PROCESSING
        fresh = await advance.by_news(tx, locked, news, _PAY)
        if _may_be_sent(fresh):
            fresh = await advance.to(tx, fresh, decide.payment_sent(fresh, fresh.now), _PAY)
    return fresh, sent_before


def _may_be_sent(order: Order) -> bool:
    request = order.payment
    return (
        request is not None
        and order.payment_status is PaymentStatus.APPROVED
        and order.status is Status.PENDING_PAYMENT
        and request.mode is PayMode.AUTO
        and not is_another_amount(request, order.parts)
        and not order.cancel_requested
    )


async def _give_link(db: Database, connector: Connector, order: Order) -> Order:
    """Fetch the page where a person pays."""
    url = await connector.pay_link([part.id for part in unpaid(order.parts)])
    async with transaction(db) as tx:
        locked = await sql.lock_order(tx, None, order.id)
        if locked is None or locked.payment_status is not PaymentStatus.APPROVED:
            return locked or order
        return await advance.to(tx, locked, decide.link_given(locked, url), _PAY)


async def _debit(
    connector: Connector, order: Order, request: PaymentRequest, *, sent_before: bool
) -> Failure | None:
    """Debit each part that is not paid, at what was approved for it.

    What may have been sent is asked about first, by the same operation id, and sent again with
    it only where the platform says that it saw nothing. The answer is the failure, if the platform
    refused for good, and nothing of the payment may still come true.
    """
    failure: Failure | None = None
    for part in unpaid(order.parts):
        outcome = await _debit_part(connector, part, request, sent_before=sent_before)
        if outcome.state is PaymentState.PROCESSING:
            return None
        if outcome.state is PaymentState.FAILED:
            failure = failure or _refused(outcome)
    return failure


async def _debit_part(
    connector: Connector, part: PlatformOrder, request: PaymentRequest, *, sent_before: bool
) -> Payment:
    """What came of one part: paid, failed, or processing where nobody knows."""
    operation = f"{ids.PAYMENT.show(request.id)}-{part.id}"
    if sent_before:
        known = await _found(connector, part, operation)
        if known.state is not PaymentState.UNPAID:
            return known
    if part.total_fen != request.sums.get(part.id):
        return Payment(PaymentState.FAILED, *_AMOUNT_CHANGED)
    try:
        return await connector.pay(part.id, part.total_fen, operation)
    except Never as never:
        if never.reason is Reason.ALREADY_PAID:
            return Payment(PaymentState.PAID)
        return Payment(PaymentState.FAILED, never.word, never.message)
    except FindOut as unknown:
        log.warning("payment.unknown", order_id=part.id, code=unknown.code)
        return Payment(PaymentState.PROCESSING)


async def _found(connector: Connector, part: PlatformOrder, operation: str) -> Payment:
    """What the platform saw of a payment; that it will not tell says nothing about the payment."""
    try:
        return await connector.find_payment(part.id, operation)
    except Never as never:
        log.warning("payment.not_found", order_id=part.id, code=never.code)
        return Payment(PaymentState.PROCESSING)


async def _record(
    db: Database, connector: Connector, order: Order, failure: Failure | None
) -> Order:
    """What came of it, by what the order says now: a refusal of what is paid is none."""
    news: Sequence[PlatformOrder] = await connector.read_many(order.order_ids)
    async with transaction(db) as tx:
        locked = await sql.lock_order(tx, None, order.id)
        if locked is None:
            return order
        fresh = await advance.by_news(tx, locked, news, _PAY)
        if failure is not None and fresh.payment_status is PaymentStatus.PROCESSING:
            step = decide.payment_refused(fresh, failure)
            fresh = await advance.to(tx, fresh, step, _PAY)
    return fresh


async def _give_back(db: Database, order: Order, lease: Lease) -> None:
    at = next_look(order, order.now, random.random())  # noqa: S311 - it only spreads the load
    await sql_leases.finish(db, lease.id, [(order, at)], heard=True)


def _refused(payment: Payment) -> Failure:
    return Failure(payment.code or "refused", payment.message or "The platform refused.")
