"""`tradewind top`: fits into a terminal, shows what waits, and ends with `q`."""

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from kit.accounts import insert_account
from kit.server import SECRET_KEY
from kit.system import System
from kit.webhook_endpoint import running_endpoint
from kit.webhook_system import WebhookSystem

from tradewind import ids
from tradewind.cli.top_screen import TopState, render, share_rows
from tradewind.dashboard.performance.queries import WorkerProcess
from tradewind.operations.model import PaymentBacklog
from tradewind.operations.overview import WaitingWork, most_urgent
from tradewind.operations.sql_top import OrderState, WebhookLoad, list_busy_webhooks
from tradewind.storage.pool import Database

NOW = datetime(2026, 11, 16, 22, 30, tzinfo=UTC)
CONTROL = re.compile(r"\x1b\[[?0-9;]*[a-zA-Z]")
QUIET = TopState(NOW, 0, None, 0, 0, [], WaitingWork([], [], [], 0))


def worker(number: int, *, silent: bool = False) -> WorkerProcess:
    return WorkerProcess(f"host-{number}", number, NOW, NOW, 0.5, 120.0, silent)


def webhook(number: int) -> WebhookLoad:
    url = f"https://a-long-name-of-a-host-{number}.customers.example/hooks"
    return WebhookLoad(
        ids.SUBSCRIPTION.show(ids.new()), url, 12_345, 7200.0, NOW - timedelta(days=3), 1, 2, 16384
    )


def order() -> OrderState:
    return OrderState(ids.ORDER.show(ids.new()), "alibaba", "create", "creating", 17, 90_000.0)


def busy(count: int) -> TopState:
    payments = [
        PaymentBacklog(status, mode, 12_345, 360_000.0)
        for status in ("pending_approval", "approved", "processing")
        for mode in ("auto", "link")
    ]
    waiting = WaitingWork(
        [webhook(number) for number in range(count)],
        [order() for _ in range(count)],
        payments,
        3,
    )
    workers = [worker(number, silent=number == 0) for number in range(count)]
    return TopState(NOW, 10_001, 7200.0, 12_345.6, 1204.4, workers, waiting)


@pytest.mark.parametrize("count", [0, 1, 3, 50])
@pytest.mark.parametrize(("width", "height"), [(80, 24), (200, 60), (40, 10)])
def test_the_screen_fits_into_the_terminal(count: int, width: int, height: int) -> None:
    lines = render(busy(count), width=width, height=height, colours=False, hint="q quits")

    assert len(lines) <= height
    assert max(map(len, lines)) <= width


def test_80_columns_and_24_lines_cut_nothing_off() -> None:
    lines = render(busy(50), width=80, height=24, colours=False, hint="q quits")

    assert len(lines) == 24
    assert not [line for line in lines if line.endswith("…")]
    headings = [line.split()[0] for line in lines if line[:1].isupper()]
    assert headings == [
        *("Tradewind", "Deliveries", "Payments", "WORKERS", "WEBHOOKS", "ORDERS"),
    ]
    assert lines[1] == (
        "Deliveries  10,000+ pending  oldest 2 h overdue  ok 12,346/s  failed 1,204/s"
    )


def test_a_quiet_system_says_so_and_no_worker_is_an_alarm() -> None:
    lines = render(QUIET, width=80, height=24, colours=True, hint="")
    plain = render(QUIET, width=80, height=24, colours=False, hint="")

    assert "  Nothing waits, nothing fails." in plain
    assert "  No order waits to be created, cancelled or paid." in plain
    assert "\x1b[31m  No worker has reported in the last hour.\x1b[0m" in lines
    assert sum("\x1b[31m" in line for line in lines) == 1


def test_what_a_customer_named_cannot_control_the_terminal() -> None:
    evil = replace(webhook(1), url="https://\x1bcevil.example/")
    state = replace(QUIET, waiting=replace(QUIET.waiting, webhooks=[evil]))

    assert "\x1b" not in "".join(render(state, width=200, height=24, colours=False, hint=""))


@pytest.mark.parametrize(
    ("wanted", "room", "expected"),
    [
        ([0, 0, 0], 14, [0, 0, 0]),
        ([1, 50, 1], 14, [1, 12, 1]),
        ([50, 50, 50], 14, [5, 5, 4]),
        ([3, 3, 3], 2, [2, 2, 2]),
    ],
)
def test_tables_share_the_lines(wanted: list[int], room: int, expected: list[int]) -> None:
    assert share_rows(wanted, room) == expected


def test_the_most_urgent_webhook_comes_first() -> None:
    def made(overdue: float | None, failing: bool, p95_ms: int) -> WebhookLoad:
        shown, since = ids.SUBSCRIPTION.show(ids.new()), NOW if failing else None
        return WebhookLoad(shown, "https://a.example", 1, overdue, since, 0, 0, p95_ms)

    expected = [
        made(90.0, False, 8),
        made(5.0, True, 8),
        made(None, True, 8),
        made(None, False, 512),
        made(None, False, 4),
    ]

    assert most_urgent(expected[::-1]) == expected


async def test_a_webhook_is_shown_with_the_latency_of_this_hour(db: Database) -> None:
    hook = await insert_account(db, email="ann@shop.example")
    await db.execute(
        "INSERT INTO webhook_subscription (id, account_id, url, events, is_active, secret,"
        " created_at, updated_at) VALUES ($1, $1, 'https://a.example', '{order.updated}', true,"
        " '', now(), now())",
        hook,
    )
    await db.execute(
        "INSERT INTO subscription_hour VALUES ($1, date_trunc('hour', tradewind_now(), 'UTC'), 10,"
        " 2, '{0,0,0,12}')",
        hook,
    )

    (load,) = await list_busy_webhooks(db)

    shown = ids.SUBSCRIPTION.show(hook)
    assert load == WebhookLoad(shown, "https://a.example", 0, None, None, 10, 2, p95_ms=8)


def environment(database_url: str) -> dict[str, str]:
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("TRADEWIND_")}
    settings = {"TRADEWIND_DATABASE_URL": database_url, "TRADEWIND_SECRET_KEY": SECRET_KEY}
    return {**inherited, "TERM": "xterm", **settings}


def printed(database_url: str, *options: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "tradewind", "top", *options],
        env=environment(database_url),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stderr == ""
    return done.stdout


class Terminal:
    """A program on a terminal of 80 columns and 24 lines, and the screen as it is now."""

    def __init__(self, process: "subprocess.Popen[bytes]", fd: int) -> None:
        self.process = process
        self._fd = fd
        self.output = ""

    def read(self, good: Callable[[str], Any], seconds: float = 30) -> str:
        """Read until the output since the last refresh is as it should become."""
        deadline = time.monotonic() + seconds
        while not good(self.output.rpartition("\x1b[H")[2]):
            assert time.monotonic() < deadline, self.output[-3000:]
            if select.select([self._fd], [], [], 0.1)[0]:
                try:
                    self.output += os.read(self._fd, 65536).decode()
                except OSError:  # the other side was closed
                    break
        return self.output.rpartition("\x1b[H")[2]

    def press(self, key: str) -> None:
        os.write(self._fd, key.encode())

    def settings(self) -> list[Any]:
        return termios.tcgetattr(self._fd)[:4]


@contextmanager
def on_terminal(database_url: str) -> Iterator[Terminal]:
    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-m", "tradewind", "top", "--seconds", "0.5"],
        env=environment(database_url),
        stdin=child,
        stdout=child,
        stderr=child,
        start_new_session=True,
    )
    try:
        yield Terminal(process, parent)
    finally:
        process.kill()
        process.wait()
        os.close(child)
        os.close(parent)


@pytest.mark.xdist_group("system")
def test_a_real_system_is_shown_live_and_q_ends_it(system: System) -> None:
    url = system.api.database_url
    made = system.order()
    with on_terminal(url) as terminal:
        before = terminal.settings()
        screen = terminal.read(lambda text: "ORDERS" in text and "\x1b[J" in text)
        plain = CONTROL.sub("", screen)
        assert "1 reporting" in plain
        assert len(plain.split("\r\n")) <= 24
        awaiting = int(re.findall(r"([\d,]+) to approve", plain)[0])

        system.request_payment(made["id"])
        terminal.read(lambda text: f"{awaiting + 1} to approve" in text)

        terminal.press("q")
        terminal.read(lambda _: "\x1b[?1049l" in terminal.output)
        assert terminal.process.wait(timeout=20) == 0
        assert terminal.output.startswith("\x1b[?1049h\x1b[?25l")
        assert terminal.settings() == before


@pytest.mark.xdist_group("system")
def test_a_signal_leaves_the_terminal_as_it_was(system: System) -> None:
    with on_terminal(system.api.database_url) as terminal:
        before = terminal.settings()
        terminal.read(lambda text: "WORKERS" in text)

        terminal.process.send_signal(signal.SIGTERM)

        terminal.read(lambda _: "\x1b[?1049l" in terminal.output)
        assert terminal.process.wait(timeout=20) == 0
        assert terminal.settings() == before


@pytest.mark.xdist_group("system")
def test_once_prints_text_and_json_prints_an_object(system: System) -> None:
    webhooks = WebhookSystem.of(system)
    with running_endpoint() as endpoint:
        endpoint.answer = lambda _: 500
        hook = webhooks.hook(endpoint.url())
        webhooks.emit()
        webhooks.tried(hook)
        stuck = webhooks.order()
        system.api.fetch(
            "UPDATE purchase_order SET work = 'pay', next_sync_at = 'infinity',"
            " updated_at = tradewind_now() - interval '1 hour' WHERE id = $1",
            ids.ORDER.read(stuck["id"]),
        )

        text = printed(system.api.database_url, "--once")
        state = json.loads(printed(system.api.database_url, "--json"))

    assert "\x1b" not in text
    assert "WORKERS  1 reporting" in text
    assert re.search(rf"  {stuck['id']} +sandbox +pay +0 +1 h", text)
    (order,) = [item for item in state["waiting"]["orders"] if item["order"] == stuck["id"]]
    assert order["waiting_seconds"] == pytest.approx(3600, abs=60)
    assert {payments["status"] for payments in state["waiting"]["payments"]} == {
        *("pending_approval", "approved", "processing"),
    }
    assert [w["host"] for w in state["workers"] if not w["is_silent"]]
    assert state["pending"] >= 1
    system.api.fetch(
        "UPDATE purchase_order SET work = 'sync', next_sync_at = tradewind_now() WHERE id = $1",
        ids.ORDER.read(stuck["id"]),
    )
