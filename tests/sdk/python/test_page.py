"""The sample endpoint in the documentation works as written."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from kit import docs
from kit.blocks import ROOT, find, ran
from kit.egress import sending
from kit.server import free_port
from kit.system import System
from kit.webhook_system import WebhookSystem

from tradewind.webhooks.signing import sign

PAGE = "docs/how-to/receive-webhooks.md"
COMMAND = "WEBHOOK_SECRET=$(field secret) python3 receiver.py &"
SECRET = "whsec_" + "p" * 43
BURST = 100


def sample() -> str:
    [program] = find(PAGE, "python")
    return program.text


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """What the page's code defines, and the port at which its receiver listens."""
    monkeypatch.setenv("WEBHOOK_SECRET", SECRET)
    names: dict[str, Any] = {"__name__": "page"}
    exec(sample(), names)  # noqa: S102 - our own page
    ran(find(PAGE, "python"))
    server = names["WebhookServer"](("127.0.0.1", 0), SECRET, names["on_event"])
    with server:
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield names | {"port": server.server_address[1]}
        server.shutdown()
        thread.join()


def event(number: int, at: str, status: str) -> bytes:
    order = {
        "id": "ORD1",
        "platform": "sandbox",
        "order_id": None,
        "status": status,
        "payment_status": "unpaid",
        "platform_payment_status": "unpaid",
        "total_amount_cny": 128.5,
        "updated_at": f"2026-11-15T08:00:{at}.000Z",
    }
    body = {
        "id": f"evt_{number}",
        "event": "order.updated",
        "created_at": order["updated_at"],
        "data": {"order": order},
    }
    return json.dumps(body).encode()


async def test_it_believes_handles_once_and_in_order(page: dict[str, Any]) -> None:
    now = int(time.time())

    async def send(body: bytes, secret: str = SECRET) -> tuple[int | None, str]:
        async with sending() as sender:
            signature = sign(secret, now, body)
            result = await sender.post(
                f"http://localhost:{page['port']}/",
                body,
                [f"X-Service-Timestamp: {now}", f"X-Service-Signature: {signature}"],
            )
        return result.status, getattr(page["orders"].get("ORD1"), "status", "")

    assert await send(event(1, "01", "forged"), "whsec_other") == (401, "")
    assert await send(event(2, "02", "paid")) == (200, "paid")
    assert await send(event(3, "03", "shipped")) == (200, "shipped")
    assert await send(event(2, "02", "paid")) == (200, "shipped")
    assert await send(event(4, "01", "placed")) == (200, "shipped")
    assert await send(event(5, "03", "shipped again")) == (200, "shipped again")


def test_its_server_refuses_what_it_cannot_read(page: dict[str, Any]) -> None:
    def status(method: str, **headers: str) -> int:
        with closing(HTTPConnection("127.0.0.1", page["port"], timeout=10)) as connection:
            connection.putrequest(method, "/")
            for name, value in headers.items():
                connection.putheader(name.replace("_", "-"), value)
            connection.endheaders()
            return connection.getresponse().status

    assert status("GET") == 405
    assert status("POST", content_length="0") == 401
    assert status("POST", content_length="262145") == 413
    assert status("POST", content_length="1e3") == 400
    assert status("POST", content_length="-1") == 400
    assert status("POST", transfer_encoding="chunked") == 411


@contextmanager
def started(folder: Path, secret: str, port: int) -> Iterator[None]:
    """The sample in a process of its own, by the command on the page."""
    assert COMMAND in (ROOT / PAGE).read_text()
    (folder / "receiver.py").write_text(sample())
    environ = {**os.environ, "WEBHOOK_SECRET": secret, "PORT": str(port)}
    with subprocess.Popen(
        [sys.executable, "receiver.py"], cwd=folder, env=environ, stdout=subprocess.DEVNULL
    ) as process:
        try:
            _wait_until_it_listens(port)
            yield
        finally:
            process.kill()


def _wait_until_it_listens(port: int) -> None:
    deadline = time.monotonic() + 20
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        else:
            return


@pytest.mark.xdist_group("system")
def test_it_takes_a_burst_at_the_first_attempt(system: System, tmp_path: Path) -> None:
    webhooks, port = WebhookSystem.of(system), free_port()
    hook = webhooks.hook(f"http://localhost:{port}/")
    with started(tmp_path, hook.secret, port):
        events = webhooks.emit(BURST)
        log = webhooks.logged(hook, BURST)

    assert {
        (attempt["attempt"], attempt["outcome"], attempt["status_code"]) for attempt in log
    } == {(1, "delivered", 200)}
    assert {attempt["event_id"] for attempt in log} == set(events)
    assert max(attempt["duration_ms"] for attempt in log) < 10_000


def test_the_commands_run_as_printed(system: System, tmp_path: Path) -> None:
    port = str(free_port())
    key = system.buyer.headers["x-api-key"]
    environ = {"TRADEWIND_URL": system.api.url, "TRADEWIND_API_KEY": key, "PORT": port}

    docs.check(
        PAGE,
        tmp_path,
        seconds=60,
        environ=environ,
    )
    system.api.launcher.secrets.add(json.loads((tmp_path / "webhook.json").read_text())["secret"])
