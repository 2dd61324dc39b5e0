"""Orders: what one costs until it is paid; syncs and reads against their bare cost."""

import asyncio
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from statistics import median
from time import perf_counter, sleep
from typing import Any
from urllib.request import Request, urlopen
from uuid import uuid4

import asyncpg

from bench import servers
from bench.results import Results
from bench.servers import THIS_PROGRAM, Program
from bench.statement_log import log_of, statements_in
from tradewind.accounts.register import register
from tradewind.audit.model import COMMAND_LINE
from tradewind.auth.api_keys.issue import issue
from tradewind.auth.model import Role
from tradewind.auth.passwords import Passwords
from tradewind.egress.client import Client
from tradewind.observability import logs
from tradewind.orders import sql_leases, sync
from tradewind.orders.lease import HELD, Lease
from tradewind.orders.model import PlatformJob
from tradewind.platforms.configured_credentials import store_configured_credentials
from tradewind.platforms.contract import Connector
from tradewind.runtime.wiring import configured_credentials, platforms_of
from tradewind.settings import settings
from tradewind.settings.settings import DEVELOPMENT_SECRET
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database

_ORDERS = 160
_ROUNDS = 5
_PAID_ORDERS = 50
_IN_A_ROW = 40
_WARM_UP_ORDERS = 30
_PRODUCT = "900000000001"
_ADDRESS = {
    "name": "张三",
    "phone": "15251667788",
    "province": "浙江省",
    "city": "杭州市",
    "district": "滨江区",
    "detail": "网商路699号",
}
# What the sellers of all orders do between two rounds: each changes every order.
_STEPS = ["pay", "partial_ship", "ship", "receive", "complete"]


def run(database_url: str, key: str, results: Results) -> None:
    logs.configure("json", "warning")  # a line per call to a terminal would be what is measured
    cost(database_url, key, results)
    with ExitStack() as stack:
        simulator = stack.enter_context(servers.simulator())
        environ = {
            "TRADEWIND_SANDBOX_URL": simulator,
            "TRADEWIND_DATABASE_URL": database_url,
            "TRADEWIND_LOG_LEVEL": "warning",
        }
        api = stack.enter_context(servers.tradewind(database_url, environ))
        ours, theirs = _place(api, key)
        read, synced = asyncio.run(_sync(environ, simulator, theirs))
        results.section("Orders")
        results.tell(synced / read, "changed orders synced in batches, against a bare batch read")
        results.note(f"({synced:,.0f} changed orders/s against {read:,.0f} read/s)")
        bare = stack.enter_context(servers.granian("bench.bare:app", path="/"))
        calm = stack.enter_context(
            servers.tradewind(database_url, {**environ, "TRADEWIND_REFRESH_MIN_AGE": "3600"})
        )
        header = {"x-api-key": key}
        rate, found = servers.ratios(
            (bare, {}),
            {
                "GET /v1/orders/:id without a refresh": (f"{calm}/v1/orders/{ours[0]}", header),
                "GET /v1/orders/:id, refreshed (one order, coalesced)": (
                    f"{api}/v1/orders/{ours[0]}",
                    header,
                ),
            },
        )
        results.section("Orders, against a bare ASGI answer", f" ({rate:,.0f}/s)")
        for name, ratio in found.items():
            results.tell(ratio, name, digits=3)


def cost(database_url: str, key: str, results: Results) -> None:
    """Tell what one order costs all processes, from its creation to the payment on the sandbox."""
    approver = asyncio.run(make_approver(database_url))
    asyncio.run(_execute(database_url, "ALTER DATABASE tradewind SET log_statement = 'none'"))
    with paying(database_url, key, approver) as measure:
        spent = measure()
    cpu, _ = _pay_orders(database_url, key, approver)
    asyncio.run(_execute(database_url, "ALTER DATABASE tradewind SET log_statement = 'all'"))
    _, statements = _pay_orders(database_url, key, approver)
    asyncio.run(_execute(database_url, "ALTER DATABASE tradewind RESET log_statement"))
    results.section("An order from its creation until it is paid, on the sandbox")
    for seconds, how in (
        (cpu, "together"),
        (spent, "together, when orders follow each other and nobody asks for them meanwhile"),
    ):
        whole = 1000 * sum(seconds.values())
        results.tell(whole, f"ms of CPU in API, worker and PostgreSQL {how}", digits=1)
        parts = ", ".join(f"{1000 * part:.1f} {name}" for name, part in seconds.items())
        results.note(f"({parts})")
    results.tell(statements["all"], "statements, BEGIN and COMMIT counted", digits=1)
    results.tell(statements["POST"], "of them for POST /v1/orders", digits=1)


@dataclass(frozen=True)
class _System:
    """A running API and worker, with the body of an order for them."""

    api: str
    body: object
    processes: Mapping[str, int]

    def cpu_seconds(self) -> Mapping[str, float]:
        return {name: servers.tree_cpu_seconds(pid) for name, pid in self.processes.items()}

    def cpu_since(self, before: Mapping[str, float], number: int) -> Mapping[str, float]:
        """The seconds of CPU of each part for one of `number` orders."""
        return {name: (now - before[name]) / number for name, now in self.cpu_seconds().items()}


@contextmanager
def _running_system(
    database_url: str, key: str, approver: str, program: Program
) -> Iterator[_System]:
    with ExitStack() as stack:
        simulator = stack.enter_context(servers.simulator())
        environ = {
            "TRADEWIND_SANDBOX_URL": simulator,
            "TRADEWIND_DATABASE_URL": database_url,
            "TRADEWIND_LOG_LEVEL": "warning",
            "TRADEWIND_REFRESH_MIN_AGE": "3600",
        }
        api, api_process = stack.enter_context(servers.serving(database_url, environ, program))
        port = servers.free_port()
        command = [sys.executable, "-m", "tradewind", "worker"]
        listen = {**environ, "TRADEWIND_METRICS_LISTEN": f"127.0.0.1:{port}"}
        worker = stack.enter_context(
            servers.process(command, listen, f"http://127.0.0.1:{port}/healthz", program)
        )
        body = order_body(api, key)
        for _ in range(_WARM_UP_ORDERS):  # until every connection has planned its statements
            pay_order(api, key, approver, body)
        backends = asyncio.run(_backends(database_url))
        processes = {
            "API": api_process,
            "worker": worker.pid,
            "PostgreSQL": servers.parent_of(next(iter(backends))),
        }
        yield _System(api, body, processes)


@contextmanager
def paying(
    database_url: str, key: str, approver: str, program: Program = THIS_PROGRAM
) -> Iterator[Callable[[], Mapping[str, float]]]:
    """Measure seconds of CPU of each part for one order; each follows the approval of the last."""
    with _running_system(database_url, key, approver, program) as system:

        def measure() -> Mapping[str, float]:
            before = system.cpu_seconds()
            order_ids = [
                _order_and_approve(system.api, key, approver, system.body) for _ in range(_IN_A_ROW)
            ]
            # Payments are made in the order of their approval.
            _wait_until_paid(system.api, key, order_ids[-1])
            cpu = system.cpu_since(before, _IN_A_ROW)
            for order_id in order_ids:
                _wait_until_paid(system.api, key, order_id)
            return cpu

        yield measure


def _pay_orders(
    database_url: str, key: str, approver: str
) -> tuple[Mapping[str, float], Mapping[str, float]]:
    """Pay orders one after another; seconds of CPU of each part, and statements, for one order."""
    with _running_system(database_url, key, approver, THIS_PROGRAM) as system:
        log = asyncio.run(log_of(database_url))
        backends = asyncio.run(_backends(database_url))
        before = system.cpu_seconds()
        start = log.stat().st_size
        windows = [
            pay_order(system.api, key, approver, system.body, log) for _ in range(_PAID_ORDERS)
        ]
        cpu = system.cpu_since(before, _PAID_ORDERS)
        backends |= asyncio.run(_backends(database_url))
        api_pids = {pid for pid, name in backends.items() if name.startswith("tradewind api")}
        statements = {
            "all": len(statements_in(log, start, log.stat().st_size)),
            "POST": sum(
                pid in api_pids for window in windows for pid in statements_in(log, *window)
            ),
        }
    return cpu, {name: n / _PAID_ORDERS for name, n in statements.items()}


def pay_order(
    api: str, key: str, approver: str, body: object, log: Path | None = None
) -> tuple[int, int]:
    """Take an order through to its payment; the size of the log before and after its POST."""
    start = log.stat().st_size if log else 0
    order = call(api, key, "/v1/orders", body)
    end = log.stat().st_size if log else 0
    _approve_payment(api, key, approver, order["id"])
    _wait_until_paid(api, key, order["id"])
    return start, end


def _order_and_approve(api: str, key: str, approver: str, body: object) -> str:
    """Create an order whose payment is approved; its id."""
    order_id: str = call(api, key, "/v1/orders", body)["id"]
    _approve_payment(api, key, approver, order_id)
    return order_id


def _approve_payment(api: str, key: str, approver: str, order_id: str) -> None:
    payment = call(api, key, f"/v1/orders/{order_id}/payment", {})
    call(api, approver, f"/v1/payments/{payment['id']}/approve", {})


def _wait_until_paid(api: str, key: str, order_id: str) -> None:
    deadline = perf_counter() + 30
    while call(api, key, f"/v1/orders/{order_id}")["payment_status"] != "paid":
        if perf_counter() > deadline:
            raise RuntimeError("The order was not paid.")
        sleep(0.05)


async def make_approver(database_url: str) -> str:
    """An account that approves payments; its API key."""
    db = Database(database_url, size=1, name="bench")
    await db.open()
    passwords = Passwords()
    try:
        account = await register(
            db, passwords, COMMAND_LINE, email="approver@bench.example", roles=[Role.APPROVER]
        )
        _, key = await issue(db, Keyring([DEVELOPMENT_SECRET]), COMMAND_LINE, account.id, "bench")
        return key
    finally:
        passwords.close()
        await db.close()


async def _execute(database_url: str, statement: str) -> None:
    connection = await asyncpg.connect(database_url)
    await connection.execute(statement)
    await connection.close()


async def _backends(database_url: str) -> dict[int, str]:
    """The name of the application of each backend, by its process id."""
    connection = await asyncpg.connect(database_url)
    rows = await connection.fetch(
        """
        SELECT pid, application_name
          FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid()
        """
    )
    await connection.close()
    return {row["pid"]: row["application_name"] for row in rows}


def _place(api: str, key: str) -> tuple[list[str], list[str]]:
    """Orders through the API: their ids with us, and on the platform."""
    body = order_body(api, key)
    placed = [call(api, key, "/v1/orders", body) for _ in range(_ORDERS)]
    return [one["id"] for one in placed], [one["order_id"] for one in placed]


def order_body(api: str, key: str) -> object:
    product = call(api, key, f"/v1/products/sandbox/{_PRODUCT}")
    item = {"product_id": _PRODUCT, "sku_id": product["skus"][0]["id"], "quantity": 2}
    return {"platform": "sandbox", "items": [item], "address": _ADDRESS}


def call(api: str, key: str, path: str, body: object = None) -> Any:
    headers = {"x-api-key": key, "idempotency-key": str(uuid4())}
    data = None if body is None else json.dumps(body).encode()
    if data is not None:
        headers["content-type"] = "application/json"
    with urlopen(Request(api + path, data, headers), timeout=30) as answer:  # noqa: S310 - loopback
        return json.load(answer)


async def _sync(
    environ: dict[str, str], simulator: str, order_ids: list[str]
) -> tuple[float, float]:
    """Orders a second that are only read in batches, and that are synced because all changed."""
    chosen = settings.load({**environ, "TRADEWIND_HOST": "127.0.0.1"})
    db = Database(chosen.database_url, size=4, name="bench")
    client = Client()
    await db.open()
    try:
        platforms = platforms_of(chosen, db, Keyring(chosen.secret_key), client)
        await store_configured_credentials(db, platforms, configured_credentials(chosen))
        connector = await platforms.connector("sandbox")
        bare, synced = [], []
        for step in _STEPS[:_ROUNDS]:
            await asyncio.gather(*(_advance(client, simulator, one, step) for one in order_ids))
            bare.append(await _only_read(connector, order_ids))
            synced.append(await _read_and_record(db, connector, order_ids))
        return median(bare), median(synced)
    finally:
        await client.close()
        await db.close()


async def _advance(client: Client, simulator: str, order_id: str, step: str) -> None:
    await client.post(
        f"{simulator}/_control/orders/{order_id}/advance",
        json.dumps({"to": step}).encode(),
        ["Content-Type: application/json"],
        seconds=10,
        repeatable=True,
    )


async def _only_read(connector: Connector, order_ids: list[str]) -> float:
    size = connector.traits.most_orders_a_read
    started = perf_counter()
    chunks = [order_ids[at : at + size] for at in range(0, len(order_ids), size)]
    await asyncio.gather(*(connector.read_many(chunk) for chunk in chunks))
    return len(order_ids) / (perf_counter() - started)


async def _read_and_record(db: Database, connector: Connector, order_ids: list[str]) -> float:
    """The same reads, and everything that follows: lock, decide, save, journal, give back."""
    await sql_leases.hint(db, "sandbox", order_ids)
    lease = Lease()
    started = perf_counter()
    held = await sql_leases.claim_due(
        db,
        "sandbox",
        [PlatformJob.SYNC],
        lease=lease.id,
        held=max(HELD, timedelta(minutes=1)),
        limit=10_000,
    )
    await sync.apply(db, connector, lease, held, await sync.read_orders(connector, held))
    return len(held) / (perf_counter() - started)
