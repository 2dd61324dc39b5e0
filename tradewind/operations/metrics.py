"""The metrics of the system's state, and the measurement that every worker repeats."""

from collections.abc import Sequence
from datetime import timedelta
from time import time

from prometheus_client import Gauge

from tradewind.operations import sql
from tradewind.operations.model import Authorisation
from tradewind.orders.model import PlatformJob
from tradewind.storage import migrate, partitions
from tradewind.storage.pool import Database

# An approver needs some time to decide, and a marketplace some to debit.
EXPIRING = timedelta(hours=2)
JOBS = [job.value for job in PlatformJob if job is not PlatformJob.NONE]

MEASURED_AT = Gauge(
    "tradewind_state_measured_timestamp_seconds",
    "When this worker last measured the state of the system, in Unix time.",
)
WORKERS = Gauge("tradewind_workers", "Workers that reported in the last 40 seconds.")
WORKERS_SILENT = Gauge(
    "tradewind_workers_silent",
    "Workers that stopped reporting in the last 15 minutes without a proper stop.",
)
ORDER_JOBS = Gauge(
    "tradewind_order_jobs",
    "Orders that wait for a job at a marketplace. Of syncs, those that are due.",
    ["platform", "work"],
)
ORDER_JOB_OLDEST = Gauge(
    "tradewind_order_job_oldest_seconds",
    "Time since the last change of the order that has waited longest for a job.",
    ["platform", "work"],
)
ORDER_JOB_OVERDUE = Gauge(
    "tradewind_order_job_overdue_seconds",
    "How long the first job at a marketplace is overdue.",
    ["platform", "work"],
)
PAYMENT_REQUESTS = Gauge(
    "tradewind_payment_requests", "Open payment requests by status.", ["status", "mode"]
)
PAYMENT_OLDEST = Gauge(
    "tradewind_payment_request_oldest_seconds",
    "Time since the oldest open payment request came into its status.",
    ["status", "mode"],
)
PAYMENTS_EXPIRING = Gauge(
    "tradewind_payments_expiring",
    "Payment requests that wait for a person, and whose order must be paid within two hours.",
)
AUTHORISED = Gauge(
    "tradewind_platform_authorised",
    "Whether our authorisation at a marketplace is valid.",
    ["platform"],
)
REFRESH_FAILING = Gauge(
    "tradewind_platform_refresh_failing",
    "Whether the last refresh of our token at a marketplace failed.",
    ["platform"],
)
AUTHORISATION_EXPIRES = Gauge(
    "tradewind_platform_authorisation_expires_seconds",
    "Time until our authorisation at a marketplace expires; +Inf if it does not.",
    ["platform"],
)
TASK_OVERDUE = Gauge(
    "tradewind_scheduled_task_overdue_seconds", "How long a scheduled task is overdue.", ["task"]
)
DATABASE_CONNECTIONS = Gauge(
    "tradewind_database_connections", "Connections to the PostgreSQL server, of all clients."
)
DATABASE_CONNECTIONS_MAX = Gauge(
    "tradewind_database_connections_max", "Connections that the PostgreSQL server allows."
)
DATABASE_OLDEST_TRANSACTION = Gauge(
    "tradewind_database_oldest_transaction_seconds", "Age of the oldest open transaction."
)
DATABASE_SLOT_BYTES = Gauge(
    "tradewind_database_replication_slot_bytes",
    "WAL that the server keeps for its slowest replication slot.",
)
DATABASE_SIZE = Gauge("tradewind_database_size_bytes", "Size of the database.")
DATABASE_READY = Gauge(
    "tradewind_database_ready", "Whether the database passes a check of /readyz.", ["check"]
)

_BY_PLATFORM = (AUTHORISED, REFRESH_FAILING, AUTHORISATION_EXPIRES)


class StateMetrics:
    """Measures the state of the system; every worker does so, and their values are the same."""

    def __init__(self, db: Database, platforms: Sequence[str], tasks: Sequence[str]) -> None:
        self._db = db
        self._platforms = platforms
        self._tasks = tasks
        self._authorised: set[str] = set()
        for task in tasks:
            TASK_OVERDUE.labels(task).set(0)

    async def measure(self) -> bool:
        """Measure everything once; always False: there is no more to do now."""
        db = self._db
        for backlog in await sql.measure_jobs(db, self._platforms, JOBS):
            labels = (backlog.platform, backlog.job)
            ORDER_JOBS.labels(*labels).set(backlog.orders)
            ORDER_JOB_OLDEST.labels(*labels).set(backlog.oldest_seconds)
            ORDER_JOB_OVERDUE.labels(*labels).set(backlog.overdue_seconds)
        for payments in await sql.measure_payments(db):
            labels = (payments.status, payments.mode)
            PAYMENT_REQUESTS.labels(*labels).set(payments.requests)
            PAYMENT_OLDEST.labels(*labels).set(payments.oldest_seconds)
        PAYMENTS_EXPIRING.set(await sql.count_expiring_payments(db, within=EXPIRING))
        self._show_authorisations(await sql.list_authorisations(db, self._platforms))
        for delay in await sql.list_task_delays(db, self._tasks):
            TASK_OVERDUE.labels(delay.task).set(delay.overdue_seconds)
        workers = await sql.count_workers(db)
        WORKERS.set(workers.reporting)
        WORKERS_SILENT.set(workers.silent)
        await self._measure_database()
        MEASURED_AT.set(time())
        return False

    def _show_authorisations(self, authorisations: Sequence[Authorisation]) -> None:
        """Show those that there are; a marketplace that was disconnected is not shown any more."""
        platforms = {authorisation.platform for authorisation in authorisations}
        for platform in self._authorised - platforms:
            for gauge in _BY_PLATFORM:
                gauge.remove(platform)
        self._authorised = platforms
        for authorisation in authorisations:
            expires = authorisation.expires_seconds
            AUTHORISED.labels(authorisation.platform).set(authorisation.is_valid)
            REFRESH_FAILING.labels(authorisation.platform).set(authorisation.is_refresh_failing)
            AUTHORISATION_EXPIRES.labels(authorisation.platform).set(
                float("inf") if expires is None else expires
            )

    async def _measure_database(self) -> None:
        state = await sql.measure_database(self._db)
        DATABASE_CONNECTIONS.set(state.connections)
        DATABASE_CONNECTIONS_MAX.set(state.connections_max)
        DATABASE_OLDEST_TRANSACTION.set(state.oldest_transaction_seconds)
        DATABASE_SLOT_BYTES.set(state.replication_slot_bytes)
        DATABASE_SIZE.set(state.size_bytes)
        DATABASE_READY.labels("writable").set(state.is_writable)
        DATABASE_READY.labels("writes").set(await self._db.writes.are_acknowledged())
        DATABASE_READY.labels("migrations").set(not await migrate.pending(self._db))
        DATABASE_READY.labels("partitions").set(await partitions.reach_tomorrow(self._db))
