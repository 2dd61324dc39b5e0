"""The worker: a stop sends nothing twice, a hanging endpoint delays nobody, and it reports."""

import re
import signal
import threading
from collections.abc import Iterator, Sequence
from functools import partial

import pytest
from kit.metrics import counter
from kit.pages import Pages
from kit.server import ServerLauncher, free_port
from kit.system import System
from kit.webhook_endpoint import Received, WebhookEndpoint, assert_genuine, running_endpoint
from kit.webhook_system import Webhook, WebhookSystem, until

_MANY = 120
_LONGEST_STOP = 15


@pytest.fixture(scope="module")
def system_without_worker(launcher: ServerLauncher, shared_system: System) -> Iterator[System]:
    """An API without a worker: tests start their own."""
    with launcher.serving(workers=1) as api:
        yield System(api, shared_system.market, api.person(), shared_system.approver)


@pytest.fixture
def own(system_without_worker: System) -> WebhookSystem:
    return WebhookSystem.of(system_without_worker)


def queued(webhooks: WebhookSystem, hook: Webhook) -> list[tuple[int, bool]]:
    """What is left: attempt, and whether somebody holds it or sent it and never told."""
    rows = webhooks.api.fetch(
        "SELECT attempt, delivery_id IS NOT NULL OR lease_until > tradewind_now() AS held"
        "  FROM delivery_queue WHERE subscription_id = $1",
        hook.uuid,
    )
    return [(row["attempt"], row["held"]) for row in rows]


def _are(count: int, found: Sequence[object]) -> bool:
    return len(found) == count


@pytest.mark.xdist_group("system")
def test_a_worker_that_is_told_to_stop_finishes_or_gives_back(
    own: WebhookSystem, launcher: ServerLauncher, endpoint: WebhookEndpoint
) -> None:
    """Some answers are held back until it was told: it waits for them, and takes no more."""
    go_on = threading.Event()

    def answer(_: Received) -> int:
        go_on.wait(8)
        return 200

    endpoint.answer = answer
    hook = own.hook(endpoint.url())
    events = own.emit(_MANY)
    worker = launcher.worker(own.api.database_url)
    try:
        endpoint.until(lambda got: len(got) >= 10)
        worker.send_signal(signal.SIGTERM)
        go_on.set()
        assert worker.wait(_LONGEST_STOP) == 0
    finally:
        worker.kill()

    sent = list(endpoint.received)
    delivered = {attempt["id"] for attempt in own.log(hook)} | {
        attempt["id"] for attempt in own.log(hook, "limit=100&outcome=delivered")
    }
    assert len(sent) < _MANY
    assert {request.delivery for request in sent} == delivered
    left = queued(own, hook)
    assert left == [(1, False)] * (_MANY - len(sent))
    with launcher.working(own.api.database_url):
        got = endpoint.until(lambda got: len(got) >= _MANY)
        until(lambda: queued(own, hook), lambda rows: rows == [])
    assert sorted(request.event_id for request in endpoint.received) == sorted(events)
    assert len({item.delivery for item in got}) == _MANY
    rows = own.api.fetch(
        "SELECT outcome, attempt, count(*) AS n FROM delivery_attempt"
        " WHERE subscription_id = $1 GROUP BY 1, 2",
        hook.uuid,
    )
    assert [tuple(row) for row in rows] == [("delivered", 1, _MANY)]


@pytest.mark.xdist_group("system")
def test_two_workers_send_everything_once(own: WebhookSystem, launcher: ServerLauncher) -> None:
    with running_endpoint() as endpoint:
        hooks = {path: own.hook(endpoint.url(path)) for path in ("/a", "/b", "/c")}
        url = own.api.database_url
        with launcher.working(url), launcher.working(url):
            events = [event for _ in range(5) for event in own.emit(100)]
            endpoint.until(lambda got: len(got) >= 3 * 500)
            for hook in hooks.values():
                until(partial(queued, own, hook), lambda rows: rows == [])

        assert len(endpoint.received) == 3 * 500
        for path, hook in hooks.items():
            got = endpoint.at(path)
            assert sorted(item.event_id for item in got) == sorted(events)
            for item in got:
                assert_genuine(item, hook.secret)


@pytest.mark.xdist_group("system")
def test_a_black_hole_keeps_nobody_waiting(own: WebhookSystem, launcher: ServerLauncher) -> None:
    """Hundreds wait for an endpoint that never answers, on the same machine; others get theirs."""
    go_on = threading.Event()
    other = WebhookSystem.of(own)
    with running_endpoint() as hole, running_endpoint() as healthy:
        hole.answer = lambda _: 200 if go_on.wait(20) else 500
        black = own.hook(hole.url())
        other.hook(healthy.url())
        own.emit(300)
        with launcher.working(own.api.database_url):
            hole.until(lambda got: len(got) >= 10)
            for _ in range(3):
                waited_for = len(healthy.received) + 10
                other.emit(10)
                healthy.until(partial(_are, waited_for))
            held = len(hole.received)
            own.call("DELETE", black.path)
            go_on.set()

        assert held == 16, "its lane, and no more"
        assert len(healthy.received) == 30


@pytest.mark.xdist_group("system")
def test_a_secret_that_cannot_be_read_holds_up_nobody_else(
    own: WebhookSystem, launcher: ServerLauncher
) -> None:
    """As after a master secret was dropped too early: once it is back, everything arrives."""
    other = WebhookSystem.of(own)
    change = "UPDATE webhook_subscription SET secret = $2 WHERE id = $1 RETURNING secret"
    with running_endpoint() as endpoint:
        broken, whole = own.hook(endpoint.url("/broken")), other.hook(endpoint.url("/whole"))
        (row,) = own.api.fetch("SELECT secret FROM webhook_subscription WHERE id = $1", broken.uuid)
        own.api.fetch(change, broken.uuid, b"\0\0\0\0" + row["secret"][4:])
        lost = own.emit(3)
        with launcher.working(own.api.database_url):
            for number in range(1, 4):
                other.emit()
                other.logged(whole, number)
        assert {request.path for request in endpoint.received} == {"/whole"}
        assert own.log(broken) == []
        assert queued(own, broken) == [(1, False)] * 3
        own.api.fetch(change, broken.uuid, row["secret"])
        own.pass_time(90)
        with launcher.working(own.api.database_url):
            log = own.logged(broken, 3)

        assert [(attempt["attempt"], attempt["outcome"]) for attempt in log] == [
            (1, "delivered")
        ] * 3
        assert sorted(item.event_id for item in endpoint.at("/broken")) == sorted(lost)
        for item in endpoint.at("/broken"):
            assert_genuine(item, broken.secret)


@pytest.mark.xdist_group("system")
def test_operators_see_what_the_workers_do_and_what_it_costs(
    own: WebhookSystem, launcher: ServerLauncher
) -> None:
    """One worker stops, and its last seconds are counted; another is killed, and is missed."""
    own.api.fetch("DELETE FROM delivery_sample")
    own.api.fetch("DELETE FROM worker_process")
    port = free_port()
    listen = {"TRADEWIND_METRICS_LISTEN": f"127.0.0.1:{port}"}
    with running_endpoint() as endpoint:
        endpoint.answer = lambda request: 503 if request.path == "/broken" else 200
        whole, broken = own.hook(endpoint.url("/whole")), own.hook(endpoint.url("/broken"))
        own.emit(50)
        with launcher.working(own.api.database_url, settings=listen):
            own.logged(whole, 50)
            own.logged(broken, 50)
            own.pass_time(61)  # the retries are due
            own.logged(broken, 100)
            until(lambda: counter(port, "tradewind_delivery_retries_total"), lambda n: n == 50)
            assert counter(port, "tradewind_delivery_wait_seconds_count") == 100
            assert counter(port, "tradewind_delivery_latency_seconds_count") == 50
            assert counter(port, "tradewind_delivery_attempt_seconds_count") == 150
        own.call("DELETE", broken.path)
        killed = launcher.worker(own.api.database_url)
        report = "SELECT pid FROM worker_process"
        rows = until(lambda: own.api.fetch(report), lambda rows: rows)
        killed.kill()
        killed.wait(10)

    assert [row["pid"] for row in rows] == [killed.pid], "who stops is no longer listed"
    [sums] = own.api.fetch(
        "SELECT sum(attempts)::int, sum(delivered)::int, sum(retries)::int, sum(cpu_seconds) > 0.01"
        "  FROM delivery_sample"
    )
    assert tuple(sums) == (150, 50, 50, True)
    own.pass_time(60)
    operator = Pages(own.api, own.api.operator())
    text = operator.get("/performance").text
    operator.client.close()
    assert "of 150 attempts in the last hour" in text
    assert ">33.3 %<small>of the attempts in the last hour" in text
    assert "Not reporting" in text
    assert "No worker is running" in text
    for line, count in (("Commit to answer", 50), ("Wait in the queue", 100), ("Endpoint", 150)):
        row = text[text.index(f"<strong>{line}</strong>") :].partition("</tr>")[0]
        cells = re.findall(r'class="num"[^>]*>([^<]+)<', row)
        assert cells[3] == str(count)
        assert all(re.fullmatch(r"[\d.]+ m?s", cell) for cell in cells[:3])
    assert re.search(r"CPU of the workers</td><td[^>]*>[\d.]+ s</td>", text)
