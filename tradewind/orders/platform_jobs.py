"""Runs the jobs that are due at a marketplace: creates orders, cancels them, and pays them."""

import asyncio

from tradewind.errors import TradewindError
from tradewind.observability import tracing
from tradewind.observability.logs import log
from tradewind.orders import cancel, sql_leases, submit
from tradewind.orders.goods import GoodsReading
from tradewind.orders.lease import HELD, Lease
from tradewind.orders.lifecycle import next_job
from tradewind.orders.model import Order, PlatformJob
from tradewind.orders.payments import pay
from tradewind.platforms.contract import Connector
from tradewind.platforms.failures import PlatformFailure, Rejected, Unavailable
from tradewind.platforms.product_cache import ProductCache
from tradewind.storage.pool import Database

_CONCURRENCY = 16
_JOBS = [PlatformJob.CREATE, PlatformJob.CANCEL, PlatformJob.PAY]
# After so many failures in a row, the marketplace counts as unavailable.
_UNAVAILABLE_AFTER = 4
_STOP_SECONDS = 12.0


class Submitter:
    """The jobs of one process at one marketplace. A call that hangs does not stop the others."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._products = ProductCache(db)
        self._running: set[asyncio.Task[None]] = set()
        self._failures_in_a_row = 0
        self._last: Unavailable | None = None

    async def step(self, connector: Connector) -> bool:
        """Begin the jobs that are due, up to the concurrency limit; return whether more may be due.

        While the marketplace is unavailable, its failure is raised, so that the caller pauses, and
        then one job at a time finds out whether it is back.
        """
        if (
            self._last is not None
            and self._failures_in_a_row >= _UNAVAILABLE_AFTER
            and not self._running
        ):
            failure, self._last = self._last, None
            raise failure
        room = (1 if self._failures_in_a_row >= _UNAVAILABLE_AFTER else _CONCURRENCY) - len(
            self._running
        )
        if room <= 0:
            await asyncio.wait(self._running, return_when=asyncio.FIRST_COMPLETED)
            return True
        lease = Lease()
        held = await sql_leases.claim_due(
            self._db, connector.traits.platform, _JOBS, lease=lease.id, held=HELD, limit=room
        )
        for order in held:
            task = asyncio.create_task(self._do_traced(connector, order, lease))
            self._running.add(task)
            task.add_done_callback(self._running.discard)
        return len(held) == room

    async def close(self) -> None:
        """Wait a while for jobs to end; another process finds out about the rest."""
        if self._running:
            await asyncio.wait(self._running, timeout=_STOP_SECONDS)

    async def _do_traced(self, connector: Connector, order: Order, lease: Lease) -> None:
        with tracing.span(f"order {next_job(order)}", **{"tradewind.order": order.reference}):
            await self._do(connector, order, lease)

    async def _do(self, connector: Connector, order: Order, lease: Lease) -> None:
        """Run one job."""
        job = next_job(order)
        try:
            if job is PlatformJob.CREATE:
                goods = GoodsReading(self._products, connector, order.lines)
                await submit.create(self._db, connector, order, lease, goods)
            elif job is PlatformJob.CANCEL:
                await cancel.carry_out(self._db, connector, order, lease)
            else:
                await pay.pay(self._db, connector, order, lease)
        except Unavailable as unavailable:
            self._failures_in_a_row += 1
            self._last = unavailable
            log.warning("order.job_failed", order=order.reference, job=job, error=str(unavailable))
            return
        except Rejected as rejected:
            log.warning("order.job_rejected", order=order.reference, job=job, error=str(rejected))
        except PlatformFailure as failure:
            log.warning("order.job_failed", order=order.reference, job=job, error=str(failure))
        except TradewindError as error:  # the database is away: retry when the lease expires
            log.warning("order.job_failed", order=order.reference, job=job, error=str(error))
        except Exception:  # noqa: BLE001 - likewise
            log.exception("order.job_broke", order=order.reference, job=job)
        self._failures_in_a_row = 0
