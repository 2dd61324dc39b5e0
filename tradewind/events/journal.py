"""Appends events to the journal, with a delivery for every subscription that wants them."""

from collections.abc import Sequence

from tradewind.events import sql
from tradewind.events.catalogue import Event
from tradewind.observability import tracing
from tradewind.storage.transaction import Tx

# Announced when something was queued to be delivered.
DELIVERIES = "deliveries"


def append(tx: Tx, events: Sequence[Event]) -> None:
    """Write events and their deliveries with the change, as the last act of its transaction.

    The events of one transaction get their numbers together, however many calls append them. The
    numbers of an account are locked from then on until the commit, so nothing may come after it.
    """
    if events:
        tx.before_commit(_write, events)


async def _write(tx: Tx, events: Sequence[Event]) -> None:
    await tx.wait_in_line(sorted({event.account_id for event in events}))
    if await sql.append(tx, events):
        tx.wake(DELIVERIES)
    if (traces := tracing.current()) is not None:
        traces.journaled([(event.id, event.kind) for event in events])
