"""Notices as 1688 sends them, signed with the tests' secret."""

import json
from typing import Any
from urllib.parse import urlencode

from tradewind.platforms.alibaba import gateway

SECRET = "test123"


def push(message: str, *, secret: str = SECRET, **more: str) -> bytes:
    form = {"message": message, **more}
    return urlencode({**form, "_aop_signature": gateway.sign_notice(secret, form)}).encode()


def told(kind: str, data: Any) -> bytes:
    message = {
        "bizKey": "1", "data": data, "gmtBorn": 1723167864000, "msgId": 9007199254740993,
        "type": kind, "userInfo": "b2b-1",
    }  # fmt: skip
    return push(json.dumps(message))
