"""Errors in the Taobao dialect: the gateway's codes, and the form of operations' errors."""

import secrets
from typing import Any

from tradewind_simulator import responses
from tradewind_simulator.calls import GatewayError
from tradewind_simulator.responses import BusinessError, Response

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


def error(code: str, message: str, status: int = 0) -> Response:
    """Write `{code, type, message, request_id}`, with status 200 by default."""
    kind = "ISV" if code in GATEWAY_CODES else "ISP"
    body = {"code": code, "type": kind, "message": message, "request_id": secrets.token_hex(12)}
    return responses.json(body, status or 200)


def missing(name: str) -> GatewayError:
    return GatewayError("MissingParameter", f"The input parameter {name} is missing or invalid")


def search_error(error: BusinessError) -> dict[str, Any]:
    return {"biz_error_code": error.code, "biz_error_msg": error.message, "data": None}


def product_error(error: BusinessError) -> dict[str, Any]:
    return {"success": False, "error_code": error.code, "error_msg": error.message}


def order_error(error: BusinessError) -> dict[str, Any]:
    return {
        "success": False,
        "error_code": error.code,
        "error_msg": error.message,
        "data": None,
    }


def nested_error(error: BusinessError) -> dict[str, Any]:
    body = {"success": False, "error_code": error.code, "error_msg": error.message}
    return {"result": {**body, "data": None}}
