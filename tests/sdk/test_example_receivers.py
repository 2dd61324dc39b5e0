"""The examples of the kits for PHP and Java receive what a running server sends."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from kit.server import free_port
from kit.system import System
from kit.toolchains import need_toolchain
from kit.webhook_system import WebhookSystem

from tradewind.webhooks.signing import sign

pytestmark = pytest.mark.xdist_group("system")

ROOT = Path(__file__).parents[2]
BURST = 60
LARGEST_BODY = 256 * 1024


@dataclass
class Example:
    """A copy of a kit, whose README says how to start its example."""

    language: str
    kit: Path
    data: Path
    port: int
    log: Path

    def commands(self) -> tuple[str, str]:
        """The commands of the README: those that make a webhook, and those that start it."""
        found = re.search(r"## Try it\n.*?```sh\n(.*?)```", self._readme(), re.DOTALL)
        assert found is not None
        lines = found[1].splitlines(keepends=True)
        end = next(at for at, line in enumerate(lines) if not line.endswith("\\\n")) + 1
        return "".join(lines[:end]), "".join(lines[end:])

    def stored(self) -> list[str]:
        """The events that it has stored."""
        if self.language == "php":
            orders = json.loads((self.data / "orders.json").read_text())
            return [event_id for order in orders.values() for event_id in order["events"]]
        lines = self.log.read_text().splitlines()
        return [line.split()[0] for line in lines if line.startswith("evt_")]

    def create_webhook(self, url: str, key: str) -> str:
        """Create a webhook as the README says; returns its secret."""
        command = f"{self.commands()[0]}printenv WEBHOOK_SECRET"
        environ = {"TRADEWIND_URL": url, "TRADEWIND_API_KEY": key}
        ended = self._shell(command, environ)
        assert ended.returncode == 0, ended.stderr
        return ended.stdout.strip()

    @contextmanager
    def started(self, secrets: str) -> Iterator[None]:
        with (
            self.log.open("w") as output,
            subprocess.Popen(
                ["/bin/sh", "-ec", self.commands()[1]],
                cwd=self.kit,
                env=self._environ({"WEBHOOK_SECRET": secrets}),
                stdout=output,
                stderr=output,
                start_new_session=True,
            ) as process,
        ):
            try:
                _wait_until_it_listens(self.port)
                yield
            finally:
                os.killpg(process.pid, signal.SIGKILL)

    def _readme(self) -> str:
        return (self.kit / "README.md").read_text()

    def _shell(self, command: str, environ: dict[str, str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["/bin/sh", "-ec", command],
            cwd=self.kit,
            env=self._environ(environ),
            capture_output=True,
            text=True,
            check=False,
        )

    def _environ(self, more: dict[str, str]) -> dict[str, str]:
        return {**os.environ, "PORT": str(self.port), "DATA": str(self.data), **more}


def _wait_until_it_listens(port: int) -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        else:
            return


def event(number: int, millisecond: int) -> bytes:
    order = {
        "id": "ORD_BY_HAND",
        "platform": "sandbox",
        "order_id": None,
        "status": "paid",
        "payment_status": "paid",
        "platform_payment_status": "paid",
        "total_amount_cny": 128.5,
        "updated_at": f"2026-11-15T08:00:00.{millisecond:03}Z",
    }
    created_at = "2026-11-15T08:00:01.000Z"
    body = {"id": f"evt_hand_{number}", "event": "order.updated", "created_at": created_at}
    return json.dumps({**body, "data": {"order": order}}).encode()


@pytest.mark.parametrize("language", ["php", "java"])
def test_it_takes_real_deliveries_and_refuses_everything_else(
    language: str, system: System, tmp_path: Path
) -> None:
    need_toolchain(language)
    webhooks = WebhookSystem.of(system)
    kit, log, port = tmp_path / "the kit", tmp_path / "example.log", free_port()
    shutil.copytree(ROOT / "sdk" / language, kit, ignore=shutil.ignore_patterns("target"))
    example = Example(language, kit, tmp_path, port, log)
    secret = example.create_webhook(system.api.url, webhooks.buyer.key)
    [subscription] = webhooks.ok("GET", "/v1/webhooks")["items"]
    hook = webhooks.known(subscription["id"], secret)
    url = subscription["url"]

    def post(body: bytes, *, age: int = 0, secret: str = secret) -> int:
        sent_at = int(time.time()) - age
        signature = sign(secret, sent_at, body)
        headers = {"x-service-timestamp": str(sent_at), "x-service-signature": signature}
        return httpx.post(url, content=body, headers=headers, timeout=10).status_code

    def test_delivery() -> tuple[Any, Any]:
        result = webhooks.ok("POST", f"{hook.path}/test")
        return result["outcome"], result["status_code"]

    with example.started(f"whsec_new,{secret}"):
        events = webhooks.emit(BURST)
        attempts = webhooks.logged(hook, BURST)
        assert {(each["attempt"], each["outcome"], each["status_code"]) for each in attempts} == {
            (1, "delivered", 204)
        }
        assert sorted(example.stored()) == sorted(events)
        assert test_delivery() == ("delivered", 204)

        assert post(event(1, 500)) == 204
        assert post(event(1, 500)) == 204, "a duplicate"
        assert post(event(2, 499)) == 204, "stale"
        assert post(event(3, 500), secret="whsec_new") == 204, "equally new"
        assert post(event(4, 501), age=290) == 204
        assert post(event(5, 502), age=310) == 401
        assert post(event(6, 503), age=-310) == 401
        assert post(event(7, 504), secret="whsec_other") == 401
        assert httpx.post(url, content=event(8, 505)).status_code == 401
        assert post(b"{}") == 400
        assert post(b" " * (LARGEST_BODY + 1)) == 413
        assert httpx.get(url).status_code == 405
        by_hand = [each for each in example.stored() if each.startswith("evt_hand_")]
        assert by_hand == ["evt_hand_1", "evt_hand_3", "evt_hand_4"]

        hook = webhooks.rotated(hook)
        assert test_delivery() == ("http_error", 401)
