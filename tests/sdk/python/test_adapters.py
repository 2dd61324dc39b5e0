"""Every adapter of the SDK receives real deliveries, each event once, and refuses the rest."""

import json
import os
import socket
import ssl
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from flask import Flask
from kit.server import free_port
from kit.system import System
from kit.webhook_system import Webhook, WebhookSystem, until
from tradewind_sdk.webhooks import Event
from tradewind_sdk.webhooks.flask import webhook_view
from tradewind_sdk.webhooks.receiver import MAX_BODY_BYTES
from tradewind_sdk.webhooks.server import WebhookServer
from tradewind_sdk.webhooks.wsgi import WebhookWSGIApp

from tradewind.webhooks.signing import sign

pytestmark = pytest.mark.xdist_group("system")
HERE = Path(__file__).parent
KINDS = {
    "asgi": "asgi",
    "fastapi": "asgi",
    "django-async": "asgi",
    "wsgi": "wsgi",
    "flask": "wsgi",
    "django": "wsgi",
}
BURST = 50
# Nobody here speaks TLS; but a client that is not given one reads every certificate there is.
TLS = ssl.create_default_context()


def request(method: str, url: str, **options: Any) -> httpx.Response:
    """One request on a connection of its own."""
    return httpx.request(method, url, timeout=10, verify=TLS, **options)


@dataclass
class Receivers:
    """An ASGI and a WSGI server with all adapters, and a webhook for each."""

    webhooks: WebhookSystem
    ports: dict[str, int]
    hooks: dict[str, Webhook]
    file: Path

    def url(self, kind: str) -> str:
        return f"http://127.0.0.1:{self.ports[KINDS[kind]]}/{kind}"

    def handled(self, kind: str) -> list[str]:
        """The ids of the events that the handler of an adapter was called with."""
        lines = [line.split() for line in self.file.read_text().splitlines()]
        return [event for line_kind, event in lines if line_kind == kind]

    def send(
        self, kind: str, body: bytes, *, secret: str = "", ago: int = 0, method: str = "POST"
    ) -> httpx.Response:
        sent_at = int(time.time()) - ago
        headers = {
            "X-Service-Timestamp": str(sent_at),
            "X-Service-Signature": sign(secret or self.hooks[kind].secret, sent_at, body),
        }
        return request(method, self.url(kind), content=body, headers=headers)


@contextmanager
def running(interface: str, port: int, environ: dict[str, str]) -> Iterator[None]:
    command = [sys.executable, "-m", "granian", "--interface", interface, "--port", str(port)]
    command += ["--no-ws", "--blocking-threads", "4"] if interface == "wsgi" else ["--no-ws"]
    with subprocess.Popen([*command, f"adapters:{interface}"], cwd=HERE, env=environ) as process:
        try:
            until(lambda: listens(port), lambda it: it or process.poll() is not None)
            yield
        finally:
            process.terminate()
            process.wait(timeout=20)


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture(scope="module")
def receivers(
    shared_system: System, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Receivers]:
    webhooks = WebhookSystem.of(shared_system)
    ports = {"asgi": free_port(), "wsgi": free_port()}
    file = tmp_path_factory.mktemp("adapters") / "handled"
    file.touch()
    made = Receivers(webhooks, ports, {}, file)
    made.hooks |= {kind: webhooks.hook(made.url(kind)) for kind in KINDS}
    secrets = json.dumps({kind: hook.secret for kind, hook in made.hooks.items()})
    environ = {**os.environ, "SECRETS": secrets, "HANDLED": str(file)}
    with ExitStack() as servers:
        for interface, port in ports.items():
            servers.enter_context(running(interface, port, environ))
        yield made


def body_of(event_id: str, at: str = "05", order_id: str = "ORD1", **more: Any) -> bytes:
    order = {
        "id": order_id,
        "platform": "sandbox",
        "order_id": None,
        "status": "a status that is new",
        "payment_status": "unpaid",
        "platform_payment_status": "unpaid",
        "total_amount_cny": None,
        "updated_at": f"2026-11-15T08:00:{at}.000Z",
    }
    created_at = "2026-11-15T08:00:00.000Z"
    event = {"id": event_id, "event": "order.updated", "created_at": created_at}
    return json.dumps({**event, "data": {"order": order}, **more}).encode()


def test_they_take_a_burst_and_each_event_once(receivers: Receivers) -> None:
    webhooks = receivers.webhooks
    events = webhooks.emit(BURST)
    logs = {kind: webhooks.logged(hook, BURST) for kind, hook in receivers.hooks.items()}

    for kind, log in logs.items():
        results = {(row["attempt"], row["outcome"], row["status_code"]) for row in log}
        assert results == {(1, "delivered", 200)}, kind
        assert Counter(receivers.handled(kind)) == Counter(events), kind

    # Resent events are answered with 200, and not handled again.
    for kind, log in logs.items():
        hook = receivers.hooks[kind]
        webhooks.ok("POST", f"{hook.path}/deliveries/{log[0]['id']}/redeliver")
    for kind, hook in receivers.hooks.items():
        latest = webhooks.logged(hook, BURST + 1)[0]
        assert (latest["trigger"], latest["status_code"]) == ("redeliver", 200)
        assert Counter(receivers.handled(kind)) == Counter(events), kind

    # Another secret than the sender's.
    for kind, hook in receivers.hooks.items():
        webhooks.rotated(hook)
        test = webhooks.ok("POST", f"{hook.path}/test")
        assert (test["outcome"], test["status_code"]) == ("http_error", 401), kind


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_not_a_genuine_event_never_reaches_the_handler(
    receivers: Receivers, kind: str
) -> None:
    url, before = receivers.url(kind), receivers.handled(kind)

    statuses = {
        "forged": receivers.send(kind, body_of("evt_x"), secret="whsec_other").status_code,
        "old": receivers.send(kind, body_of("evt_x"), ago=301).status_code,
        "unsigned": request("POST", url, content=body_of("evt_x")).status_code,
        "empty": request("POST", url).status_code,
        "not JSON": receivers.send(kind, b"\xff{").status_code,
        "no event": receivers.send(kind, b"[]").status_code,
        "no order": receivers.send(kind, body_of("evt_x", data={})).status_code,
        "GET": receivers.send(kind, b"", method="GET").status_code,
        "too large": receivers.send(kind, b"x" * (MAX_BODY_BYTES + 1)).status_code,
    }

    assert statuses == {
        "forged": 401,
        "old": 401,
        "unsigned": 401,
        "empty": 401,
        "not JSON": 400,
        "no event": 400,
        "no order": 400,
        "GET": 405,
        "too large": 413,
    }
    assert receivers.handled(kind) == before

    # A body in chunks says nothing of its length; its end is not waited for.
    answer = request("POST", url, content=iter([b"x" * 65_536] * 8))
    assert answer.status_code in {411, 413}


@pytest.mark.parametrize("kind", KINDS)
def test_a_failed_event_is_handled_again_and_new_fields_do_not_matter(
    receivers: Receivers, kind: str
) -> None:
    assert receivers.send(kind, body_of("evt_fails")).status_code == 500
    assert receivers.send(kind, body_of("evt_fails")).status_code == 500
    assert receivers.handled(kind).count("evt_fails") == 2

    # Eight of the same at once: the one that is handled wins, and none is handled twice.
    new = body_of("evt_new", event="parcel.lost", next_version=[1])
    with ThreadPoolExecutor(8) as pool:
        statuses = {
            answer.status_code for answer in pool.map(lambda _: receivers.send(kind, new), range(8))
        }
    assert statuses in ({200}, {200, 503})
    assert receivers.handled(kind).count("evt_new") == 1


@pytest.mark.parametrize("kind", KINDS)
def test_a_stale_event_is_ignored(receivers: Receivers, kind: str) -> None:
    bodies = [body_of(f"evt_at_{at}", at=at, order_id=f"ORD{kind}") for at in ("03", "04", "02")]
    answers = [receivers.send(kind, body) for body in bodies]
    equal = receivers.send(kind, body_of("evt_equal", at="04", order_id=f"ORD{kind}"))

    assert [answer.status_code for answer in answers] == [200, 200, 200]
    assert equal.status_code == 200
    handled = [event for event in receivers.handled(kind) if event.startswith(("evt_at", "evt_eq"))]
    assert handled == ["evt_at_03", "evt_at_04", "evt_equal"]


def test_a_handler_that_nobody_would_await_is_refused() -> None:
    async def handle(_: Event) -> None: ...

    for make in (WebhookWSGIApp, webhook_view):
        with pytest.raises(TypeError, match="without awaiting"):
            make("whsec_x", handle)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="without awaiting"):
        WebhookServer(("127.0.0.1", 0), "whsec_x", handle)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="secret is empty"):
        WebhookWSGIApp("", lambda _: None)


def test_flask_leaves_the_connection_to_its_server() -> None:
    """A response of WSGI must not have a header about the connection (PEP 3333)."""
    app = Flask(__name__)
    view = webhook_view("whsec_x", lambda _: None, max_body_bytes=10)
    app.add_url_rule("/hook", view_func=view, methods=["POST"])

    answer = app.test_client().post("/hook", data=b"x" * 11)

    assert answer.status_code == 413
    assert "Connection" not in answer.headers
