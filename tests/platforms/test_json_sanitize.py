"""Letters that are none, in what marketplaces answer: they are replaced, and all else stays."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tradewind.platforms.alibaba import values as alibaba
from tradewind.platforms.json_sanitize import sanitize
from tradewind.platforms.taobao import values as taobao
from tradewind.storage.pool import Database

DECODERS: list[Callable[[bytes], Any]] = [alibaba.decode, taobao.decode]


@pytest.mark.parametrize("decode", DECODERS)
@pytest.mark.parametrize("letter", [r"\u0000", r"\ud800", r"\uDFFF", r"\ude00\ud83d"])
async def test_what_a_seller_wrote_can_be_stored(
    db: Database, decode: Callable[[bytes], Any], letter: str
) -> None:
    reported = decode(f'{{"a":"SF{letter}1"}}'.encode())["a"]

    assert await db.fetchval("SELECT $1::text", reported) == reported
    assert reported.replace("\ufffd", "") == "SF1"


@pytest.mark.parametrize(
    "body",
    [
        r'{"a": "\ud83d\ude00 \uD83D\uDE00"}',
        r'{"a": "\\u0000 \\ud800 \\\\ud800"}',
        r'{"a": "\"\n\/\u00e4\udc", "b": 1}',
        '{"a": "订单"}',
        "",
        "\\",
    ],
)
def test_everything_else_stays_as_it_is(body: str) -> None:
    assert sanitize(body.encode()) == body.encode()


def test_an_escaped_backslash_before_one_is_seen() -> None:
    assert json.loads(sanitize(rb'"\\\u0000"')) == "\\\ufffd"
