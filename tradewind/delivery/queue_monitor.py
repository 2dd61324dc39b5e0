"""Measures the queue, warns of a hold, and postpones deliveries that keep crashing workers."""

from datetime import timedelta

from tradewind import ids
from tradewind.delivery import metrics, sql, sql_expired_leases, sql_hold
from tradewind.delivery.engine import LEASE
from tradewind.observability.logs import log
from tradewind.storage.pool import Database

# Expired leases in a row after which a delivery is likely to be what kills its workers.
_LOST = 5
_REST = timedelta(minutes=15)
# So often it is parked, in case something else killed them; then it is given up.
_PARKED = 3
_WHY = (
    "It was given up: its worker died before it reported the result, "
    f"{_LOST * (_PARKED + 1) + 1} times in a row."
)


async def watch(db: Database) -> bool:
    """Measure the queue, and park or give up what never gets a result; always False: it is done."""
    queue = await sql.find_queue_depth(db)
    metrics.QUEUE_DEPTH.set(queue.depth)
    metrics.OLDEST_DUE.set(queue.oldest_due_seconds or 0)
    hold = await sql_hold.find_hold(db)
    if hold is not None:
        log.warning("delivery.held", since=hold.since, reason=hold.reason, queued=queue.depth)
    given_up = await sql_expired_leases.give_up(
        db, lost=_LOST, parked=_PARKED, lease=LEASE, why=_WHY
    )
    parked = await sql_expired_leases.park(db, lost=_LOST, most=_PARKED, rest=_REST)
    metrics.GIVEN_UP.inc(len(given_up))
    metrics.PARKED.inc(len(parked))
    for event, deliveries in (("delivery.given_up", given_up), ("delivery.parked", parked)):
        for delivery in deliveries:
            log.error(
                event,
                subscription=ids.SUBSCRIPTION.show(delivery.subscription_id),
                event_id=ids.EVENT.show(delivery.event_id),
                attempt=delivery.attempt,
            )
    return False
