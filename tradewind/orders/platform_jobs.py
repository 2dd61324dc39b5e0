"""Does what is due at a platform: creates orders, cancels them, and pays them."""

import asyncio

from tradewind.errors import TradewindError
from tradewind.observability.logs import log
from tradewind.orders import cancel, sql_leases, submit
from tradewind.orders.lease import HELD, Lease
from tradewind.orders.lifecycle import next_work
from tradewind.orders.model import Order, Work
from tradewind.orders.payments import pay
from tradewind.platforms.contract import Connector
from tradewind.platforms.failures import PlatformFailure, Rejected, Unavailable
from tradewind.storage.pool import Database

_AT_ONCE = 16
_WORKS = [Work.CREATE, Work.CANCEL, Work.PAY]
# So many in a row that the platform took none of: it is away.
_AWAY = 4
_STOP_SECONDS = 12.0


class Submitter:
    """What one process does at one platform. One call that hangs holds up no other."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._running: set[asyncio.Task[None]] = set()
        self._refused_in_a_row = 0
        self._last: Unavailable | None = None

    async def step(self, connector: Connector) -> bool:
        """Begin what is due, as far as there is room; whether there was any.

        While the platform takes nothing, its failure is raised, so that the caller pauses, and
        then one order at a time finds out whether it is back.
        """
        if self._last is not None and self._refused_in_a_row >= _AWAY and not self._running:
            failure, self._last = self._last, None
            raise failure
        room = (1 if self._refused_in_a_row >= _AWAY else _AT_ONCE) - len(self._running)
        if room <= 0:
            await asyncio.wait(self._running, return_when=asyncio.FIRST_COMPLETED)
            return True
        lease = Lease()
        held = await sql_leases.claim_due(
            self._db, connector.traits.platform, _WORKS, lease=lease.id, held=HELD, limit=room
        )
        for order in held:
            task = asyncio.create_task(self._do(connector, order, lease))
            self._running.add(task)
            task.add_done_callback(self._running.discard)
        return bool(held)

    async def close(self) -> None:
        """Wait for what is under way, so long; what is not over then is found out by others."""
        if self._running:
            await asyncio.wait(self._running, timeout=_STOP_SECONDS)

    async def _do(self, connector: Connector, order: Order, lease: Lease) -> None:
        """One step of one order."""
        work = next_work(order)
        try:
            if work is Work.CREATE:
                await submit.create(self._db, connector, order, lease)
            elif work is Work.CANCEL:
                await cancel.carry_out(self._db, connector, order, lease)
            else:
                await pay.pay(self._db, connector, order, lease)
        except Unavailable as later:
            self._refused_in_a_row += 1
            self._last = later
            log.warning("order.step_failed", order=order.reference, work=work, error=str(later))
            return
        except Rejected as never:
            log.warning("order.step_refused", order=order.reference, work=work, error=str(never))
        except PlatformFailure as failure:
            log.warning("order.step_failed", order=order.reference, work=work, error=str(failure))
        except (
            TradewindError
        ) as error:  # the database is away: the lease ends, and it is tried again
            log.warning("order.step_failed", order=order.reference, work=work, error=str(error))
        except Exception:  # noqa: BLE001 - likewise
            log.exception("order.step_broke", order=order.reference, work=work)
        self._refused_in_a_row = 0
