"""A whole system behind PgBouncer: order, payment, webhook, stream and import."""

import json
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from imports.test_imports import HEADER, done, imported, row
from kit import blocks
from kit.event_stream import streaming
from kit.pgbouncer import PAGE, POOL_SIZE, Pooler
from kit.server import ServerLauncher
from kit.spreadsheets import csv_file
from kit.system import running_system
from kit.webhook_endpoint import assert_genuine, running_endpoint
from kit.webhook_system import WebhookSystem

from tradewind.delivery.engine import ENGINE_CONNECTIONS
from tradewind.runtime.wiring import GATE_CONNECTIONS

ORDERS = 12
POOLED = ("tradewind api", "tradewind api logins", "tradewind worker")
# Wake-ups come at once. Without them, a stream and a worker would look after seconds only.
STREAM_SECONDS = 2.0


def test_order_pay_deliver_stream_and_import(
    pooler: Pooler, launcher: ServerLauncher, tmp_path: Path
) -> None:
    (block,) = blocks.find(PAGE, "ini", containing="TRADEWIND_DATABASE_DIRECT_URL")
    variables = [line.partition("=")[0] for line in block.text.splitlines()]
    assert variables == [*pooler.settings("")]

    with (
        running_system(launcher, tmp_path, workers=2, pooler=pooler) as running,
        running_endpoint() as endpoint,
    ):
        system = WebhookSystem.of(running)
        hook = system.hook(endpoint.url())
        with streaming(system.api, system.buyer) as stream:
            started = time.monotonic()
            event_ids = system.emit()
            (event,) = stream.take(1)
            assert json.loads(event.data)["id"] == event_ids[0]
            assert time.monotonic() - started < STREAM_SECONDS

        with ThreadPoolExecutor(ORDERS) as threads:
            orders = list(threads.map(lambda _: system.paid(), range(ORDERS)))
        assert {order["payment_status"] for order in orders} == {"paid"}
        assert len({order["id"] for order in orders}) == ORDERS
        table = csv_file([HEADER, *(row(system, quantity) for quantity in (1, 2, 3))])
        assert done(system, imported(system, table))["counts"]["orders_placed"] == 3

        journal = [event["id"] for event in system.events()]
        received = endpoint.until(lambda got: {one.event_id for one in got} >= {*journal})
        for request in received:
            assert_genuine(request, hook.secret)
        assert len({request.event_id for request in received}) == len(journal)
        assert 0 < _connections(system, *POOLED) <= POOL_SIZE
        # Two workers, and two processes of the API.
        assert 0 < _connections(system, "tradewind deliveries") <= 2 * ENGINE_CONNECTIONS
        assert 0 < _connections(system, "tradewind api gate") <= 2 * GATE_CONNECTIONS
        logs = "".join(log.read_text() for log in launcher.folder.glob("*.log"))
        assert "prepared statement" not in logs
    blocks.ran([block])


def _connections(system: WebhookSystem, *names: str) -> int:
    """The connections of PostgreSQL that come from these pools, without those that listen."""
    rows = system.api.fetch(
        """
        SELECT count(*) AS connections
          FROM pg_stat_activity
         WHERE datname = current_database() AND application_name = ANY ($1)
           AND query NOT LIKE 'LISTEN%' AND query NOT LIKE '%advisory%'
        """,
        names,
    )
    connections: int = rows[0]["connections"]
    return connections
