"""Notices: signed, repeated, shuffled, retried, and replayed."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
from simulator.sandbox_kit import Market, cargo, serving
from tradewind_simulator import signing

WAIT_SECONDS = 10


class Receiver:
    """Takes notices and remembers them; answers as it is told to."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, dict[str, str], bytes]] = []
        self.statuses: list[int] = []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                receiver.seen.append((self.path, dict(self.headers.items()), body))
                status = receiver.statuses.pop(0) if receiver.statuses else 200
                self.send_response(status)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def messages(self) -> list[dict[str, Any]]:
        """The messages of the 1688 dialect, in the order in which they came."""
        forms = [parse_qs(body.decode()) for _, _, body in self.seen]
        return [json.loads(form["message"][0]) for form in forms]

    def wait(self, enough: Callable[[], bool]) -> None:
        deadline = time.monotonic() + WAIT_SECONDS
        while not enough():
            assert time.monotonic() < deadline, f"only {len(self.seen)} came"
            time.sleep(0.02)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver()
    yield made
    made.server.shutdown()
    made.server.server_close()


def walk(market: Market, number: str | int) -> None:
    for step in ("pay", "ship", "receive", "complete"):
        market.advance(number, step)


def test_a_notice_for_each_step_in_order(market: Market, receiver: Receiver) -> None:
    market.control("push", url=f"{receiver.url}/n/{{app}}", dialect="alibaba")
    number = market.order()
    walk(market, number)

    receiver.wait(lambda: len(receiver.seen) >= 5)

    topics = [message["type"] for message in receiver.messages()]
    assert [topic.removeprefix("ORDER_BUYER_VIEW_") for topic in topics] == [
        "BUYER_MAKE",
        "ORDER_PAY",
        "ANNOUNCE_SENDGOODS",
        "ORDER_COMFIRM_RECEIVEGOODS",
        "ORDER_SUCCESS",
    ]
    assert [message["data"]["currentStatus"] for message in receiver.messages()] == [
        "waitbuyerpay", "waitsellersend", "waitbuyerreceive", "confirm_goods", "success",
    ]  # fmt: skip
    path, headers, body = receiver.seen[0]
    form = parse_qs(body.decode())
    message = form["message"][0]
    assert path == "/n/sandbox"
    assert headers["Content-Type"].startswith("application/x-www-form-urlencoded")
    assert form["_aop_signature"] == [signing.alibaba_notice("sandbox-demo-secret", message)]
    first = receiver.messages()[0]
    assert set(first) == {"bizKey", "data", "gmtBorn", "msgId", "type", "userInfo"}
    assert first["data"]["orderId"] == int(number)
    assert set(first["data"]) == {
        "orderId", "currentStatus", "buyerMemberId", "sellerMemberId", "msgSendTime",
    }  # fmt: skip
    assert len({message["msgId"] for message in receiver.messages()}) == 5


@pytest.mark.parametrize(
    ("steps", "topic"),
    [
        (["change_price"], "ORDER_PRICE_MODIFY"),
        (["close_by_seller"], "ORDER_SELLER_CLOSE"),
        (["close_by_platform"], "ORDER_BOPS_CLOSE"),
        (["close_by_buyer"], "ORDER_BUYER_CLOSE"),
        (["pay", "partial_ship"], "PART_PART_SENDGOODS"),
        (["pay", "refund_request"], "ORDER_BUYER_REFUND_IN_SALES"),
        (["pay", "ship", "complete", "refund_request"], "ORDER_REFUND_AFTER_SALES"),
    ],
)
def test_topics(market: Market, receiver: Receiver, steps: list[str], topic: str) -> None:
    market.control("push", url=receiver.url, app="sandbox")
    number = market.order(cargo(quantity=2))
    for step in steps:
        market.advance(number, step, fen=2_000 if step == "change_price" else 0)

    receiver.wait(
        lambda: any(m["type"] == f"ORDER_BUYER_VIEW_{topic}" for m in receiver.messages())
    )


def test_notices_of_the_taobao_dialect(market: Market, receiver: Receiver) -> None:
    market.control("push", url=receiver.url, dialect="taobao")
    number = market.purchased()
    market.advance(number, "change_price", fen=1_400)
    market.advance(number, "pay")
    market.advance(number, "refund_request")

    receiver.wait(lambda: len(receiver.seen) >= 4)

    bodies = [json.loads(body) for _, _, body in receiver.seen]
    assert [body["message_type"] for body in bodies] == [3, 8, 3, 9]
    assert set(bodies[0]) == {"seller_id", "message_type", "data", "timestamp", "site"}
    assert bodies[1]["data"]["purchase_amount"] == 1_400
    assert bodies[2]["data"]["status"] == "WAIT_SELLER_SEND_GOODS"
    _, headers, raw = receiver.seen[0]
    signed = signing.taobao_notice("taobao-demo-secret", "500003", raw)
    assert headers["Authorization"] == signed == signed.lower()


def test_an_address_by_environment(tmp_path: Path, receiver: Receiver) -> None:
    target = f"{receiver.url}/v1/notices/{{app}}"
    with serving(tmp_path, NOTIFY_URL=target, PAY_TIMEOUT="600", PRODUCTS="50") as market:
        number = market.order(app="alibaba")
        receiver.wait(lambda: len(receiver.seen) >= 1)

        assert receiver.seen[0][0] == "/v1/notices/alibaba"
        assert market.view(number, "alibaba")["baseInfo"]["payTimeout"] == 600


def test_duplicates_and_disorder(market: Market, receiver: Receiver) -> None:
    market.control(
        "push", url=receiver.url, app="sandbox", duplicates=1, shuffle=True, window_seconds=1
    )
    orders = [market.order() for _ in range(15)]
    for number in orders:
        market.advance(number, "pay")

    receiver.wait(lambda: len(receiver.seen) >= 60)
    time.sleep(0.2)

    came = [(message["data"]["orderId"], message["type"]) for message in receiver.messages()]
    ids = [message["msgId"] for message in receiver.messages()]
    paid_before_made = [
        number
        for number in orders
        if came.index((int(number), "ORDER_BUYER_VIEW_ORDER_PAY"))
        < came.index((int(number), "ORDER_BUYER_VIEW_BUYER_MAKE"))
    ]
    assert len(ids) == 60
    assert {ids.count(id_) for id_ in ids} == {2}
    assert paid_before_made


def test_a_wrong_signature_on_request(market: Market, receiver: Receiver) -> None:
    market.control("push", url=receiver.url, app="sandbox", secret="other")
    market.fault("push", "wrong_signature", count=1)
    number = market.order()
    market.advance(number, "pay")

    receiver.wait(lambda: len(receiver.seen) >= 2)

    forms = [parse_qs(body.decode()) for _, _, body in receiver.seen]
    good = [
        form["_aop_signature"] == [signing.alibaba_notice("other", form["message"][0])]
        for form in forms
    ]
    assert good == [False, True]


def test_what_is_not_taken_is_sent_again(market: Market, receiver: Receiver) -> None:
    receiver.statuses = [500]
    market.control("push", url=receiver.url, app="sandbox")

    market.order()
    receiver.wait(lambda: len(receiver.seen) >= 2)

    first, second = receiver.messages()
    assert first["msgId"] == second["msgId"]
    receiver.wait(lambda: market.state()["notices"][0]["delivered"])
    assert market.state()["notices"][0]["answers"] == [500, 200]


def test_a_receiver_that_hangs_holds_up_only_its_own_app(
    market: Market, receiver: Receiver
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        market.control("push", url=f"http://127.0.0.1:{silent.getsockname()[1]}", app="alibaba")
        market.control("push", url=receiver.url, app="sandbox")
        market.order(app="alibaba")
        market.order()
        began = time.monotonic()
        receiver.wait(lambda: len(receiver.seen) >= 1)

        assert time.monotonic() - began < 3


def test_what_nobody_took_can_be_fetched_once(market: Market) -> None:
    number = market.order()
    market.advance(number, "pay")

    paged = market.call("push.query.messageList", token="")["pushMessagePage"]
    first = market.call("push.cursor.messageList", quantity=20)["pushMessageList"]
    again = market.call("push.cursor.messageList", quantity=20)["pushMessageList"]

    assert paged["totalCount"] == 2
    assert [message["type"] for message in first] == [
        "ORDER_BUYER_VIEW_BUYER_MAKE",
        "ORDER_BUYER_VIEW_ORDER_PAY",
    ]
    assert first[0]["data"]["orderId"] == int(number)
    assert again == []


def test_what_was_fetched_can_be_confirmed(market: Market) -> None:
    market.order()
    (waiting,) = market.call("push.query.messageList")["pushMessagePage"]["datas"]

    market.call("push.message.confirm", msgIdList=[waiting["msgId"]])

    assert market.call("push.query.messageList")["pushMessagePage"]["datas"] == []


@pytest.mark.parametrize(
    "body",
    [
        {"url": "ftp://x"},
        {"url": "http://x", "app": "nobody"},
        {"url": "http://x", "duplicates": 99},
    ],
)
def test_a_target_that_makes_no_sense(market: Market, body: dict[str, Any]) -> None:
    assert market.client.post("/_control/push", json=body).status_code == 422
    assert market.state()["push"] == []
