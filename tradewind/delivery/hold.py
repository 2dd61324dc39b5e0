"""Holds all deliveries until an operator releases them, for example after a restore."""

from tradewind.audit.model import Actor
from tradewind.audit.record import record
from tradewind.delivery import sql_hold
from tradewind.events.journal import DELIVERIES
from tradewind.storage.pool import Database
from tradewind.storage.transaction import transaction

_SUBJECT = "deliveries"


async def hold(db: Database, by: Actor, reason: str) -> bool:
    """Let no worker claim a delivery; return False if deliveries are held already.

    What a worker has claimed is still sent, for some seconds.
    """
    async with transaction(db) as tx:
        begun = await sql_hold.begin_hold(tx, reason)
        if begun:
            record(tx, by, "deliveries.held", account_id=None, subject=_SUBJECT, reason=reason)
    return begun


async def release(db: Database, by: Actor) -> bool:
    """Let workers deliver again; return False if deliveries are not held."""
    async with transaction(db) as tx:
        ended = await sql_hold.end_hold(tx)
        if ended:
            record(tx, by, "deliveries.released", account_id=None, subject=_SUBJECT)
            tx.wake(DELIVERIES)
    return ended
