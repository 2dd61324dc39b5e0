"""Debits approved payments exactly once: records the intent, then calls the marketplace.

While an operator has locked the account of an order, no debit begins: an approved order is only
synced, and a debit that may have been sent already is looked up, but not sent again.
"""

import random
from dataclasses import dataclass
from datetime import datetime

from tradewind import ids
from tradewind.accounts import sql as account_sql
from tradewind.accounts.sql import SharedAccounts
from tradewind.observability.logs import log
from tradewind.orders import advance, lifecycle, schedule, sql, sql_leases
from tradewind.orders.advance import Advance, GiveBack
from tradewind.orders.apply_platform_state import is_another_amount
from tradewind.orders.lease import Lease
from tradewind.orders.model import Cause, Order
from tradewind.orders.payments import decide
from tradewind.orders.payments.model import Failure, PaymentRequest, PaymentStatus, PayMode
from tradewind.orders.rollup import unpaid
from tradewind.orders.submit import retry_at
from tradewind.platforms.contract import Connector
from tradewind.platforms.failures import OutcomeUnknown, PlatformFailure, Reason, Rejected
from tradewind.platforms.model import Payment, PaymentState, PlatformOrder
from tradewind.storage.pool import Database
from tradewind.storage.transaction import transaction

_PAY = Cause("pay")
_AMOUNT_CHANGED = ("amount_changed", "The order costs another amount than the approved one.")


@dataclass(frozen=True, slots=True)
class _Prepared:
    """An order as it is now, ready for the next step of its payment.

    `sent_before`: the intent to debit was recorded before, so a debit may have been sent.
    """

    order: Order
    sent_before: bool
    account_locked: bool


async def pay(db: Database, connector: Connector, order: Order, lease: Lease) -> None:
    """Bring the payment of an order whose lease we hold one step further.

    The order is read again first: since the approval it may have been paid outside, cancelled, or
    changed its price.
    """
    try:
        prepared = await _read_and_commit(db, connector, order)
        order = prepared.order
        request = order.payment
        if request is None or order.payment_status not in (
            PaymentStatus.APPROVED,
            PaymentStatus.PROCESSING,
        ):
            await _give_back(db, order, lease)
            return
        if order.payment_status is PaymentStatus.APPROVED:
            if request.mode is PayMode.LINK and not prepared.account_locked:
                order = await _fetch_link(db, connector, order)
            await _give_back(db, order, lease, paused=prepared.account_locked)
            return
        if not lease.is_good_for_a_call():
            return
        failure = await _debit(db, connector, order, request, sent_before=prepared.sent_before)
        await _record(db, connector, order, lease, failure)
    except PlatformFailure as problem:
        at = retry_at(order, problem)
        await sql_leases.give_back(db, lease.id, [(order, at)], synced=False)
        raise


async def _read_and_commit(db: Database, connector: Connector, order: Order) -> _Prepared:
    """Read the order, and record the intent to debit if all is still as approved.

    The account's lock cannot change before the transaction commits. Mostly the account is not
    locked and nobody changed the order: then one statement saves it. Otherwise the order is locked,
    the account's lock read, and the order planned again.
    """
    parts = await connector.read_many(order.order_ids)
    account_id = order.account_id
    account_locked = False
    sent_before = True

    def plan(latest: Order) -> Advance:
        nonlocal sent_before
        sent_before = latest.payment_status is PaymentStatus.PROCESSING
        planned = advance.by_platform(latest, parts, _PAY)
        if account_locked or not _may_be_sent(planned.end):
            return planned
        return planned.then(decide.payment_sent(planned.end, latest.now), _PAY)

    planned = plan(advance.current(order))
    if not planned.changes_nothing:
        async with transaction(db) as tx:
            saved = await advance.if_unchanged(tx, planned, SharedAccounts([account_id]))
        if saved is not None:
            return _Prepared(saved, sent_before, account_locked)
    async with transaction(db) as tx:
        locked = await sql.lock_order(tx, None, order.id)
        accounts = await account_sql.share_accounts(tx, [account_id])
        account_locked = accounts[account_id].locked_at is not None
        saved = await advance.unlocked(tx, locked or order, plan)
    return _Prepared(saved, sent_before, account_locked)


def _may_be_sent(order: Order) -> bool:
    request = order.payment
    return (
        request is not None
        and order.payment_status is PaymentStatus.APPROVED
        and lifecycle.is_payable(order)
        and request.mode is PayMode.AUTO
        and not is_another_amount(request, order.parts)
        and not order.cancel_requested
    )


async def _fetch_link(db: Database, connector: Connector, order: Order) -> Order:
    """Fetch the page where a person pays."""
    url = await connector.pay_link([part.id for part in unpaid(order.parts)])
    async with transaction(db) as tx:
        held = await sql.lock_order(tx, None, order.id)
        if held is None or held.payment_status is not PaymentStatus.APPROVED:
            return held or order
        accounts = await account_sql.share_accounts(tx, [held.account_id])
        if accounts[held.account_id].locked_at is not None:
            return held
        return advance.to(tx, held, decide.link_received(held, url), _PAY)


async def _debit(
    db: Database,
    connector: Connector,
    order: Order,
    request: PaymentRequest,
    *,
    sent_before: bool,
) -> Failure | None:
    """Debit each part that is not paid, at the approved amount.

    A debit that may have been sent is looked up first, by the same operation id, and is sent again
    with it only if the marketplace has nothing of it. A lock of the account that came since the
    intent was recorded stops every part that is not sent yet. Return the failure, if the
    marketplace rejected the payment for good and no part of it may still succeed.
    """
    failure: Failure | None = None
    for part in unpaid(order.parts):
        outcome = await _look_up(connector, part, request) if sent_before else None
        if outcome is None:
            if await account_sql.is_locked(db, order.account_id):
                return None
            outcome = await _debit_part(connector, part, request)
        if outcome.state is PaymentState.PROCESSING:
            return None
        if outcome.state is PaymentState.FAILED:
            failure = failure or _failure(outcome)
    return failure


def _operation(part: PlatformOrder, request: PaymentRequest) -> str:
    return f"{ids.PAYMENT.show(request.id)}-{part.id}"


async def _look_up(
    connector: Connector, part: PlatformOrder, request: PaymentRequest
) -> Payment | None:
    """Find out what came of a debit that may have been sent; None: it never arrived."""
    try:
        payment = await connector.find_payment(part.id, _operation(part, request))
    except Rejected as rejected:  # that says nothing about the payment
        log.warning("payment.not_found", order_id=part.id, code=rejected.code)
        return Payment(PaymentState.PROCESSING)
    return None if payment.state is PaymentState.UNPAID else payment


async def _debit_part(
    connector: Connector, part: PlatformOrder, request: PaymentRequest
) -> Payment:
    """Debit one part: it is paid, failed, or processing if the outcome is unknown."""
    if part.total_fen != request.sums.get(part.id):
        return Payment(PaymentState.FAILED, *_AMOUNT_CHANGED)
    try:
        return await connector.pay(part.id, part.total_fen, _operation(part, request))
    except Rejected as rejected:
        if rejected.reason is Reason.ALREADY_PAID:
            return Payment(PaymentState.PAID)
        return Payment(PaymentState.FAILED, rejected.word, rejected.message)
    except OutcomeUnknown as unknown:
        log.warning("payment.unknown", order_id=part.id, code=unknown.code)
        return Payment(PaymentState.PROCESSING)


async def _record(
    db: Database, connector: Connector, order: Order, lease: Lease, failure: Failure | None
) -> None:
    """Save the state of the order there: it decides whether a payment that failed is paid."""
    parts = await connector.read_many(order.order_ids)

    def plan(latest: Order) -> Advance:
        planned = advance.by_platform(latest, parts, _PAY)
        if failure is None or planned.end.payment_status is not PaymentStatus.PROCESSING:
            return planned
        return planned.then(decide.payment_failed(planned.end, failure), _PAY)

    await advance.record(db, order, GiveBack(lease.id), plan)


async def _give_back(db: Database, order: Order, lease: Lease, *, paused: bool = False) -> None:
    at = _next_sync(advance.current(order), paused=paused)
    await sql_leases.give_back(db, lease.id, [(order, at)], synced=True)


def _next_sync(order: Order, *, paused: bool) -> datetime | None:
    chance = random.random()  # noqa: S311 - it spreads the load
    return schedule.next_sync(order, order.now, chance, paused=paused)


def _failure(payment: Payment) -> Failure:
    return Failure(
        payment.code or "refused", payment.message or "The marketplace rejected the payment."
    )
