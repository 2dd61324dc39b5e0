"""Appends events to the journal, with a delivery for every subscription that wants them."""

from collections.abc import Sequence

from tradewind.events import sql
from tradewind.events.catalogue import Event
from tradewind.storage.transaction import Tx

# Announced when something was queued to be delivered.
DELIVERIES = "deliveries"


async def append(tx: Tx, events: Sequence[Event]) -> None:
    """Write events and their deliveries, all in one statement of the transaction of the change."""
    if events and await sql.append(tx, events):
        tx.wake(DELIVERIES)
