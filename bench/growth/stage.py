"""A database of its own for each size, copied from one that the product itself has filled."""

import asyncio
import itertools
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from uuid import UUID

import asyncpg

from bench import me, orders, servers
from bench.endpoints import Endpoints
from bench.growth import sql_fill
from bench.growth.meter import GrowthMeter
from bench.statement_log import log_of
from bench.subscribe import subscribe
from tradewind.settings.settings import DEVELOPMENT_SECRET
from tradewind.storage.embedded import EmbeddedServer
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database

# As many as a worker claims at once on the sandbox.
ORDERS = 80
PLATFORM = "sandbox"
_TEMPLATE = "growth_template"
_LOOK_SECONDS = 0.1
# A worker is idle when it was found so this many times in a row.
_IDLE_LOOKS = 5
_PATIENCE_SECONDS = 60.0


@dataclass(frozen=True)
class Template:
    """What every database has from the start: an account with orders that the product made."""

    key: str
    approver_key: str
    account_id: UUID
    order_ids: tuple[UUID, ...]
    order_body: object


@dataclass(frozen=True)
class Site:
    """One database that is measured, and the simulated marketplace."""

    url: str
    db: Database
    connection: asyncpg.Connection
    meter: GrowthMeter
    postmaster: int
    template: Template
    endpoints: Endpoints
    simulator: str

    @property
    def settings(self) -> Mapping[str, str]:
        """The settings of a process that places orders on the simulated marketplace."""
        return {
            "TRADEWIND_SANDBOX_URL": self.simulator,
            "TRADEWIND_DATABASE_URL": self.url,
            "TRADEWIND_LOG_LEVEL": "error",
            "TRADEWIND_REFRESH_MIN_AGE": "3600",
        }

    async def subscribe(self, url: str) -> UUID:
        """A webhook of the template's account."""
        keyring = Keyring([DEVELOPMENT_SECRET])
        return await subscribe(self.db, keyring, self.template.account_id, url)

    async def worker_is_idle(self) -> None:
        """Wait until a worker that was just started has nothing left to sync.

        At its start it lists what changed on the marketplace within the last hour, and syncs every
        order of this database among it.
        """
        until = time.perf_counter() + _PATIENCE_SECONDS
        looks = 0
        while looks < _IDLE_LOOKS:
            if time.perf_counter() > until:
                raise RuntimeError("The worker did not sync all orders in time.")
            await asyncio.sleep(_LOOK_SECONDS)
            looks = looks + 1 if await sql_fill.is_synced(self.connection, PLATFORM) else 0

    async def check_fill(self) -> None:
        """Raise an error if a worker has synced what was only filled in."""
        if failed := await sql_fill.count_failed_syncs(self.connection):
            raise RuntimeError(f"{failed} orders that were filled in were synced meanwhile.")


class Stage:
    """The server, the simulated marketplace and the endpoints of a run."""

    def __init__(self, server: EmbeddedServer, simulator: str, endpoints: Endpoints) -> None:
        self._server = server
        self._simulator = simulator
        self._endpoints = endpoints
        self._numbers = itertools.count(1)
        self._template: Template | None = None

    async def prepare(self) -> None:
        """Make the template: accounts, keys, and orders through the API."""
        await self._execute(f"CREATE DATABASE {_TEMPLATE}")
        url = self._server.url(_TEMPLATE)
        key, _ = await me.prepare(url)
        approver_key = await orders.make_approver(url)
        settings = {"TRADEWIND_SANDBOX_URL": self._simulator, "TRADEWIND_LOG_LEVEL": "error"}
        with ExitStack() as stack:
            api = stack.enter_context(servers.tradewind(url, settings))
            body = orders.order_body(api, key)
            for _ in range(ORDERS):
                orders.call(api, key, "/v1/orders", body)
        connection = await asyncpg.connect(url)
        await sql_fill.prepare(connection)
        placed = await connection.fetch("SELECT id, account_id FROM purchase_order ORDER BY id")
        # Requests of the template are over: nothing of them is to be sent again.
        await connection.execute("TRUNCATE idempotency_key, rate_budget")
        await connection.close()
        self._template = Template(
            key, approver_key, placed[0]["account_id"], tuple(row["id"] for row in placed), body
        )

    @asynccontextmanager
    async def site(self) -> AsyncIterator[Site]:
        """A new database, which is dropped afterwards."""
        if self._template is None:
            raise RuntimeError("The template was not prepared.")
        name = f"growth_{next(self._numbers)}"
        await self._execute(f"CREATE DATABASE {name} TEMPLATE {_TEMPLATE}")
        url = self._server.url(name)
        connection = await asyncpg.connect(url)
        db = Database(url, size=8, name="growth")
        await db.open()
        meter = GrowthMeter(connection, self._server.pid, await log_of(url))
        try:
            yield Site(
                url,
                db,
                connection,
                meter,
                self._server.pid,
                self._template,
                self._endpoints,
                self._simulator,
            )
        finally:
            await db.close()
            await connection.close()
            await self._execute(f"DROP DATABASE {name} WITH (FORCE)")

    async def _execute(self, statement: str) -> None:
        connection = await asyncpg.connect(self._server.url())
        await connection.execute(statement, timeout=120)
        await connection.close()
