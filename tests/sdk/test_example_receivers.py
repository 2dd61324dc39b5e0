"""The examples of the SDKs for PHP and Java receive what a running server sends."""

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
from kit.blocks import ROOT, find, ran
from kit.sdk_examples import write_credentials_command
from kit.server import free_port
from kit.system import System
from kit.toolchains import need_toolchain
from kit.webhook_system import WebhookSystem, until

from tradewind.webhooks.signing import sign

pytestmark = pytest.mark.xdist_group("system")

BURST = 60
LARGEST_BODY = 256 * 1024
NEW_SECRET = "whsec_new"


@dataclass
class Example:
    """The example of an SDK, in a shell that runs the commands of the SDK's README."""

    language: str
    project: Path
    port: int

    @property
    def log(self) -> Path:
        return self.project / "log"

    def stored(self) -> list[str]:
        """The events that it has stored."""
        if self.language == "php":
            orders = json.loads((self.project / "orders.json").read_text())
            return [event_id for order in orders.values() for event_id in order["events"]]
        return re.findall(r"(evt_\w+) ORD\w* \w+\n", self.log.read_text())

    @contextmanager
    def started(self) -> Iterator[str]:
        """Create a webhook, start the example, send a test delivery; gives the secret.

        The example also accepts NEW_SECRET.
        """
        commands = find(f"sdk/{self.language}/README.md", "sh")
        create, start, test = (block.text for block in commands)
        secret = self.project / "secret"
        environ = {**os.environ, "PORT": str(self.port), "DATA": str(self.project)}
        with (
            self.log.open("w") as output,
            subprocess.Popen(
                ["/bin/sh", "-eu"],
                cwd=self.project,
                env=environ,
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=output,
                text=True,
                start_new_session=True,
            ) as shell,
        ):
            assert shell.stdin is not None
            try:
                shell.stdin.write(f'{create}printf %s "$WEBHOOK_SECRET" > "$DATA/secret"\n')
                shell.stdin.write(f'WEBHOOK_SECRET="{NEW_SECRET},$WEBHOOK_SECRET"\n')
                shell.stdin.write(start)
                shell.stdin.flush()
                _wait_until_it_listens(self.port)
                shell.stdin.write(test)
                shell.stdin.flush()
                until(self.log.read_text, lambda text: '"delivered":true' in text)
                ran(commands)
                yield secret.read_text()
            finally:
                os.killpg(shell.pid, signal.SIGKILL)


def project(folder: Path, language: str, url: str, key: str) -> None:
    """A project folder with an SDK, and a command that shows credentials."""
    ignored = shutil.ignore_patterns("target")
    shutil.copytree(ROOT / "sdk" / language, folder / "sdk" / language, ignore=ignored)
    write_credentials_command(folder, url, key)


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
    folder = tmp_path / "the project"
    project(folder, language, system.api.url, webhooks.buyer.key)
    example = Example(language, folder, free_port())
    url = f"http://localhost:{example.port}/"

    def post(body: bytes, *, age: int = 0, secret: str = NEW_SECRET) -> int:
        sent_at = int(time.time()) - age
        signature = sign(secret, sent_at, body)
        headers = {"x-service-timestamp": str(sent_at), "x-service-signature": signature}
        return httpx.post(url, content=body, headers=headers, timeout=10).status_code

    def test_delivery() -> tuple[Any, Any]:
        result = webhooks.ok("POST", f"{hook.path}/test")
        return result["outcome"], result["status_code"]

    with example.started() as secret:
        [subscription] = webhooks.ok("GET", "/v1/webhooks")["items"]
        hook = webhooks.known(subscription["id"], secret)
        events = webhooks.emit(BURST)
        attempts = webhooks.logged(hook, BURST + 1)
        assert {(each["attempt"], each["outcome"], each["status_code"]) for each in attempts} == {
            (1, "delivered", 204)
        }
        real = [each for each in example.stored() if not each.startswith("evt_test_")]
        assert sorted(real) == sorted(events)

        assert post(event(1, 500)) == 204
        assert post(event(1, 500)) == 204, "a duplicate"
        assert post(event(2, 499)) == 204, "stale"
        assert post(event(3, 500), secret=secret) == 204, "equally new"
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

        if language == "php":
            orders = folder / "orders.json"
            orders.rename(folder / "kept")
            orders.mkdir()
            assert post(event(9, 506)) == 500, "it cannot be stored"
            orders.rmdir()
            (folder / "kept").rename(orders)
            assert post(event(9, 506)) == 204
            assert example.stored()[-1] == "evt_hand_9"

        hook = webhooks.rotated(hook)
        assert test_delivery() == ("http_error", 401)
