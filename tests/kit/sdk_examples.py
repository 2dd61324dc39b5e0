"""Examples of the SDKs as processes, real deliveries to them, and attacks on them."""

import json
import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from kit.blocks import ROOT, find, ran
from kit.docs import save_files
from kit.server import free_port
from kit.system import System
from kit.tls import NO_TLS
from kit.webhook_system import Webhook, WebhookSystem, until
from tradewind.webhooks.signing import sign

SDK = ROOT / "sdk"
NODE_MODULES = ROOT / "tests" / "openapi" / "node_modules"
# Nothing is downloaded: neither modules, of which there are none, nor another Go.
GO_OFFLINE = {"GOTOOLCHAIN": "local", "GOPROXY": "off", "GOFLAGS": "-mod=readonly"}
BURST = 20
MOST_BYTES = 256 * 1024
_START_SECONDS = 20


def run(
    *command: str | Path, cwd: Path = ROOT, environ: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=cwd,
        env={**os.environ, **(environ or {})},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def node_project(folder: Path) -> Path:
    """Make a folder a project that has the SDK for Node; its folder of modules."""
    modules = folder / "node_modules"
    modules.mkdir()
    (modules / "tradewind-sdk").symlink_to(SDK / "node")
    (folder / "package.json").write_text('{"type": "module"}')
    return modules


def go_module(folder: Path) -> None:
    """Make a folder a module that has the SDK for Go."""
    (folder / "go.mod").write_text(
        "module example.com/samples\n\ngo 1.24\n\nrequire tradewind.example/sdk v0.0.0\n\n"
        f"replace tradewind.example/sdk => {SDK / 'go'}\n"
    )


@dataclass
class Example:
    """A receiver that prints a line for each event that it handles."""

    port: int
    secret: str
    output: Path
    numbers: Iterator[int] = field(default_factory=lambda: iter(range(10_000)))

    def handled(self, order_id: str) -> int:
        """How many events of an order were handled."""
        return self.output.read_text(encoding="utf-8").count(f" {order_id}: ")

    def send(
        self, body: Any, *, secret: str | None = None, ago: float = 0, method: str = "POST"
    ) -> int:
        """The status that a signed request is answered with."""
        timestamp = int(time.time() - ago)
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = {
            "content-type": "application/json",
            "x-service-timestamp": str(timestamp),
            "x-service-signature": sign(secret or self.secret, timestamp, content),
        }
        return self.request(method, content, headers)

    def request(self, method: str, content: Any, headers: Mapping[str, str]) -> int:
        url = f"http://127.0.0.1:{self.port}/"
        return httpx.request(
            method, url, content=content, headers=headers, timeout=10, verify=NO_TLS
        ).status_code

    def event(self, order_id: str, second: int, **changes: Any) -> dict[str, Any]:
        """An event as it is delivered, with an id of its own."""
        order = {
            "id": order_id,
            "platform": "sandbox",
            "order_id": None,
            "status": "paid",
            "payment_status": "paid",
            "platform_payment_status": "paid",
            "total_amount_cny": 128.5,
            "updated_at": f"2026-11-15T08:00:{second:02}.000Z",
        }
        return {
            "id": f"evt_{next(self.numbers)}",
            "event": "order.updated",
            "created_at": "2026-11-15T08:00:00.000Z",
            "data": {"order": order},
            **changes,
        }


@contextmanager
def running_example(
    command: Sequence[str | Path], folder: Path, port: int, secret: str
) -> Iterator[Example]:
    """Start an example, and wait until it listens."""
    output = folder / f"output-{port}"
    environ = {**os.environ, "WEBHOOK_SECRET": secret, "PORT": str(port)}
    with (
        output.open("wb") as log,
        subprocess.Popen(
            command, cwd=folder, env=environ, stdout=log, stderr=subprocess.STDOUT
        ) as process,
    ):
        try:
            _wait_until_it_listens(process, port, output)
            yield Example(port, secret, output)
        finally:
            process.kill()


def assert_it_follows(system: System, command: Sequence[str | Path], folder: Path) -> None:
    """A program that prints the stream of events gets those of the past and those to come."""
    webhooks = WebhookSystem.of(system)
    credentials = {"TRADEWIND_URL": system.api.url, "TRADEWIND_API_KEY": webhooks.buyer.key}
    output = folder / "stream"
    webhooks.emit(BURST)
    with (
        output.open("wb") as log,
        subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, **credentials},
            stdout=log,
            stderr=subprocess.STDOUT,
        ) as process,
    ):
        try:
            _wait_for_lines(output, BURST)
            webhooks.emit(BURST)
            _wait_for_lines(output, 2 * BURST)
        finally:
            process.kill()
    numbers = re.findall(r"(\d+) order\.updated ORD\w+: paid, payment paid\n", output.read_text())
    assert numbers == [str(number) for number in range(1, 2 * BURST + 1)]


def _wait_for_lines(output: Path, count: int) -> None:
    until(lambda: output.read_text(encoding="utf-8"), lambda text: text.count("\n") >= count)


def assert_the_readme_works(system: System, sdk: Path, folder: Path) -> str:
    """Save the files of a README and run its commands as printed; returns what they print.

    The port is another.
    """
    page = str((sdk / "README.md").relative_to(ROOT))
    saved = save_files(page, folder / "files")
    commands = find(page, "sh")
    settings, install, *rest = (block.text for block in commands)
    port = str(free_port())
    script = "\n".join([settings, install, "cp -r ../files/. .\n", *rest])
    write_credentials_command(folder / "tradewind", system.api.url, system.buyer.key)
    (folder / "tradewind/sdk").symlink_to(SDK)
    offline = {"npm_config_offline": "true", "npm_config_audit": "false"}
    output = folder / "output"
    with output.open("wb") as log:
        process = subprocess.Popen(
            ["/bin/bash", "-euc", script],
            cwd=folder / "tradewind",
            env={**os.environ, **offline, "PORT": port},
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            status = process.wait(timeout=120)
        finally:  # if it failed, the receiver may still run in the background
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    printed = output.read_text(encoding="utf-8")
    assert status == 0, printed
    assert '"delivered":true' in printed
    assert "not_found: " in printed
    ran([*commands, *saved.values()])
    return printed


def write_credentials_command(folder: Path, url: str, key: str) -> None:
    """Put a command into a folder that shows the credentials of a running server."""
    command = folder / ".venv/bin/tradewind"
    command.parent.mkdir(parents=True)
    command.write_text(
        "#!/bin/sh\n"
        '[ "$*" = "dev --credentials --shell" ] || exit 1\n'
        f"echo export TRADEWIND_URL={url}\necho export TRADEWIND_API_KEY={key}\n"
    )
    command.chmod(0o700)


def _wait_until_it_listens(process: subprocess.Popen[bytes], port: int, output: Path) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            assert process.poll() is None, output.read_text()
            assert time.monotonic() < deadline, output.read_text()
            time.sleep(0.02)
        else:
            return


def assert_it_receives(system: System, command: Sequence[str | Path], folder: Path) -> None:
    """Real deliveries are handled at the first attempt and once, and attacks are refused."""
    webhooks, port = WebhookSystem.of(system), free_port()
    hook = webhooks.hook(f"http://localhost:{port}/")
    with running_example(command, folder, port, hook.secret) as example:
        _assert_a_burst_is_handled(webhooks, hook, example)
        _assert_forgeries_are_refused(example)
        _assert_events_are_handled_once_and_in_order(example)
        _assert_bad_bodies_are_refused(example)


def _assert_a_burst_is_handled(webhooks: WebhookSystem, hook: Webhook, example: Example) -> None:
    events = webhooks.emit(BURST)
    log = webhooks.logged(hook, BURST)
    assert {(each["attempt"], each["outcome"], each["status_code"]) for each in log} == {
        (1, "delivered", 200)
    }
    assert {each["event_id"] for each in log} == set(events)
    order_id = log[0]["order"]
    until(lambda: example.handled(order_id), lambda count: count == BURST)

    resent = webhooks.ok("POST", f"{hook.path}/deliveries/{log[0]['id']}/redeliver")
    assert resent["event_id"] == log[0]["event_id"]
    again = webhooks.logged(hook, BURST + 1)[0]
    assert (again["event_id"], again["status_code"]) == (log[0]["event_id"], 200)
    assert example.handled(order_id) == BURST

    tested = webhooks.ok("POST", f"{hook.path}/test")
    assert (tested["delivered"], tested["status_code"]) == (True, 200), tested


def _assert_forgeries_are_refused(example: Example) -> None:
    forged = example.event("ORDFORGED", 1)
    content = json.dumps(forged).encode()
    now = int(time.time())
    signature = sign(example.secret, now, content)
    unsigned = {"content-type": "application/json", "x-service-timestamp": str(now)}
    signed = {**unsigned, "x-service-signature": signature}

    assert example.send(forged, secret="whsec_" + "x" * 43) == 401
    assert example.send(forged, ago=302) == 401
    assert example.send(forged, ago=-302) == 401
    assert example.request("POST", content, unsigned) == 401
    assert example.request("POST", content + b" ", signed) == 401
    later = {**signed, "x-service-timestamp": str(now + 1)}
    assert example.request("POST", content, later) == 401
    assert example.request("POST", content, {**signed, "x-service-signature": "sha256=0"}) == 401
    assert example.handled("ORDFORGED") == 0


def _assert_events_are_handled_once_and_in_order(example: Example) -> None:
    newest = example.event("ORDNEWEST", 5)
    assert [example.send(newest), example.send(newest)] == [200, 200]
    assert example.handled("ORDNEWEST") == 1
    assert example.send(example.event("ORDNEWEST", 4)) == 200
    assert example.handled("ORDNEWEST") == 1, "it is outdated"
    assert example.send(example.event("ORDNEWEST", 5, event="payment.updated")) == 200
    assert example.send(example.event("ORDNEWEST", 6, event="order.of_the_future", more=1)) == 200
    until(lambda: example.handled("ORDNEWEST"), lambda count: count == 3)


def _assert_bad_bodies_are_refused(example: Example) -> None:
    for body in (b"", b"{", b"null", b"[]", b"\xff", b"{}", json.dumps({"id": "evt_1"}).encode()):
        assert example.send(body) == 400, body
    assert example.send(b" " * (MOST_BYTES + 1)) == 413
    assert example.send(example.event("ORDGET", 1), method="GET") in (400, 404, 405)
    assert example.request("POST", _unannounced(), {"content-type": "application/json"}) == 413
    assert example.send(example.event("ORDAFTER", 1)) == 200, "it still works"


def _unannounced() -> Iterator[bytes]:
    """A body whose length no header announces."""
    for _ in range(20):
        yield b" " * (MOST_BYTES // 16)
