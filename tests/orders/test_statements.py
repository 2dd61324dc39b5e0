"""How many statements PostgreSQL runs for an order; BEGIN, COMMIT and the gate's are counted."""

import re
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import httpx
import pytest
from kit.orders import NOW, a_part
from kit.platform import Fake, approved, current, due_now, held, placed
from kit.server import Server, ServerLauncher
from kit.system import System, simulated

from tradewind.orders import sync
from tradewind.orders.payments import pay
from tradewind.orders.payments.model import PaymentStatus
from tradewind.platforms.model import Payment, PaymentState, PlatformOrder
from tradewind.platforms.model import PlatformOrderStatus as There
from tradewind.storage.pool import Database

_STATEMENT = re.compile(rb"LOG:  (?:statement|execute [^:]*): *([^\n]*)")
# A setting of every connection whose statements are to be counted.
_LOGGED = "&log_statement=all"


@dataclass
class Log:
    """The log of the server, which has every statement of some connections."""

    path: Path
    start: int = 0

    def forget(self) -> None:
        self.start = self.path.stat().st_size

    def statements(self) -> list[str]:
        with self.path.open("rb") as lines:
            lines.seek(self.start)
            return [result.decode() for result in _STATEMENT.findall(lines.read())]


@pytest.fixture
def log(system: System) -> Log:
    (row,) = system.api.fetch("SHOW data_directory")
    return Log(Path(row["data_directory"]).parent / "postgres.log")


@pytest.fixture
def logged_api(launcher: ServerLauncher, system: System) -> Iterator[Server]:
    """Another API on the same database, of one process, whose statements are logged."""
    url = system.api.database_url + _LOGGED
    settings = simulated(system.market)
    with launcher.serving_on(url, workers=1, settings=settings) as server:
        yield server


def test_the_statements_of_an_order_over_http(quiet: System, logged_api: Server, log: Log) -> None:
    logged = replace(quiet, api=logged_api)

    def counted(call: Callable[[], httpx.Response]) -> int:
        log.forget()
        response = call()
        statements = log.statements()
        assert response.status_code < 300, response.text
        return len(statements)

    # Connections are made, credentials of the marketplace are read.
    logged.place(logged.order_body())
    order: list[str] = []

    def place() -> httpx.Response:
        body = logged.order_body(external_id="one of mine", expected_total_cny=None)
        response: httpx.Response = logged.place(body)
        assert response.json()["status"] == "pending_payment"
        order.append(response.json()["id"])
        return response

    assert counted(place) <= 6
    path = f"/v1/orders/{order[0]}/payment"
    assert counted(lambda: logged.call("POST", path, headers={"idempotency-key": "pay"})) <= 3
    payment = logged.ok("GET", f"{path}s")["items"][0]["id"]
    path = f"/v1/payments/{payment}/approve"
    assert counted(lambda: logged.call("POST", path, by=logged.approver)) <= 5


@pytest.fixture
async def logged_db(database_url: str) -> AsyncIterator[Database]:
    database = Database(database_url + _LOGGED, size=2, name="counted")
    await database.open()
    yield database
    await database.close()


def _paid(name: str) -> PlatformOrder:
    return a_part(name, There.PAID, PaymentState.PAID, modified_at=NOW.replace(year=2027))


async def test_the_statements_of_a_sync_and_of_a_payment(
    db: Database, logged_db: Database, log: Log
) -> None:
    parts = [a_part(name) for name in "ABC"]
    orders = [await placed(db, part) for part in parts]

    async def sync_paid(name: str) -> None:
        parts[:] = [_paid(name) if part.id == name else part for part in parts]
        await due_now(db)
        log.forget()
        assert await sync.sync_due(logged_db, Fake(parts).connector)

    await sync_paid("A")  # at first the driver reads the types of its connection
    await sync_paid("B")

    # The claim; save and journal; what did not change is given back.
    assert len(log.statements()) == 3
    assert (await current(db, orders[1])).payment_status is PaymentStatus.PAID

    order, lease = await held(db, await approved(db, part := a_part("D")))
    fake = Fake([part])

    async def debit(_order_id: str, _fen: int, _operation: str) -> Payment:
        fake.parts = [_paid("D")]
        return Payment(PaymentState.PAID)

    fake.pay = debit  # type: ignore[assignment,method-assign]
    log.forget()
    await pay.pay(logged_db, fake.connector, order, lease)

    # Save and journal; the account's lock again and a wake-up; save and journal.
    assert len(log.statements()) <= 4
    assert (await current(db, order)).payment_status is PaymentStatus.PAID
