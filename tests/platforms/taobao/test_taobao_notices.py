"""Pushes: what a good one says, and every way in which one can be bad."""

import json
from typing import Any

import pytest

from tradewind.platforms.contract import NoticeRejected
from tradewind.platforms.model import Notice
from tradewind.platforms.taobao.gateway import sign_notice
from tradewind.platforms.taobao.notices import read

KEY, SECRET = "500123", "helloworld"
MESSAGE = {
    "seller_id": "2088",
    "message_type": 3,
    "data": {"purchase_id": "2200778678370001234", "status": "WAIT_SELLER_SEND_GOODS"},
    "timestamp": 1763164800000,
    "site": "taobao_global",
}


def notice(message: Any) -> Notice:
    body = json.dumps(message).encode()
    return read(KEY, SECRET, {"Authorization": sign_notice(SECRET, KEY, body)}, body)


@pytest.mark.parametrize(
    ("kind", "read_as"),
    [(3, "order_status"), ("3", "order_status"), (8, "price_change"), (9, "refund")],
)
def test_the_three_kinds(kind: Any, read_as: str) -> None:
    said = notice({**MESSAGE, "message_type": kind})

    assert (said.kind, said.order_ids) == (read_as, ("2200778678370001234",))


@pytest.mark.parametrize(
    "data",
    [
        {"purchase_id": 2200778678370001234},
        {"purchase_order_id": "2200778678370001234", "refund_id": "1"},
        {"purchaseOrderId": 2200778678370001234},
        {"purchase_ids": ["2200778678370001234", 2200778678370001234]},
        '{"purchase_id":2200778678370001234}',
    ],
)
def test_an_order_is_found_by_any_name_in_use(data: Any) -> None:
    assert notice({**MESSAGE, "data": data}).order_ids == ("2200778678370001234",)


def test_the_same_bytes_are_the_same_notice() -> None:
    later = {**MESSAGE, "timestamp": MESSAGE["timestamp"], "site": "elsewhere"}

    assert notice(MESSAGE) == notice(dict(MESSAGE))
    assert notice(MESSAGE).id != notice(later).id


def test_the_name_of_a_header_has_no_case() -> None:
    body = json.dumps(MESSAGE).encode()
    header = sign_notice(SECRET, KEY, body)

    assert read(KEY, SECRET, {"x": "y", "authorization": header}, body).kind == "order_status"


def forgeries() -> list[tuple[str, dict[str, str], bytes]]:
    body = json.dumps(MESSAGE).encode()
    good = sign_notice(SECRET, KEY, body)
    return [
        ("unsigned", {}, body),
        ("empty", {"Authorization": ""}, body),
        ("upper case", {"Authorization": good.upper()}, body),
        ("cut short", {"Authorization": good[:-1]}, body),
        ("not ascii", {"Authorization": "é" * 64}, body),
        ("another secret", {"Authorization": sign_notice("other", KEY, body)}, body),
        ("another app", {"Authorization": sign_notice(SECRET, "500124", body)}, body),
        ("without the key", {"Authorization": sign_notice(SECRET, "", body)}, body),
        ("another body", {"Authorization": good}, body.replace(b"1234", b"1235")),
        ("a space more", {"Authorization": good}, body + b" "),
    ]


@pytest.mark.parametrize(
    ("headers", "body"),
    [pytest.param(headers, body, id=name) for name, headers, body in forgeries()],
)
def test_a_forgery_is_refused(headers: dict[str, str], body: bytes) -> None:
    with pytest.raises(NoticeRejected, match="signature"):
        read(KEY, SECRET, headers, body)


@pytest.mark.parametrize(
    "message",
    [
        {**MESSAGE, "message_type": 4},
        {**MESSAGE, "message_type": None},
        {**MESSAGE, "data": {}},
        {**MESSAGE, "data": {"purchase_id": 0}},
        {**MESSAGE, "data": "nothing"},
        [MESSAGE, MESSAGE],
        "text",
    ],
)
def test_what_nobody_can_act_on_is_refused(message: Any) -> None:
    with pytest.raises(NoticeRejected):
        notice(message)


def test_bytes_that_are_no_json_are_refused_even_well_signed() -> None:
    for body in (b"", b"\xff", b"message=1"):
        with pytest.raises(NoticeRejected, match="JSON"):
            read(KEY, SECRET, {"Authorization": sign_notice(SECRET, KEY, body)}, body)
