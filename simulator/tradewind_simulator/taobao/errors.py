"""Errors in the Taobao dialect: the gateway's codes, and how each operation words one."""

import secrets
from typing import Any

from tradewind_simulator import answers
from tradewind_simulator.answers import Answer, Refused
from tradewind_simulator.calls import Rejected

BAD_SIGNATURE = (
    "IncompleteSignature",
    "The request signature does not conform to platform standards",
)
BAD_TOKEN = ("IllegalAccessToken", "The specified access token is invalid or expired")
TOO_MANY = ("ApiCallLimit", "The request is out of frequency limit, please try again later")
NO_PATH = ("InvalidApiPath", "The specified api path is invalid")
OLD = ("IllegalTimestamp", "The specified timestamp is invalid or expired")
GATEWAY_CODES = frozenset(
    {BAD_SIGNATURE[0], BAD_TOKEN[0], TOO_MANY[0], NO_PATH[0], OLD[0], "MissingParameter"}
)


def error(code: str, message: str, status: int = 0) -> Answer:
    """`{code, type, message, request_id}`, with 200 unless another status is asked for."""
    kind = "ISV" if code in GATEWAY_CODES else "ISP"
    told = {"code": code, "type": kind, "message": message, "request_id": secrets.token_hex(12)}
    return answers.json(told, status or 200)


def missing(name: str) -> Rejected:
    return Rejected("MissingParameter", f"The input parameter {name} is missing or invalid")


def search_error(refused: Refused) -> dict[str, Any]:
    return {"biz_error_code": refused.code, "biz_error_msg": refused.message, "data": None}


def product_error(refused: Refused) -> dict[str, Any]:
    return {"success": False, "error_code": refused.code, "error_msg": refused.message}


def order_error(refused: Refused) -> dict[str, Any]:
    return {
        "success": False,
        "error_code": refused.code,
        "error_msg": refused.message,
        "data": None,
    }


def nested_error(refused: Refused) -> dict[str, Any]:
    told = {"success": False, "error_code": refused.code, "error_msg": refused.message}
    return {"result": {**told, "data": None}}
