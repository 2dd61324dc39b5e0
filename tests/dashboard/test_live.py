"""The stream of live updates: changes, ended sessions, and when it closes."""

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import httpx
from kit.pages import Pages
from kit.server import Server, ServerLauncher
from kit.system import System

from tradewind.auth.model import Role


@contextmanager
def listening(pages: Pages) -> Iterator[Iterator[str]]:
    """The events of one's own stream, line by line, from its first look on."""
    with pages.client.stream("GET", "/live", timeout=20) as answer:
        assert answer.headers["content-type"] == "text/event-stream"
        lines = answer.iter_lines()
        assert next(lines) == "retry: 1000"
        while next(lines) != ": watching from here on":
            pass
        yield (line for line in lines if line.startswith("data: "))


@contextmanager
def somebody(api: Server, *roles: Role) -> Iterator[Pages]:
    pages = Pages(api, api.person(roles=roles or (Role.BUYER,)))
    try:
        yield pages
    finally:
        pages.client.close()


def test_a_change_of_an_order_is_told_to_its_account_alone(system: System) -> None:
    buyer = Pages(system.api, system.buyer)
    with somebody(system.api) as stranger, listening(stranger) as others:
        heard: list[str] = []
        hearing = threading.Thread(target=lambda: heard.extend(others))
        hearing.start()
        with listening(buyer) as events:
            system.order()
            assert "orders" in next(events).removeprefix("data: ").split(",")
        assert heard == []
        stranger.post("/sign-out")
        hearing.join(20)
        assert heard == ["data: session"]
    buyer.client.close()


def test_the_oldest_stream_makes_room_and_none_holds_up_the_end_of_the_server(
    launcher: ServerLauncher,
) -> None:
    with launcher.serving(workers=1) as api, somebody(api) as pages:
        with pages.client.stream("GET", "/live", timeout=10) as first:
            lines = first.iter_lines()
            next(lines)
            request = pages.client.build_request("GET", "/live")
            streams = [pages.client.send(request, stream=True) for _ in range(8)]
            assert [stream.status_code for stream in streams] == [200] * 8
            assert "event: change" not in list(lines), "it ends, in time"
            for stream in streams:
                stream.close()

        with somebody(api) as last, listening(last) as events:
            began = time.monotonic()
            api.process.send_signal(signal.SIGTERM)
            with suppress(httpx.RemoteProtocolError):  # it may close before it says that it will
                assert list(events) == []
            api.process.wait(20)
            assert time.monotonic() - began < 5


def reconnect(pages: Pages, mark: str | None) -> list[str]:
    """What a stream says at its start to a page that got this mark: the next mark, and events."""
    headers = {"last-event-id": mark} if mark else {}
    with pages.client.stream("GET", "/live", headers=headers, timeout=20) as answer:
        lines = answer.iter_lines()
        result = []
        while (line := next(lines)) != ": watching from here on":
            result.append(line)
        return [line for line in result if line.startswith(("id", "event"))]


def test_a_stream_that_is_opened_anew_misses_nothing(system: System) -> None:
    buyer = Pages(system.api, system.buyer)

    mark = reconnect(buyer, None)[0].removeprefix("id: ")
    assert reconnect(buyer, None) == [f"id: {mark}", "event: watching"]
    assert reconnect(buyer, mark) == [], "nothing changed in between"
    system.order()
    reported = reconnect(buyer, mark)
    assert reported[1] == "event: watching"
    assert reported[0] != f"id: {mark}"
    buyer.client.close()


def test_what_came_and_went_between_two_polls_is_a_change(system: System) -> None:
    # A page may have been rendered in between, and still show it.
    order = system.order()
    with somebody(system.api, Role.APPROVER) as approver:
        mark = reconnect(approver, None)[0].removeprefix("id: ")
        system.request_payment(order["id"])
        system.ok("DELETE", f"/v1/orders/{order['id']}/payment")
        assert reconnect(approver, mark)

    buyer = Pages(system.api, system.buyer)
    mark = reconnect(buyer, None)[0].removeprefix("id: ")
    hook = system.ok("POST", "/v1/webhooks", json={"url": "http://127.0.0.1:9/hook"})
    assert system.call("DELETE", f"/v1/webhooks/{hook['id']}").is_success
    assert reconnect(buyer, mark)
    buyer.client.close()


def test_a_stream_without_a_session_ends_for_good_and_leads_nowhere(api: Server) -> None:
    headers = {"accept": "text/event-stream"}
    answer = api.call("GET", "/live", headers=headers)

    assert (answer.status_code, answer.content) == (204, b"")
    assert "location" not in answer.headers
