"""The one door: an order changes here or not at all, and the journal is written behind it."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from tradewind import ids
from tradewind.events import journal
from tradewind.events.catalogue import (
    ORDER_UPDATED,
    PAYMENT_UPDATED,
    Event,
    EventKind,
    compose,
)
from tradewind.observability.logs import log
from tradewind.orders import rows, sql
from tradewind.orders.apply_platform_state import hear
from tradewind.orders.errors import ExternalIdTaken
from tradewind.orders.lease import HELD, Lease
from tradewind.orders.lifecycle import next_work
from tradewind.orders.model import Cause, Draft, Order, PaymentRequest, Who, Work
from tradewind.orders.schedule import next_look
from tradewind.orders.wire import news_of, public
from tradewind.platforms.model import PlatformOrder
from tradewind.storage.transaction import Tx

_TICK = timedelta(milliseconds=1)

# Announced when there is something to be done at a platform.
SUBMIT = "submit"


@dataclass(frozen=True, slots=True)
class Advance:
    """An order that is locked, the states it is to go through one after another, and why."""

    order: Order
    steps: Sequence[Order]
    cause: Cause


@dataclass(frozen=True, slots=True)
class _Passed:
    """One step that was taken, and what callers see of it."""

    before: Order
    after: Order
    cause: Cause
    changes: Mapping[str, Any]


async def accept(tx: Tx, by: Who, draft: Draft, lease: Lease, *, previewed: bool) -> Order:
    """A new order. Nobody is told but who asked: the acceptance is no event."""
    if draft.external_id is not None:
        taken = await sql.find_external(tx, by.id, draft.external_id)
        if taken is not None:
            raise ExternalIdTaken(taken)
    order = await sql.insert_order(
        tx, ids.new(), by.id, draft, previewed=previewed, lease=lease.id, held=HELD
    )
    await sql.insert_changes(tx, [order], [("accepted", by.id, by.email)], ["{}"], [[]])
    return order


async def to(tx: Tx, order: Order, step: Order, cause: Cause) -> Order:
    """Bring a locked order to `step`; what it is then."""
    return (await many(tx, [Advance(order, [step], cause)]))[0]


async def by_news(tx: Tx, order: Order, news: Sequence[PlatformOrder], cause: Cause) -> Order:
    """Bring a locked order to where the platform says it is; what it is then."""
    return (await many(tx, [heard(order, news, cause)]))[0]


def heard(order: Order, news: Sequence[PlatformOrder], cause: Cause) -> Advance:
    """What news makes of a locked order. What cannot be true is logged, and not believed."""
    result = hear(order, news)
    for contradiction in result.contradictions:
        log.warning("order.contradicted", order=order.reference, said=contradiction)
    unmapped = [part.raw_status for part in news if part.status is None]
    if unmapped:
        log.warning("order.unmapped_status", order=order.reference, raw=unmapped)
    return Advance(order, result.steps, cause)


async def many(tx: Tx, advances: Sequence[Advance]) -> Sequence[Order]:
    """Save what locked orders became, and journal it: a few statements, however many they are."""
    ends: list[Order] = []
    passed: list[_Passed] = []
    for advance in advances:
        standing = advance.order
        for step in advance.steps:
            changes = _difference(standing, step)
            if changes:
                stamped = _stamped(step, standing)
                passed.append(_Passed(standing, stamped, advance.cause, changes))
                standing = stamped
            elif step != standing:
                standing = step  # nothing that anybody sees: no new version
        ends.append(standing)
    changed = [end for end, advance in zip(ends, advances, strict=True) if end is not advance.order]
    if not changed:
        return ends
    looks = [_next_look(order) for order in changed]
    works = [
        Work.NONE if look is None else next_work(order)
        for order, look in zip(changed, looks, strict=True)
    ]
    await sql.save_orders(tx, changed, works, looks)
    if passed:
        await _name(tx, passed)
        await _save_payments(tx, passed)
        await _journal(tx, passed)
    if any(work in (Work.PAY, Work.CANCEL) for work in works):
        tx.wake(SUBMIT)
    _log(passed)
    return ends


async def _journal(tx: Tx, passed: Sequence[_Passed]) -> None:
    """Write the timeline and the events of what happened."""
    events = [_events(one.before, one.after) for one in passed]
    await sql.insert_changes(
        tx,
        [one.after for one in passed],
        [_told(one.cause) for one in passed],
        [rows.to_json(one.changes) for one in passed],
        [[event.id for event in made] for made in events],
    )
    journal.append(tx, [event for made in events for event in made])


def _stamped(step: Order, before: Order) -> Order:
    """A step with its version and time: later than the one before, to the millisecond."""
    floor = before.now.replace(microsecond=before.now.microsecond // 1000 * 1000)
    return replace(
        step, version=before.version + 1, updated_at=max(floor, before.updated_at + _TICK)
    )


def _next_look(order: Order) -> datetime | None:
    return next_look(order, order.now, random.random())  # noqa: S311 - it only spreads the load


def _events(before: Order, after: Order) -> Sequence[Event]:
    """One event for each axis that moved, with the same tale."""
    kinds: list[EventKind] = []
    if after.status is not before.status:
        kinds.append(ORDER_UPDATED)
    if after.payment_status is not before.payment_status:
        kinds.append(PAYMENT_UPDATED)
    return [
        compose(after.account_id, after.id, kind, news_of(after), after.updated_at)
        for kind in kinds
    ]


def _difference(before: Order, after: Order) -> Mapping[str, Any]:
    """What callers see of the change: each field that differs, as it was and as it is."""
    old, new = public(before), public(after)
    return {
        name: {"from": old[name], "to": value} for name, value in new.items() if old[name] != value
    }


async def _name(tx: Tx, passed: Sequence[_Passed]) -> None:
    named = [
        (one.after.platform, order_id, one.after.id)
        for one in passed
        for order_id in one.after.order_ids
        if order_id not in one.before.order_ids
    ]
    if not named:
        return
    for stranger in await sql.name_orders(tx, named):
        # The platform gave two of ours the same order: neither may be believed from here on.
        raise RuntimeError(f"the order on the platform belongs to another order than {stranger}")


async def _save_payments(tx: Tx, passed: Sequence[_Passed]) -> None:
    latest: dict[UUID, tuple[UUID, UUID, PaymentRequest, datetime]] = {}
    for one in passed:
        before, after = one.before, one.after
        if after.payment is not None and after.payment != before.payment:
            latest[after.payment.id] = (after.id, after.account_id, after.payment, after.updated_at)
    if latest:
        await sql.save_payments(tx, list(latest.values()))


def _told(cause: Cause) -> tuple[str, UUID | None, str | None]:
    if cause.by is None:
        return cause.word, None, None
    return cause.word, cause.by.id, cause.by.email


def _log(passed: Sequence[_Passed]) -> None:
    for one in passed:
        log.info(
            "order.changed",
            order=one.after.reference,
            version=one.after.version,
            cause=one.cause.word,
            status=_move(one.before.status, one.after.status),
            payment=_move(one.before.payment_status, one.after.payment_status),
        )


def _move(before: str, after: str) -> str:
    return str(after) if before == after else f"{before} → {after}"
