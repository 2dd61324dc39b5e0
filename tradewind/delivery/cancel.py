"""Cancels deliveries that subscriptions no longer want, soon after the change and in batches."""

from datetime import timedelta

from tradewind import ids
from tradewind.delivery import metrics, sql_cancel, sql_replays
from tradewind.delivery.engine import LEASE
from tradewind.delivery.model import CANCEL_MESSAGES
from tradewind.observability.logs import log
from tradewind.storage.pool import Database
from tradewind.storage.transaction import transaction

# Rows of the queue that one statement looks at. The locks of a batch last some milliseconds.
_BATCH = 1000
# What is being sent cannot be cancelled. If it fails, the retry that it leaves behind can.
_REST = timedelta(seconds=1)


async def cancel_unwanted(db: Database) -> bool:
    """Cancel one batch of what will never be sent; return whether there may be more to do.

    The row in `cancellation` that asks for it was written together with the change, so a crash or
    a lost wake-up delays this and loses nothing.
    """
    if not await sql_cancel.is_cancellation_due(db):
        return False
    async with transaction(db) as tx:
        due = await sql_cancel.take_cancellation(tx)
        if due is None:  # another worker has it
            return False
        subscription_id = due.subscription_id
        batch = await sql_cancel.cancel_batch(
            tx,
            subscription_id,
            after=(due.after_due_at, due.after_id),
            limit=_BATCH,
            lease=LEASE,
            messages={reason.value: message for reason, message in CANCEL_MESSAGES.items()},
        )
        met_in_flight = due.met_in_flight or batch.cancelled < batch.unwanted
        if batch.seen == _BATCH:
            position = (batch.due_at, batch.id)
            await sql_cancel.go_on_after(tx, subscription_id, position, met_in_flight=met_in_flight)
        elif met_in_flight:
            await sql_cancel.begin_again(tx, subscription_id, rest=_REST)
        else:
            await sql_cancel.finish(tx, subscription_id)
    if batch.replay_ids:
        await sql_replays.count_results(db, batch.replay_ids, [False] * len(batch.replay_ids))
    if batch.cancelled:
        metrics.cancelled(batch.cancelled)
        log.info(
            "delivery.cancelled",
            subscription=ids.SUBSCRIPTION.show(subscription_id),
            count=batch.cancelled,
        )
    return True
