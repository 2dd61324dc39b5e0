"""Every connector reads the notices of its marketplace, and rejects forged ones."""

import asyncio
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Queue

import pytest
from connectors.stand import BUILT_SECONDS, Stand

from tradewind.platforms.contract import NoticeRejected
from tradewind.platforms.model import Notice

_WAIT_SECONDS = 5.0


@dataclass(frozen=True)
class Push:
    """A push as it came in over HTTP."""

    headers: dict[str, str]
    body: bytes


class Receiver:
    """A small HTTP server that takes pushes, and hands them to the test one by one."""

    def __init__(self) -> None:
        self._came: Queue[Push] = Queue()
        came = self._came

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                came.put(Push(dict(self.headers.items()), body))
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/"

    async def next(self) -> Push:
        return await asyncio.to_thread(self._came.get, timeout=_WAIT_SECONDS)


@pytest.fixture
def receiver(stand: Stand) -> Iterator[Receiver]:
    """Where the simulator pushes to in this test."""
    made = Receiver()
    thread = threading.Thread(target=made.server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    stand.market.control("push", url=made.url, app=stand.platform)
    yield made
    stand.market.control("push", method="DELETE")
    made.server.shutdown()
    thread.join()
    made.server.server_close()


def read(stand: Stand, push: Push, secret: str | None = None) -> Notice:
    keys = stand.keys
    return stand.connector.read_notice(
        push.headers, push.body, keys.app_key, keys.app_secret if secret is None else secret
    )


async def test_a_push_names_its_order(stand: Stand, receiver: Receiver) -> None:
    order = await stand.order()

    notice = read(stand, await receiver.next())

    assert list(notice.order_ids) == [order.id]
    assert notice.id
    assert notice.kind


async def test_every_step_of_an_order_is_told(stand: Stand, receiver: Receiver) -> None:
    order = await stand.order()
    steps = ["change_price", "pay", "ship", "complete", "refund_request", "refund_agree"]
    for step in steps:
        stand.advance(order.id, step, **({"fen": 1_400} if step == "change_price" else {}))

    notices = [read(stand, await receiver.next()) for _ in range(1 + len(steps))]

    assert {tuple(notice.order_ids) for notice in notices} == {(order.id,)}
    assert len({notice.id for notice in notices}) == len(notices)


async def test_a_push_that_comes_again_has_the_same_id(stand: Stand, receiver: Receiver) -> None:
    stand.market.control(
        "push", url=receiver.url, app=stand.platform, duplicates=2, shuffle=True,
        window_seconds=0.1,
    )  # fmt: skip
    order = await stand.order()
    stand.advance(order.id, "pay")

    notices = [read(stand, await receiver.next()) for _ in range(6)]

    assert len({notice.id for notice in notices}) == 2
    assert all(list(notice.order_ids) == [order.id] for notice in notices)


async def test_a_badly_signed_push_is_refused(stand: Stand, receiver: Receiver) -> None:
    stand.fault("push", "wrong_signature", count=1)
    await stand.order()

    push = await receiver.next()

    with pytest.raises(NoticeRejected):
        read(stand, push)


async def test_another_secret_signs_nothing(stand: Stand, receiver: Receiver) -> None:
    await stand.order()
    push = await receiver.next()

    for secret in ("another-secret", ""):
        with pytest.raises(NoticeRejected):
            read(stand, push, secret)


async def test_a_push_that_was_changed_on_its_way_is_refused(
    stand: Stand, receiver: Receiver
) -> None:
    order = await stand.order()
    push = await receiver.next()
    other = str(int(order.id) + 1)

    forged = Push(push.headers, push.body.replace(order.id.encode(), other.encode()))

    assert forged.body != push.body
    with pytest.raises(NoticeRejected):
        read(stand, forged)


@pytest.mark.parametrize("body", [b"", b"{}", b"nonsense", b"\xff\xfe", b"message={}", b"[]"])
async def test_nonsense_is_refused(stand: Stand, body: bytes) -> None:
    with pytest.raises(NoticeRejected):
        read(stand, Push({"Authorization": "00"}, body))
    with pytest.raises(NoticeRejected):
        read(stand, Push({}, body))


async def test_an_order_of_another_app_is_not_told(stand: Stand, receiver: Receiver) -> None:
    """Each app has a buyer of its own, whose news go only there."""
    other = "alibaba" if stand.platform == "sandbox" else "sandbox"
    stand.market.order(app=other)
    stand.wait(BUILT_SECONDS)
    order = await stand.order()

    notice = read(stand, await receiver.next())

    assert list(notice.order_ids) == [order.id]
