"""A worker is frozen in the middle of a step and wakes up later: nothing is done twice."""

import asyncio
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import asyncpg
import pytest
from kit import chaos, invariants, scorecard
from kit.forks import Process
from kit.server import ServerLauncher
from kit.system import System, running_system, simulated

pytestmark = pytest.mark.xdist_group("frozen worker")

_PATIENCE_SECONDS = 20.0
_BUSY = "gw.QosAppFrequencyLimit"
# After which what the platform was too busy for is tried again.
_PAUSE = timedelta(seconds=20)
# Longer than the lease, and than a create that was not answered may take to come true.
_FROZEN = timedelta(minutes=3)
# Longer than a call to a platform may take, and so than one that begins before the freeze.
_LONGEST_CALL = 10.5


def _until(good: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while not (result := good()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return result


@pytest.fixture(scope="module")
def own_system(
    launcher: ServerLauncher, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[System]:
    with running_system(
        launcher, tmp_path_factory.mktemp("town"), workers=0, api_processes=1, notices=False
    ) as system:
        system.sku()
        yield system


class Stage:
    """Two workers, of which the first freezes."""

    def __init__(self, launcher: ServerLauncher, system: System) -> None:
        self._launcher = launcher
        self._system = system
        self._workers: list[Process] = []

    def start_worker(self) -> Process:
        settings = simulated(self._system.market)
        worker = self._launcher.worker(self._system.api.database_url, settings=settings)
        self._workers.append(worker)
        return worker

    def stop(self, worker: Process) -> None:
        """Have it finish what is at hand, and end."""
        worker.send_signal(signal.SIGTERM)
        worker.wait(20)

    def close(self) -> None:
        for worker in self._workers:
            worker.kill()
            worker.wait(10)

    def counter(self, name: str) -> int:
        return int(self._system.market.state()["counters"].get(name, 0))

    def stands(self, order_id: str) -> tuple[str, str]:
        row = self._system.stored(order_id)
        return row["status"], row["payment_status"]

    def freeze_and_go_on(
        self, frozen: Process, order_id: str, end: tuple[str, str], seconds: float
    ) -> None:
        """Freeze a worker, have another bring the order to its end, and let the first wake up."""
        frozen.send_signal(signal.SIGSTOP)
        since = time.monotonic()
        chaos.clear_faults(self._system.market)
        self._system.api.move_clock(_FROZEN)
        other = self.start_worker()
        _until(lambda: self.stands(order_id) == end)
        time.sleep(max(0.0, since + seconds - time.monotonic()))
        frozen.send_signal(signal.SIGCONT)
        self.stop(frozen)
        self.stop(other)


@pytest.fixture
def stage(launcher: ServerLauncher, own_system: System) -> Iterator[Stage]:
    with chaos.no_errors_logged(launcher):
        made = Stage(launcher, own_system)
        yield made
        made.close()
        chaos.clear_faults(own_system.market)


@contextmanager
def no_calls(system: System) -> Iterator[None]:
    """Have everybody wait who wants to call the platform: the budget for it is taken."""
    stop, ready = threading.Event(), threading.Event()

    async def hold() -> None:
        connection = await asyncpg.connect(system.api.database_url)
        async with connection.transaction():
            await connection.execute(
                "SELECT 1 FROM rate_budget WHERE subject = 'platform:sandbox' FOR UPDATE"
            )
            ready.set()
            await asyncio.to_thread(stop.wait)
        await connection.close()

    thread = threading.Thread(target=lambda: asyncio.run(hold()))
    thread.start()
    ready.wait()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _left_to_the_worker(system: System) -> str:
    """An order that the platform was too busy for when it was accepted."""
    system.market.fault("create", "error", code=_BUSY, count=1)
    placed = system.place(system.order_body())
    assert (placed.status_code, placed.json()["status"]) == (201, "creating")
    order_id: str = placed.json()["id"]
    assert system.stored(order_id)["create_sent_at"] is None
    system.api.move_clock(_PAUSE)
    return order_id


def _approved(system: System) -> str:
    order: Any = system.order()
    system.approve(system.request_payment(order["id"])["id"])
    order_id: str = order["id"]
    return order_id


@contextmanager
def _recorded(system: System) -> Iterator[None]:
    """Record what the block has led to, also if it fails, and check everything afterwards."""
    problems: list[str] = []
    with scorecard.kept_for_later(problems):
        yield
    facts = invariants.read(system.api, system.market)
    scorecard.record(
        4,
        1,
        kills=1,
        duplicates=facts.second_orders(),
        double_debits=facts.second_debits(),
    )
    assert problems == []
    invariants.assert_holds(facts)


def test_frozen_while_the_create_is_answered(own_system: System, stage: Stage) -> None:
    system = own_system
    order_id = _left_to_the_worker(system)
    done = stage.counter("create.done")
    system.market.fault("create", "slow", seconds=5)
    frozen = stage.start_worker()
    _until(lambda: stage.counter("create.done") > done)

    with _recorded(system):
        stage.freeze_and_go_on(frozen, order_id, ("pending_payment", "unpaid"), 0)


def test_frozen_before_the_create_is_sent(own_system: System, stage: Stage) -> None:
    system = own_system
    order_id = _left_to_the_worker(system)
    waiting = """
        SELECT 1 FROM pg_stat_activity
         WHERE application_name = 'tradewind worker' AND wait_event_type = 'Lock'
           AND query LIKE '%INTO rate_budget%'
    """
    with no_calls(system):
        frozen = stage.start_worker()
        _until(lambda: system.stored(order_id)["create_sent_at"] and system.api.fetch(waiting))
        frozen.send_signal(signal.SIGSTOP)

    with _recorded(system):
        stage.freeze_and_go_on(frozen, order_id, ("pending_payment", "unpaid"), _LONGEST_CALL)


def test_frozen_between_the_late_preview_and_the_create(own_system: System, stage: Stage) -> None:
    system = own_system
    system.market.fault("preview", "slow", seconds=2.5, count=1)
    system.market.fault("preview", "error", code=_BUSY, count=1)
    placed = system.place(system.order_body())
    order_id = placed.json()["id"]
    _until(lambda: system.stored(order_id)["create_sent_at"] is None)
    system.api.move_clock(_PAUSE)
    faults = stage.counter("preview.faults")
    system.market.fault("preview", "slow", seconds=2)
    frozen = stage.start_worker()
    _until(lambda: stage.counter("preview.faults") > faults)

    with _recorded(system):
        stage.freeze_and_go_on(frozen, order_id, ("pending_payment", "unpaid"), 5)


def test_frozen_while_the_payment_is_answered(own_system: System, stage: Stage) -> None:
    system = own_system
    order_id = _approved(system)
    done = stage.counter("pay.done")
    system.market.fault("pay", "slow", seconds=5)
    frozen = stage.start_worker()
    _until(lambda: stage.counter("pay.done") > done)

    with _recorded(system):
        stage.freeze_and_go_on(frozen, order_id, ("paid", "paid"), 0)
    assert system.market.debits(system.look(order_id)["order_id"]) == [1500]


def test_frozen_while_the_order_is_read_that_is_to_be_paid(
    own_system: System, stage: Stage
) -> None:
    system = own_system
    order_id = _approved(system)
    faults = stage.counter("list.faults")
    system.market.fault("list", "slow", seconds=3)
    frozen = stage.start_worker()
    _until(lambda: stage.counter("list.faults") > faults)

    with _recorded(system):
        stage.freeze_and_go_on(frozen, order_id, ("paid", "paid"), 5)
    assert system.market.debits(system.look(order_id)["order_id"]) == [1500]
