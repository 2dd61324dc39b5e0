"""Does what is due at a platform: creates orders, cancels them, and pays them."""

import asyncio

from tradewind.observability.logs import log
from tradewind.orders import cancel, sql_leases, submit
from tradewind.orders.lease import HELD, Lease
from tradewind.orders.lifecycle import next_work
from tradewind.orders.model import Order, Work
from tradewind.payments import pay
from tradewind.platforms.contract import Connector
from tradewind.platforms.failures import Never, PlatformFailure, TryLater
from tradewind.storage.pool import Database

_AT_ONCE = 16
_WORKS = [Work.CREATE, Work.CANCEL, Work.PAY]


async def submit_due(db: Database, connector: Connector) -> bool:
    """Do a handful of what is due; whether there was any.

    If the platform takes nothing at all, its failure is raised, so that the caller pauses.
    """
    lease = Lease()
    held = await sql_leases.claim_due(
        db, connector.traits.platform, _WORKS, lease=lease.id, held=HELD, limit=_AT_ONCE
    )
    if not held:
        return False
    failures = await asyncio.gather(*(_do(db, connector, order, lease) for order in held))
    away = [failure for failure in failures if isinstance(failure, TryLater)]
    if len(away) == len(held):
        raise away[0]
    return True


async def _do(
    db: Database, connector: Connector, order: Order, lease: Lease
) -> PlatformFailure | None:
    """One step of one order; the failure of the platform, if it was one."""
    work = next_work(order)
    try:
        if work is Work.CREATE:
            await submit.create(db, connector, order, lease)
        elif work is Work.CANCEL:
            await cancel.carry_out(db, connector, order, lease)
        else:
            await pay.pay(db, connector, order, lease)
    except Never as never:
        log.warning("order.step_refused", order=order.reference, work=work, error=str(never))
        return never
    except PlatformFailure as failure:
        log.warning("order.step_failed", order=order.reference, work=work, error=str(failure))
        return failure
    return None
