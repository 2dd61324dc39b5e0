"""Metrics: every process exposes its figures, and a server sums those of its processes."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from kit.metrics import counter
from kit.server import Server, ServerLauncher, free_port

pytestmark = pytest.mark.xdist_group("metrics")

ROOT = Path(__file__).parents[2]
REQUESTS = "tradewind_http_requests_total"


@pytest.fixture(scope="module")
def metrics_port() -> int:
    return free_port()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the processes keep what they count."""
    return tmp_path_factory.mktemp("metrics")


@pytest.fixture(scope="module")
def server(launcher: ServerLauncher, metrics_port: int, folder: Path) -> Iterator[Server]:
    settings = {
        "TRADEWIND_METRICS_LISTEN": f"127.0.0.1:{metrics_port}",
        "TMPDIR": str(folder),
    }
    # Not as a fork: prometheus_client must find its folder when a process imports it.
    with (
        launcher.postgres.fresh_database() as url,
        launcher.serving_on(url, workers=2, settings=settings, cwd=ROOT) as started,
    ):
        yield started


def environment(database_url: str, **settings: str) -> dict[str, str]:
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("TRADEWIND_")}
    return {**inherited, "TRADEWIND_DATABASE_URL": database_url, **settings}


@contextmanager
def command(*words: str, **options: Any) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-m", "tradewind", *words], stderr=subprocess.PIPE, text=True, **options
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def get(port: int, path: str, host: str = "127.0.0.1") -> httpx.Response:
    """Ask the listener, as soon as there is one."""
    deadline = time.monotonic() + 20
    while True:
        try:
            return httpx.get(f"http://{host}:{port}{path}", timeout=5)
        except httpx.TransportError:
            assert time.monotonic() < deadline, "nobody listens"
            time.sleep(0.02)


def wait_for(expected: float, port: int, name: str, **labels: str) -> None:
    """A request is counted just after its answer is sent; from then on the figure stays."""
    deadline = time.monotonic() + 5
    while (seen := counter(port, name, **labels)) != expected:
        assert time.monotonic() < deadline, f"{seen} were counted, not {expected}"
        time.sleep(0.02)


def children(pid: int) -> list[int]:
    listed = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(child) for child in listed.split()]


def counting(folder: Path) -> list[str]:
    """The processes that counted any request, by the files in which they do."""
    return [
        file.stem.removeprefix("counter_")
        for file in folder.glob("tradewind-metrics-*/counter_*.db")
        if REQUESTS.encode() in file.read_bytes()
    ]


def test_the_figures_of_both_processes_are_summed_and_stay_when_they_die(
    server: Server, metrics_port: int, folder: Path
) -> None:
    """No other test asks for /v1/me."""
    sent = 0
    while sent < 40 or len(counting(folder)) < 2:
        server.call("GET", "/v1/me")
        sent += 1
        assert sent < 500, "the second process never gets a request"

    wait_for(sent, metrics_port, REQUESTS, route="GET /v1/me", status="401")
    wait_for(sent, metrics_port, "tradewind_http_request_seconds_count", route="GET /v1/me")

    before = children(server.process.pid)

    for child in before:
        os.kill(child, signal.SIGKILL)
    deadline = time.monotonic() + 20
    while not set(children(server.process.pid)) - set(before):
        assert time.monotonic() < deadline, "no process took the place of the dead ones"
        time.sleep(0.02)
    while True:
        try:
            answer = server.call("GET", "/v1/me")
            break
        except httpx.TransportError:
            assert time.monotonic() < deadline, "the new process does not answer"
            time.sleep(0.02)

    assert answer.status_code == 401
    wait_for(sent + 1, metrics_port, REQUESTS, route="GET /v1/me", status="401")


def test_routes_are_counted_by_their_pattern_and_never_by_what_callers_make_up(
    server: Server, metrics_port: int
) -> None:
    person = server.person()
    unrouted = int(counter(metrics_port, REQUESTS, route="none", status="404"))
    for number in range(3):
        server.call("DELETE", f"/v1/api-keys/key_{number}", by=person)
        server.call("GET", f"/made-up/{number}?token=secret")
        server.call("BREW", "/v1/me")

    pattern = "DELETE /v1/api-keys/{id}"
    wait_for(3, metrics_port, REQUESTS, route=pattern, status="404")
    wait_for(unrouted + 3, metrics_port, REQUESTS, route="none", status="404")
    wait_for(3, metrics_port, REQUESTS, route="none", status="405")
    text = get(metrics_port, "/metrics").text
    assert "made-up" not in text
    assert "secret" not in text
    assert person.id not in text


def test_the_listener_has_health_too_and_nothing_else(server: Server, metrics_port: int) -> None:
    assert server.process.poll() is None

    health = get(metrics_port, "/healthz")
    metrics = get(metrics_port, "/metrics?name=x")

    assert (health.status_code, health.json()) == (200, {"status": "ok"})
    assert metrics.status_code == 200
    assert metrics.headers["content-type"].startswith("text/plain; version=")
    assert get(metrics_port, "/v1/me").status_code == 404
    assert get(metrics_port, "/").status_code == 404


def test_metrics_are_not_on_the_public_port(server: Server) -> None:
    answer = server.call("GET", "/metrics")

    assert answer.status_code == 404
    assert answer.json()["code"] == "route_not_found"


def test_what_the_processes_counted_in_is_gone_when_they_are(
    launcher: ServerLauncher, tmp_path: Path
) -> None:
    with launcher.serving(workers=1, settings={"TMPDIR": str(tmp_path)}) as server:
        server.call("GET", "/v1/me")
        assert len(counting(tmp_path)) == 1

    assert list(tmp_path.glob("tradewind-metrics-*")) == []


def test_a_worker_has_figures_and_health_and_stops_when_asked(database_url: str) -> None:
    port = free_port()
    settings = {"TRADEWIND_METRICS_LISTEN": f"127.0.0.1:{port}", "TRADEWIND_LOG_STYLE": "json"}

    with command("worker", env=environment(database_url, **settings)) as worker:
        health = get(port, "/healthz")
        figures = get(port, "/metrics")
        worker.send_signal(signal.SIGTERM)
        _, log = worker.communicate(timeout=10)

    assert (health.status_code, health.json()) == (200, {"status": "ok"})
    assert "process_cpu_seconds_total" in figures.text
    assert worker.returncode == 0
    assert f'"host":"127.0.0.1","port":{port},"event":"metrics.listening"' in log
    assert '"event":"worker.stopped"' in log


def test_the_listener_may_use_ipv6(database_url: str) -> None:
    port = free_port()
    settings = {"TRADEWIND_METRICS_LISTEN": f"[::1]:{port}"}

    with command("worker", env=environment(database_url, **settings)):
        assert get(port, "/healthz", host="[::1]").status_code == 200


@pytest.mark.parametrize("words", [("worker",), ("serve", "--port", "0")])
def test_a_taken_port_is_told_in_one_sentence(
    server: Server, metrics_port: int, words: tuple[str, ...]
) -> None:
    settings = {"TRADEWIND_METRICS_LISTEN": f"127.0.0.1:{metrics_port}"}

    with command(*words, env=environment(server.database_url, **settings)) as process:
        _, said = process.communicate(timeout=20)

    assert process.returncode == 1
    assert said == (
        f"tradewind: The metrics listener cannot use 127.0.0.1:{metrics_port} (Address already in "
        "use); set TRADEWIND_METRICS_LISTEN to another address.\n"
    )
