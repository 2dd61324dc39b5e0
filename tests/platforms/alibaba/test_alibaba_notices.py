"""A push counts only when it is signed, and then only as a list of orders to look at."""

from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st
from platforms.alibaba.pushes import SECRET, push, told

from tradewind.platforms.alibaba import notices
from tradewind.platforms.contract import NoticeRejected
from tradewind.platforms.model import NoticeSubject


@pytest.mark.parametrize(
    ("kind", "data", "expected"),
    [
        (
            "ORDER_BUYER_VIEW_ORDER_PAY",
            {"orderId": 1997017368132345941, "currentStatus": "waitsellersend"},
            ("1997017368132345941",),
        ),
        ("ORDER_BUYER_VIEW_ORDER_PAY", {"orderId": "19970173681323459"}, ("19970173681323459",)),
        (
            "ORDER_BATCH_PAY",
            {"batchPay": [{"orderId": "1", "status": "successed"},
                          {"orderId": 2, "status": "ACCOUNT_FROZEN"}, {"orderId": "1"}]},
            ("1", "2"),
        ),
        ("ORDER_BATCH_PAY", {"orderIds": "1,2;3"}, ("1", "2", "3")),
        ("ORDER_BATCH_PAY", {"orderIdList": [1, 2]}, ("1", "2")),
        (
            "LOGISTICS_BUYER_VIEW_TRACE",
            {"OrderLogisticsTracingModel": {"orderLogsItems": [{"orderId": 5, "orderEntryId": 6}]}},
            ("5",),
        ),
        ("PRODUCT_RELATION_VIEW_PRODUCT_EXPIRE", {"productIds": "1"}, ()),
        ("ORDER_BUYER_VIEW_ORDER_PAY", {"orderId": "../admin"}, ()),
        ("ORDER_BUYER_VIEW_ORDER_PAY", None, ()),
    ],
)  # fmt: skip
def test_a_push_names_orders(kind: str, data: Any, expected: tuple[str, ...]) -> None:
    notice = notices.read(SECRET, told(kind, data))

    assert (notice.id, notice.kind, notice.order_ids) == ("9007199254740993", kind, expected)


@pytest.mark.parametrize(
    ("kind", "subject"),
    [
        ("ORDER_BUYER_VIEW_BUYER_MAKE", NoticeSubject.CREATED),
        ("ORDER_BUYER_VIEW_ORDER_PAY", NoticeSubject.PAID),
        ("ORDER_BUYER_VIEW_ORDER_STEP_PAY", NoticeSubject.OTHER),
        ("ORDER_BATCH_PAY", NoticeSubject.OTHER),
    ],
)
def test_a_push_has_a_subject(kind: str, subject: NoticeSubject) -> None:
    assert notices.read(SECRET, told(kind, {"orderId": 1})).subject is subject


def test_the_documented_value_opens() -> None:
    message = '{"type":"ORDER_BUYER_VIEW_ORDER_PAY"}'
    body = urlencode(
        {"message": message, "_aop_signature": "E2E5EEA2D3962CC8AD342475FEBAFA64B53F51DE"}
    ).encode()

    with pytest.raises(NoticeRejected, match="unreadable"):
        notices.read(SECRET, body)  # the signature is right, only a msgId is missing


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"message=%7B%7D",
        b"message=%7B%7D&_aop_signature=",
        b"message=%7B%7D&_aop_signature=E2E5EEA2D3962CC8AD342475FEBAFA64B53F51DE",
        b"\xff\xfe",
        b"&".join(b"a%d=1" % number for number in range(50)),
        push('{"msgId":1,"type":"T"}', secret="another"),
        push('{"msgId":1,"type":"T"}') + b"&extra=1",
        push('{"msgId":1,"type":"T"}') + b"&message=%7B%7D",
    ],
)
def test_a_push_that_is_not_ours_is_refused(body: bytes) -> None:
    with pytest.raises(NoticeRejected):
        notices.read(SECRET, body)


def test_without_a_secret_nothing_is_believed() -> None:
    with pytest.raises(NoticeRejected):
        notices.read("", push('{"msgId":1,"type":"T"}', secret=""))


@pytest.mark.parametrize("message", ["", "[]", "{}", '{"msgId":1}', '{"type":"T"}', "[" * 20_000])
def test_a_signed_push_that_nobody_can_read_is_refused(message: str) -> None:
    with pytest.raises(NoticeRejected):
        notices.read(SECRET, push(message))


@given(st.binary(max_size=200))
def test_no_body_makes_it_crash(body: bytes) -> None:
    with pytest.raises(NoticeRejected):
        notices.read(SECRET, body)


def test_at_most_a_hundred_orders_are_taken() -> None:
    data = {"orderIds": list(range(1, 1000))}

    assert len(notices.read(SECRET, told("ORDER_BATCH_PAY", data)).order_ids) == 100
