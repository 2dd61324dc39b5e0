"""Appends events to the journal, with a delivery for every subscription that wants them."""

from collections.abc import Collection, Sequence
from uuid import UUID

from tradewind.events import sql
from tradewind.events.catalogue import Event
from tradewind.observability import tracing
from tradewind.storage.transaction import Tx

# Announced when something was queued to be delivered, with the account as its subject.
DELIVERIES = "deliveries"


def append(tx: Tx, events: Sequence[Event]) -> None:
    """Write events and their deliveries with the change, as the last act of its transaction.

    The events of one transaction get their numbers together, however many calls append them. The
    numbers of an account are locked from then on until the commit, so nothing may come after it.
    """
    if events:
        tx.before_commit(_write, events)


async def append_with(
    tx: Tx, events: Sequence[Event], change: str, args: Sequence[object]
) -> Collection[UUID]:
    """Write a change of orders, and the events of those that it saved, in one statement.

    It is the last statement of its transaction (see `Tx.fetch_last`), unless it saves nothing: then
    no number is locked, and whoever waits for one goes on. Return the ids of the orders that were
    saved.
    """
    await _wait_in_line(tx, events)
    saved, queued = await sql.append_with(tx, events, change, args)
    if not saved:
        tx.leave_lines()
    _announce(tx, [event for event in events if event.order_id in saved], queued)
    return saved


async def _write(tx: Tx, events: Sequence[Event]) -> None:
    await _wait_in_line(tx, events)
    _announce(tx, events, await sql.append(tx, events))


async def _wait_in_line(tx: Tx, events: Sequence[Event]) -> None:
    """Wait for a turn at the numbers of each account."""
    await tx.wait_in_line(sorted({event.account_id for event in events}))


def _announce(tx: Tx, events: Sequence[Event], queued: int) -> None:
    if queued:
        for account_id in {event.account_id for event in events}:
            tx.wake(DELIVERIES, str(account_id))
    if (traces := tracing.current()) is not None:
        traces.journaled([(event.id, event.kind) for event in events])
