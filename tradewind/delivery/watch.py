"""Watches the queue: its figures for operators, and deliveries that nobody comes back from."""

from datetime import timedelta

from tradewind import ids
from tradewind.delivery import figures, sql, sql_lost
from tradewind.observability.logs import log
from tradewind.storage.pool import Database

# Claimed so often without an outcome, a delivery is more likely to be what kills its workers.
_LOST = 5
_REST = timedelta(minutes=15)


async def watch(db: Database) -> bool:
    """Take the figures, and put aside what is never told of; there is never more to do at once."""
    row = await sql.queue_figures(db)
    if row is not None:
        figures.QUEUE_DEPTH.set(row["depth"])
        figures.OLDEST_DUE.set(row["oldest_due_seconds"] or 0)
    for parked in await sql_lost.park(db, lost=_LOST, rest=_REST):
        log.error(
            "delivery.parked",
            subscription=ids.SUBSCRIPTION.show(parked["subscription_id"]),
            event_id=ids.EVENT.show(parked["event_id"]),
        )
    return False
