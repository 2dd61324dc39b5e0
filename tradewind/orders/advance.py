"""Saves every change of an order, with its timeline and events; no other file does."""

import random
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from time import monotonic
from uuid import UUID

import asyncpg
from msgspec.structs import replace

from tradewind import clock, ids, money
from tradewind.accounts.sql import SharedAccounts
from tradewind.audit import record as audit
from tradewind.audit.model import Actor
from tradewind.events import journal
from tradewind.events.catalogue import (
    ORDER_UPDATED,
    PAYMENT_UPDATED,
    Event,
    EventKind,
    OrderNews,
    compose,
)
from tradewind.observability.logs import log
from tradewind.orders import decide, schedule, sql, sql_leases, timeline
from tradewind.orders.apply_platform_state import apply_state
from tradewind.orders.errors import ExternalIdTaken
from tradewind.orders.idempotency import PENDING, Idempotency, Statement
from tradewind.orders.lease import HELD, Lease
from tradewind.orders.lifecycle import next_job
from tradewind.orders.model import Cause, NewOrder, Order, PlatformJob
from tradewind.orders.person import Person
from tradewind.orders.sql import OrderWrite, TimelineWrite
from tradewind.platforms.model import PlatformOrder
from tradewind.storage.pool import Database
from tradewind.storage.statements import Part, joined
from tradewind.storage.transaction import Tx, transaction

_TICK = timedelta(milliseconds=1)

# Announced when there may be a job to be done at any marketplace.
SUBMIT = "submit"
_WAKING = frozenset({PlatformJob.PAY, PlatformJob.CANCEL})
_MARKETPLACE_JOBS = frozenset({PlatformJob.CREATE, PlatformJob.CANCEL, PlatformJob.PAY})


@dataclass(frozen=True, slots=True)
class Advance:
    """An order, and the states that it goes through one after another, each with its cause."""

    order: Order
    steps: Sequence[tuple[Order, Cause]] = ()

    @property
    def end(self) -> Order:
        return self.steps[-1][0] if self.steps else self.order

    @property
    def changes_nothing(self) -> bool:
        """Whether there is nothing to save. Goods take no part in the comparison of lines."""
        return self.end == self.order and self.end.lines is self.order.lines

    def then(self, step: Order, cause: Cause) -> "Advance":
        return Advance(self.order, [*self.steps, (step, cause)])


def next_sync(order: Order) -> datetime | None:
    """When an order that was just synced is due again; None: never."""
    return schedule.next_sync(order, order.now, random.random())  # noqa: S311 - it spreads the load


@dataclass(frozen=True, slots=True)
class GiveBack:
    """The lease that ends when an order is saved, and when the order is due next."""

    lease: UUID
    next_sync: Callable[[Order], datetime | None] = next_sync
    only_synced: bool = False


@dataclass(frozen=True, slots=True)
class TakenStep:
    """A step that an order took, with what changed and the events that it causes."""

    before: Order
    after: Order
    cause: Cause
    changes: Mapping[str, Mapping[str, object]]
    events: Sequence[Event]


def submit_topic(platform: str) -> str:
    """The topic that is announced when there is a job to be done at this marketplace."""
    return f"{SUBMIT} {platform}"


class OrderChanged(Exception):
    """An order was not saved: it changed, somebody has locked it, or an account is not right."""


def to(
    tx: Tx, order: Order, step: Order, cause: Cause, relying: SharedAccounts | None = None
) -> Order:
    """Bring an order to `step` at the end of the transaction; return what it is then.

    An order takes one step in a transaction. If the order is not locked, the transaction may raise
    OrderChanged at its end; also if an account that it is `relying` on is locked or no approver.
    """
    change = _change(Advance(order, [(step, cause)]), relying=relying)
    tx.before_commit(_save_all, [change])
    return change.after


def by_platform(order: Order, parts: Sequence[PlatformOrder], cause: Cause) -> Advance:
    """Return the steps to where the marketplace says that an order is.

    What cannot be true is logged and ignored.
    """
    result = apply_state(order, parts)
    for contradiction in result.contradictions:
        log.warning("order.contradicted", order=order.reference, reason=contradiction)
    unmapped = [part.raw_status for part in parts if part.status is None]
    if unmapped:
        log.warning("order.unmapped_status", order=order.reference, raw=unmapped)
    return Advance(order, [(step, cause) for step in result.steps])


async def accept(
    db: Database,
    by: Person,
    wanted: NewOrder,
    at: datetime,
    lease: Lease,
    idempotency: Idempotency[Order],
    *,
    previewed: bool,
) -> Order:
    """Store a new order and its pending result in one statement. It causes no event.

    An order that an agent places is written to the audit log in the same statement.
    """
    order = decide.accepted(ids.new(), by.id, wanted, at, previewed=previewed)
    statement = sql.insert_order(order, Cause("accepted", by), lease=lease.id, held=HELD)
    if by.agent_actor is not None:
        statement = _audited(statement, by.agent_actor, order)
    try:
        await idempotency.store_with(db, order, statement, pending=PENDING)
    except asyncpg.UniqueViolationError:
        external_id = wanted.external_id
        existing = external_id and await sql.find_external(db, by.id, external_id)
        if not existing:
            raise
        raise ExternalIdTaken(existing) from None
    return replace(order, read_at=monotonic())


def _audited(statement: Statement, by: Actor, order: Order) -> Statement:
    entry = audit.entry(
        by,
        "order.placed",
        order.account_id,
        order.reference,
        {"platform": order.platform, "amount_fen": order.expected_fen},
    )
    return Statement(*joined([entry], statement.sql, statement.args))


# Returns what to write together with an order, as it becomes.
Along = Callable[[Order], Part | None]


async def unlocked(tx: Tx, order: Order, plan: Callable[[Order], Advance]) -> Order:
    """Bring an order that is not locked to where `plan` leads; return what it is then.

    It is planned from the order as it was read, and saved if nobody changed it since. Otherwise it
    is locked, read and planned again.
    """
    return await _unlocked(tx, plan(current(order)), plan)


async def if_unchanged(tx: Tx, planned: Advance, relying: SharedAccounts) -> Order | None:
    """Save what an order becomes if nobody changed it since it was read; else return None.

    Nor is it saved if one of the accounts that it is `relying` on is locked.
    """
    change = _change(planned, relying=relying)
    return change.after if await _save(tx, [change], None) else None


async def _unlocked(
    tx: Tx,
    planned: Advance,
    plan: Callable[[Order], Advance],
    give_back: GiveBack | None = None,
    along: Along | None = None,
) -> Order:
    """The same, with the plan from the order as it was read."""
    change = _change(planned, give_back)
    if change.write is None and give_back is None:
        return change.after
    if change.write is not None:
        if along is not None and (part := along(change.after)):
            tx.write_last(part)
        if await _save(tx, [change], give_back):
            return change.after
    locked = await sql.lock_order(tx, None, planned.order.id)
    if locked is None:
        raise RuntimeError(f"Order {planned.order.reference} is gone.")
    change = _change(plan(locked))
    await _save_all(tx, [change])
    if give_back is not None:
        await _give_back(tx, change.after, give_back)
    if along is not None and (part := along(change.after)):
        tx.write_last(part)
    return change.after


async def record(
    db: Database,
    order: Order,
    give_back: GiveBack,
    plan: Callable[[Order], Advance],
    along: Along | None = None,
) -> Order:
    """Save what came of a job on an order whose lease we hold, and give the order back."""
    planned = plan(current(order))
    if along is None and planned.changes_nothing:
        await _give_back(db, planned.order, give_back)
        return order
    async with transaction(db) as tx:
        return await _unlocked(tx, planned, plan, give_back, along)


async def _give_back(db: Database | Tx, order: Order, give_back: GiveBack) -> None:
    at = give_back.next_sync(order)
    await sql_leases.give_back(
        db, give_back.lease, [(order, at)], synced=True, only_synced=give_back.only_synced
    )


def current(order: Order) -> Order:
    """The order with the database's time of now, reckoned from when it was read."""
    if order.read_at is None:
        return order
    at = monotonic()
    return replace(order, now=order.now + timedelta(seconds=at - order.read_at), read_at=at)


async def many(
    tx: Tx, advances: Sequence[Advance], give_back: GiveBack | None = None
) -> dict[UUID, Order]:
    """Save what orders became, and journal it: one statement, however many orders there are.

    Return the orders as they are then. An order that is not locked, and that somebody changed
    since it was read, is left out. With `give_back`, the orders that changed are given back too.
    """
    changes = [_change(advance, give_back) for advance in advances]
    saved = await _save(tx, changes, give_back)
    return {change.after.id: change.after for change in changes if change.after.id in saved}


@dataclass(frozen=True, slots=True)
class _Change:
    """What an order becomes, and the steps that callers can see; no write: nothing changes."""

    after: Order
    steps: Sequence[TakenStep]
    write: OrderWrite | None
    relying: SharedAccounts | None = None


def _change(
    advance: Advance, give_back: GiveBack | None = None, relying: SharedAccounts | None = None
) -> _Change:
    steps: list[TakenStep] = []
    before, after = advance.order, take_steps(advance, steps)
    if after is before:
        return _Change(after, steps, None)
    at = give_back.next_sync(after) if give_back else next_sync(after)
    job = PlatformJob.NONE if at is None else next_job(after)
    write = OrderWrite(before, after, job, at)
    return _Change(_scheduled(write, give_back), steps, write, relying)


def _scheduled(write: OrderWrite, give_back: GiveBack | None) -> Order:
    """The order with its next sync, as it is saved unless a hint comes meanwhile."""
    order, at = write.order, write.next_sync_at
    earlier = min(filter(None, (order.next_sync_at, at)), default=None)
    if give_back is None:
        return replace(order, next_sync_at=None if write.job is PlatformJob.NONE else earlier)
    if give_back.only_synced and write.job in _MARKETPLACE_JOBS:
        at = max(earlier or order.now, order.now)
    return replace(order, synced_at=order.now, next_sync_at=at, sync_failures=0)


async def _save_all(tx: Tx, changes: Sequence[_Change]) -> None:
    """Save orders, or raise OrderChanged; orders that are locked cannot have changed."""
    if len({change.after.id for change in changes}) < len(changes):
        raise RuntimeError("An order takes one step in a transaction.")
    if len(await _save(tx, changes, None)) < len(changes):
        raise OrderChanged


async def _save(tx: Tx, changes: Sequence[_Change], give_back: GiveBack | None) -> Collection[UUID]:
    """Save changes and journal them in one statement; return the ids of orders that are as here.

    Orders that do not change are among them.
    """
    writes = [change.write for change in changes if change.write is not None]
    unchanged = [change.after.id for change in changes if change.write is None]
    if not writes:
        return unchanged
    steps = [step for change in changes for step in change.steps]
    entries = [
        TimelineWrite(step.after, step.cause, step.changes, [event.id for event in step.events])
        for step in steps
    ]
    statement, args = sql.save_orders(
        writes,
        entries,
        lease=give_back.lease if give_back else None,
        only_synced=give_back is not None and give_back.only_synced,
        relying=[change.relying for change in changes if change.relying is not None],
    )
    events = [event for step in steps for event in step.events]
    try:
        saved = await journal.append_with(tx, events, statement, args)
    except asyncpg.UniqueViolationError as error:
        if error.constraint_name != sql.PLATFORM_ORDER_KEY:
            raise
        # The marketplace gave two orders of ours the same id: neither can be trusted now.
        names = ", ".join(write.order.reference for write in writes)
        raise RuntimeError(f"an id there of {names} belongs to another order") from None
    for write in writes:
        # A worker that holds the lease of an order continues with its job by itself.
        if write.job in _WAKING and write.job is not next_job(write.before):
            tx.wake(submit_topic(write.order.platform))
    _log([step for step in steps if step.after.id in saved])
    return {*unchanged, *saved}


def take_steps(advance: Advance, steps: list[TakenStep]) -> Order:
    """Return where the steps lead, and add those that callers can see to `steps`."""
    order = advance.order
    for step, cause in advance.steps:
        changes = timeline.changes(order, step)
        if changes:
            after = _stamped(step, order)
            steps.append(TakenStep(order, after, cause, changes, _events(order, after)))
            order = after
            continue
        # Callers cannot see this step: it keeps the version of the step before it.
        unseen = replace(step, version=order.version, updated_at=order.updated_at)
        order = order if unseen == order else unseen
    return order


def _stamped(step: Order, before: Order) -> Order:
    """A step with its version and time: later than the one before, to the millisecond."""
    floor = before.now.replace(microsecond=before.now.microsecond // 1000 * 1000)
    return replace(
        step, version=before.version + 1, updated_at=max(floor, before.updated_at + _TICK)
    )


def _events(before: Order, after: Order) -> Sequence[Event]:
    """One event for each status that moved, with the same content."""
    kinds: list[EventKind] = []
    if after.status is not before.status:
        kinds.append(ORDER_UPDATED)
    if after.payment_status is not before.payment_status:
        kinds.append(PAYMENT_UPDATED)
    return [
        compose(after.account_id, after.id, kind, _content(after), after.updated_at)
        for kind in kinds
    ]


def _content(order: Order) -> OrderNews:
    return OrderNews(
        id=ids.ORDER.show(order.id),
        platform=order.platform,
        order_id=order.order_id,
        status=order.status,
        payment_status=order.payment_status,
        platform_payment_status=order.platform_payment_status,
        total_amount_cny=money.show_or_none(order.total_fen),
        updated_at=clock.show(order.updated_at),
    )


def _log(steps: Sequence[TakenStep]) -> None:
    for step in steps:
        log.info(
            "order.changed",
            order=step.after.reference,
            version=step.after.version,
            cause=step.cause.name,
            status=_move(step.before.status, step.after.status),
            payment=_move(step.before.payment_status, step.after.payment_status),
        )


def _move(before: str, after: str) -> str:
    return str(after) if before == after else f"{before} → {after}"
