"""Watches the queue: its figures for operators, and deliveries that nobody comes back from."""

from datetime import timedelta

from tradewind import ids
from tradewind.delivery import metrics as figures
from tradewind.delivery import sql, sql_expired_leases
from tradewind.delivery.engine import LEASE
from tradewind.observability.logs import log
from tradewind.storage.pool import Database

# Claimed so often without an outcome, a delivery is more likely to be what kills its workers.
_LOST = 5
_REST = timedelta(minutes=15)
# So often it is put aside, in the hope that something else killed them; then it is given up.
_PARKED = 3
_WHY = (
    "It was given up: whoever sent it died before the answer was recorded, "
    f"{_LOST * (_PARKED + 1) + 1} times in a row."
)


async def watch(db: Database) -> bool:
    """Take the figures, and put aside or give up what is never told of; it never has more to do."""
    row = await sql.queue_figures(db)
    if row is not None:
        figures.QUEUE_DEPTH.set(row["depth"])
        figures.OLDEST_DUE.set(row["oldest_due_seconds"] or 0)
    given_up = await sql_expired_leases.give_up(
        db, lost=_LOST, parked=_PARKED, lease=LEASE, why=_WHY
    )
    for ended in given_up:
        log.error(
            "delivery.given_up",
            subscription=ids.SUBSCRIPTION.show(ended["subscription_id"]),
            event_id=ids.EVENT.show(ended["event_id"]),
            attempt=ended["attempt"],
        )
    for parked in await sql_expired_leases.park(db, lost=_LOST, most=_PARKED, rest=_REST):
        log.error(
            "delivery.parked",
            subscription=ids.SUBSCRIPTION.show(parked["subscription_id"]),
            event_id=ids.EVENT.show(parked["event_id"]),
        )
    return False
