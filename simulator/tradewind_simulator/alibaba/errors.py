"""Errors in the 1688 dialect: the gateway's codes, and the form of each operation's errors."""

from typing import Any

from tradewind_simulator import responses
from tradewind_simulator.calls import GatewayError
from tradewind_simulator.responses import BusinessError, Response

BAD_SIGNATURE = ("gw.SignatureInvalid", "Invalid signature")
NEEDS_TOKEN = ("401", "Request need user authorized")
TOO_MANY = ("gw.QosAppFrequencyLimit", "App invoke frequency exceed limit")


def error(code: str, message: str, status: int = 0) -> Response:
    """Write `{error_code, error_message}`, with status 400 by default."""
    return responses.json({"error_code": code, "error_message": message}, status or 400)


def missing(name: str) -> GatewayError:
    return GatewayError("gw.ParamMissing", f"Param missing or invalid: {name}")


def product_error(error: BusinessError) -> dict[str, Any]:
    return {"result": {"success": False, "code": error.code, "message": error.message}}


def preview_error(error: BusinessError) -> dict[str, Any]:
    return {
        "orderPreviewResuslt": [],
        "success": False,
        "errorCode": error.code,
        "errorMsg": error.message,
    }


def create_error(error: BusinessError) -> dict[str, Any]:
    body = {"success": False, "code": error.code, "message": error.message}
    return {**body, "result": {**body, "failedOfferList": error.extra.get("failed", [])}}


def read_error(error: BusinessError) -> dict[str, Any]:
    return {"success": "false", "errorCode": error.code, "errorMessage": error.message}


def list_error(error: BusinessError) -> dict[str, Any]:
    return {
        "result": [],
        "totalRecord": 0,
        "errorCode": error.code,
        "errorMessage": error.message,
    }


def cancel_error(error: BusinessError) -> dict[str, Any]:
    return {"success": False, "errorCode": error.code, "errorMessage": error.message}


def debit_error(error: BusinessError) -> dict[str, Any]:
    return {
        "result": {
            "success": False,
            "code": error.code,
            "message": error.message,
            "result": None,
        }
    }


def pay_link_error(error: BusinessError) -> dict[str, Any]:
    return {
        "success": False,
        "errorCode": error.code,
        "erroMsg": error.message,
        "payFailureOrderList": error.extra.get("failed", []),
    }


def refund_error(error: BusinessError) -> dict[str, Any]:
    return {"result": {"success": False, "code": error.code, "message": error.message}}


def refund_query_error(error: BusinessError) -> dict[str, Any]:
    return {
        "errorCode": error.code,
        "errorMessage": error.message,
        "extErrorMessage": "订单号有误",
    }


def notice_error(error: BusinessError) -> dict[str, Any]:
    return {"error_code": error.code, "error_message": error.message}
