"""Pays what was approved: the intent first, then the call, and one debit for one approval.

While an operator has locked the account of an order, no debit begins: what is approved is only
followed, and what may have been sent already is asked about, but not sent again.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from tradewind import ids
from tradewind.accounts import sql as account_sql
from tradewind.observability.logs import log
from tradewind.orders import advance, decide, sql, sql_leases
from tradewind.orders.apply_platform_state import is_another_amount
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
from tradewind.platforms.failures import OutcomeUnknown, PlatformFailure, Reason, Rejected
from tradewind.platforms.model import Payment, PaymentState, PlatformOrder
from tradewind.storage.pool import Database
from tradewind.storage.transaction import transaction

_PAY = Cause("pay")
_AMOUNT_CHANGED = ("amount_changed", "The order costs something else than was approved.")


@dataclass(frozen=True, slots=True)
class _Prepared:
    """An order as it is now, ready for the next step of its payment.

    `sent_before`: the intent to debit is older, so something may have been sent already.
    """

    order: Order
    sent_before: bool
    account_locked: bool


async def pay(db: Database, connector: Connector, order: Order, lease: Lease) -> None:
    """Bring the payment of an order that we hold one step further.

    The order is read afresh first: what was approved may have been paid by hand, cancelled, or
    changed its price meanwhile.
    """
    try:
        prepared = await _read_and_commit(db, connector, order)
        fresh = prepared.order
        request = fresh.payment
        if request is None or fresh.payment_status not in (
            PaymentStatus.APPROVED,
            PaymentStatus.PROCESSING,
        ):
            await _give_back(db, fresh, lease)
            return
        if fresh.payment_status is PaymentStatus.APPROVED:
            if request.mode is PayMode.LINK and not prepared.account_locked:
                fresh = await _give_link(db, connector, fresh)
            await _give_back(db, fresh, lease, paused=prepared.account_locked)
            return
        if not lease.is_good_for_a_call():
            return
        failure = await _debit(db, connector, fresh, request, sent_before=prepared.sent_before)
        fresh = await _record(db, connector, fresh, failure)
    except PlatformFailure as problem:
        await sql_leases.finish(db, lease.id, [(order, retry_at(order, problem))], heard=False)
        raise
    await _give_back(db, fresh, lease)


async def _read_and_commit(db: Database, connector: Connector, order: Order) -> _Prepared:
    """Read the order, and write down the intent to debit if all is still as approved.

    The account's lock is read in the same transaction, and cannot change before it commits.
    """
    news = await connector.read_many(order.order_ids)
    async with transaction(db) as tx:
        held = await sql.lock_order(tx, None, order.id)
        if held is None:
            return _Prepared(order, sent_before=True, account_locked=True)
        accounts = await account_sql.share_accounts(tx, [held.account_id])
        account_locked = accounts[held.account_id].locked_at is not None
        sent_before = held.payment_status is PaymentStatus.PROCESSING
        fresh = await advance.by_news(tx, held, news, _PAY)
        if _may_be_sent(fresh) and not account_locked:
            fresh = await advance.to(tx, fresh, decide.payment_sent(fresh, fresh.now), _PAY)
    return _Prepared(fresh, sent_before, account_locked)


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
        held = await sql.lock_order(tx, None, order.id)
        if held is None or held.payment_status is not PaymentStatus.APPROVED:
            return held or order
        accounts = await account_sql.share_accounts(tx, [held.account_id])
        if accounts[held.account_id].locked_at is not None:
            return held
        return await advance.to(tx, held, decide.link_given(held, url), _PAY)


async def _debit(
    db: Database,
    connector: Connector,
    order: Order,
    request: PaymentRequest,
    *,
    sent_before: bool,
) -> Failure | None:
    """Debit each part that is not paid, at what was approved for it.

    What may have been sent is asked about first, by the same operation id, and sent again with
    it only where the platform says that it saw nothing. A lock of the account that came since the
    intent was written stops every part that is not sent yet. The answer is the failure, if the
    platform refused for good, and nothing of the payment may still come true.
    """
    failure: Failure | None = None
    for part in unpaid(order.parts):
        outcome = await _found_before(connector, part, request) if sent_before else None
        if outcome is None:
            if await account_sql.is_locked(db, order.account_id):
                return None
            outcome = await _debit_part(connector, part, request)
        if outcome.state is PaymentState.PROCESSING:
            return None
        if outcome.state is PaymentState.FAILED:
            failure = failure or _refused(outcome)
    return failure


def _operation(part: PlatformOrder, request: PaymentRequest) -> str:
    return f"{ids.PAYMENT.show(request.id)}-{part.id}"


async def _found_before(
    connector: Connector, part: PlatformOrder, request: PaymentRequest
) -> Payment | None:
    """What came of a debit that may have been sent; None: the platform saw nothing of it."""
    known = await _found(connector, part, _operation(part, request))
    return None if known.state is PaymentState.UNPAID else known


async def _debit_part(
    connector: Connector, part: PlatformOrder, request: PaymentRequest
) -> Payment:
    """What came of one part: paid, failed, or processing where nobody knows."""
    if part.total_fen != request.sums.get(part.id):
        return Payment(PaymentState.FAILED, *_AMOUNT_CHANGED)
    try:
        return await connector.pay(part.id, part.total_fen, _operation(part, request))
    except Rejected as never:
        if never.reason is Reason.ALREADY_PAID:
            return Payment(PaymentState.PAID)
        return Payment(PaymentState.FAILED, never.word, never.message)
    except OutcomeUnknown as unknown:
        log.warning("payment.unknown", order_id=part.id, code=unknown.code)
        return Payment(PaymentState.PROCESSING)


async def _found(connector: Connector, part: PlatformOrder, operation: str) -> Payment:
    """What the platform saw of a payment; that it will not tell says nothing about the payment."""
    try:
        return await connector.find_payment(part.id, operation)
    except Rejected as never:
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


async def _give_back(db: Database, order: Order, lease: Lease, *, paused: bool = False) -> None:
    chance = random.random()  # noqa: S311 - it only spreads the load
    at = next_look(order, order.now, chance, paused=paused)
    await sql_leases.finish(db, lease.id, [(order, at)], heard=True)


def _refused(payment: Payment) -> Failure:
    return Failure(payment.code or "refused", payment.message or "The platform refused.")
