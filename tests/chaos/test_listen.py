"""`tradewind listen` while its server is cut off: every event once, in the account's order."""

import json
import os
import pty
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import IO, Any, ClassVar

from kit.processes import family_of, wait_until_gone
from kit.server import Person, Server, ServerLauncher, free_port
from kit.webhook_endpoint import Received, WebhookEndpoint, assert_genuine, running_endpoint
from kit.webhook_system import emit

_CUTS = 20 if "SOAK_KILLS" in os.environ else 2
_PATIENCE_SECONDS = 60.0


class Listener:
    """A running `tradewind listen`, whose lines are collected."""

    def __init__(self, process: "subprocess.Popen[bytes]", output: IO[bytes]) -> None:
        self.process = process
        self.lines: list[str] = []
        self._changed = threading.Condition()
        threading.Thread(target=self._read, args=(output,), daemon=True).start()

    def _read(self, output: IO[bytes]) -> None:
        with suppress(OSError), output:  # the end of a terminal is an error
            for line in output:
                with self._changed:
                    self.lines.append(line.decode().rstrip())
                    self._changed.notify_all()

    def until(self, good: Callable[[list[str]], Any]) -> Any:
        """Wait until the lines are as they should become; what `good` returned."""
        deadline = time.monotonic() + _PATIENCE_SECONDS
        with self._changed:
            while not (result := good(self.lines)):
                assert time.monotonic() < deadline, self.lines[-20:]
                self._changed.wait(1)
            return result

    def told(self, kind: str) -> list[Any]:
        """The JSON lines of a type."""
        parsed = [json.loads(line) for line in list(self.lines) if line.startswith("{")]
        return [line for line in parsed if line["type"] == kind]


@contextmanager
def listening(
    url: str,
    buyer: Person | None,
    home: Path,
    *words: str,
    terminal: tuple[int, int] | None = None,
) -> Iterator[Listener]:
    """Run the command; with the two ends of a terminal as people have it, else for programs.

    Without a person it uses the saved login.
    """
    environ = {
        **{k: v for k, v in os.environ.items() if not k.startswith("TRADEWIND_")},
        "XDG_CONFIG_HOME": str(home),
        "TRADEWIND_URL": url,
        **({"TRADEWIND_API_KEY": buyer.key} if buyer else {}),
    }
    command = [sys.executable, "-m", "tradewind", "listen", *words]
    stdin, stdout = (terminal[1],) * 2 if terminal else (subprocess.DEVNULL, subprocess.PIPE)
    with subprocess.Popen(command, env=environ, stdin=stdin, stdout=stdout) as process:
        output = os.fdopen(os.dup(terminal[0]), "rb") if terminal else process.stdout
        assert output is not None
        yield Listener(process, output)
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 130


def cut(api: Server, *, kill: bool) -> None:
    """End every process of the API: at once, or as an operator restarts it."""
    family = [api.process.pid, *family_of(api.process.pid)]
    for pid in family if kill else family[:1]:
        os.kill(pid, signal.SIGKILL if kill else signal.SIGTERM)
    api.process.wait(20)
    wait_until_gone(family)


def write(database_url: str, buyers: list[Person], stop: threading.Event) -> dict[str, list[str]]:
    """Write events of every account until told to stop; their ids."""
    written: dict[str, list[str]] = {buyer.id: [] for buyer in buyers}
    while not stop.wait(0.05):
        for buyer in buyers:
            written[buyer.id] += emit(database_url, buyer.uuid, 5)
    return written


def is_longer(length: int, requests: list[Received]) -> bool:
    return len(requests) > length


def connections(listener: Listener, more_than: int, _lines: list[str]) -> bool:
    """Whether the command has connected more often than this."""
    return len(listener.told("connected")) > more_than


def answer_genuine(secret: str, request: Received) -> int:
    """Check a request when it comes; an endpoint that fails here does not answer."""
    assert_genuine(request, secret)
    return 200


def received(endpoint: WebhookEndpoint) -> list[str]:
    return [request.event_id for request in endpoint.received]


def test_every_event_once_in_order_while_the_server_is_cut_off(
    launcher: ServerLauncher, tmp_path: Path
) -> None:
    chance = random.Random(int(os.environ.get("TRADEWIND_SEED", "0")))  # noqa: S311 - no secret
    port, stop = free_port(), threading.Event()
    written: dict[str, list[str]] = {}
    with launcher.postgres.fresh_database() as url, ExitStack() as stack:
        endpoint = stack.enter_context(running_endpoint())
        with launcher.serving_on(url, workers=1, port=port) as api:
            buyer, stranger = api.person(), api.person()
            words = ("--forward-to", f"localhost:{endpoint.port}/hook")
            listener = stack.enter_context(listening(api.url, buyer, tmp_path, *words))
            listener.until(lambda _: listener.told("connected"))
            (start,) = listener.told("start")
            launcher.secrets.add(start["secret"])
            endpoint.answer = partial(answer_genuine, start["secret"])
            writing = threading.Thread(
                target=lambda: written.update(write(url, [buyer, stranger], stop))
            )
            writing.start()
            endpoint.until(lambda requests: len(requests) > 10)
            cut(api, kill=True)
        for number in range(1, _CUTS):
            with launcher.serving_on(url, workers=1, port=port) as api:
                listener.until(partial(connections, listener, number))
                more = len(endpoint.received) + chance.randrange(1, 30)
                endpoint.until(partial(is_longer, more))
                cut(api, kill=chance.random() < 0.5)
        with launcher.serving_on(url, workers=1, port=port) as api:
            listener.until(partial(connections, listener, _CUTS))
            stop.set()
            writing.join(30)
            endpoint.until(lambda requests: len(requests) >= len(written[buyer.id]))

    assert received(endpoint) == written[buyer.id]
    shown = listener.told("event")
    assert [event["number"] for event in shown] == list(range(1, len(shown) + 1))
    assert {event["response"]["status_code"] for event in shown} == {200}
    assert len(listener.told("disconnected")) >= _CUTS


def test_people_see_request_and_answer_and_resend_with_a_key(api: Server, tmp_path: Path) -> None:
    buyer = api.person()
    master, slave = pty.openpty()
    with running_endpoint() as endpoint:
        endpoint.answer = lambda _: 503
        words = ("--forward-to", endpoint.url("/hook"), "--events", "payment.updated")
        with listening(api.url, buyer, tmp_path, *words, terminal=(master, slave)) as listener:
            secret = listener.until(
                lambda lines: next((line.strip() for line in lines if "whsec_" in line), None)
            )
            api.launcher.secrets.add(secret)
            listener.until(lambda lines: any("Connected." in line for line in lines))
            emit(api.database_url, buyer.uuid, 1)
            (event_id,) = emit(api.database_url, buyer.uuid, 1, "payment.updated")
            listener.until(lambda lines: any("<- 503" in line for line in lines))
            os.write(master, b"r")
            requests = endpoint.until(lambda requests: len(requests) == 2)
            listener.until(lambda lines: any("#2 again payment.updated" in line for line in lines))

    assert [request.event_id for request in requests] == [event_id] * 2
    assert requests[0].delivery != requests[1].delivery
    for request in requests:
        assert_genuine(request, secret)
    os.close(master)
    os.close(slave)


def test_it_ends_when_the_key_does_and_goes_on_after_a_number(api: Server, tmp_path: Path) -> None:
    buyer = api.person()
    made = api.call("POST", "/v1/api-keys", by=buyer, json={"name": "listen"}).json()
    api.launcher.secrets.add(made["key"])
    emit(api.database_url, buyer.uuid, 3)
    environ = {
        **{k: v for k, v in os.environ.items() if not k.startswith("TRADEWIND_")},
        "TRADEWIND_URL": api.url,
        "TRADEWIND_API_KEY": made["key"],
        "XDG_CONFIG_HOME": str(tmp_path),
    }
    command = [sys.executable, "-m", "tradewind", "listen", "--after", "1"]
    with subprocess.Popen(
        command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        listener = Listener(process, process.stdout)
        listener.until(lambda _: len(listener.told("event")) == 2)
        api.call("DELETE", f"/v1/api-keys/{made['id']}", by=buyer)
        assert process.wait(20) == 1
        complaint = process.stderr.read().decode()

    assert [event["number"] for event in listener.told("event")] == [2, 3]
    assert complaint.startswith("tradewind: ")
    assert "key" in complaint


class ForgetfulServer(BaseHTTPRequestHandler):
    """Forgets a session twice, is cut off at the first renewal, and then gives new tokens.

    At that moment somebody logs in at another server.
    """

    home: ClassVar[Path]
    streams: ClassVar[list[str]] = []
    renewals: ClassVar[list[bytes]] = []

    def do_GET(self) -> None:
        if self.path == "/v1/me":
            return self._answer(200, b'{"email": "buyer@example.com"}')
        self.streams.append(self.headers["authorization"])
        if len(self.streams) in (2, 3):
            return self._answer(401, b'{"detail": "Expired.", "code": "invalid_credentials"}')
        event = b"id: %d\nevent: order.updated\ndata: {}\n\n" % len(self.streams)
        return self._answer(200, event, "text/event-stream")

    def do_POST(self) -> None:
        self.renewals.append(self.rfile.read(int(self.headers["content-length"])))
        if len(self.renewals) > 1:
            login_file(self.home, **ELSEWHERE)
            self._answer(200, b'{"access_token": "new", "refresh_token": "newer"}')

    def _answer(self, status: int, body: bytes, kind: str = "application/json") -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Write nothing."""


ELSEWHERE = {"url": "http://127.0.0.1:9", "api_key": "of another server"}


def login_file(home: Path, **login: str) -> Path:
    path = home / "tradewind" / "login.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(login))
    return path


def test_it_survives_a_failed_renewal_and_leaves_a_newer_login_alone(tmp_path: Path) -> None:
    ForgetfulServer.home = tmp_path
    with HTTPServer(("127.0.0.1", 0), ForgetfulServer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        path = login_file(tmp_path, url=url, access_token="old", refresh_token="older")
        with listening(url, None, tmp_path) as listener:
            listener.until(lambda _: len(listener.told("event")) >= 2)
        server.shutdown()

    assert [event["number"] for event in listener.told("event")][:2] == [1, 4]
    assert ForgetfulServer.streams[:4] == ["Bearer old"] * 3 + ["Bearer new"]
    assert ForgetfulServer.renewals == [b'{"refresh_token":"older"}'] * 2
    assert json.loads(path.read_text()) == ELSEWHERE
