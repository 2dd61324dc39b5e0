"""Errors in the 1688 dialect: the gateway's codes, and how each operation words one."""

from typing import Any

from tradewind_simulator import answers
from tradewind_simulator.answers import Answer, Refused
from tradewind_simulator.calls import Rejected

BAD_SIGNATURE = ("gw.SignatureInvalid", "Invalid signature")
NEEDS_TOKEN = ("401", "Request need user authorized")
TOO_MANY = ("gw.QosAppFrequencyLimit", "App invoke frequency exceed limit")


def error(code: str, message: str, status: int = 0) -> Answer:
    """`{error_code, error_message}`, with 400 unless another status is asked for."""
    return answers.json({"error_code": code, "error_message": message}, status or 400)


def missing(name: str) -> Rejected:
    return Rejected("gw.ParamMissing", f"Param missing or invalid: {name}")


def product_error(refused: Refused) -> dict[str, Any]:
    return {"result": {"success": False, "code": refused.code, "message": refused.message}}


def preview_error(refused: Refused) -> dict[str, Any]:
    return {
        "orderPreviewResuslt": [],
        "success": False,
        "errorCode": refused.code,
        "errorMsg": refused.message,
    }


def create_error(refused: Refused) -> dict[str, Any]:
    told = {"success": False, "code": refused.code, "message": refused.message}
    return {**told, "result": {**told, "failedOfferList": refused.extra.get("failed", [])}}


def read_error(refused: Refused) -> dict[str, Any]:
    return {"success": "false", "errorCode": refused.code, "errorMessage": refused.message}


def list_error(refused: Refused) -> dict[str, Any]:
    return {
        "result": [],
        "totalRecord": 0,
        "errorCode": refused.code,
        "errorMessage": refused.message,
    }


def cancel_error(refused: Refused) -> dict[str, Any]:
    return {"success": False, "errorCode": refused.code, "errorMessage": refused.message}


def debit_error(refused: Refused) -> dict[str, Any]:
    return {
        "result": {
            "success": False,
            "code": refused.code,
            "message": refused.message,
            "result": None,
        }
    }


def pay_link_error(refused: Refused) -> dict[str, Any]:
    return {
        "success": False,
        "errorCode": refused.code,
        "erroMsg": refused.message,
        "payFailureOrderList": refused.extra.get("failed", []),
    }


def refund_error(refused: Refused) -> dict[str, Any]:
    return {"result": {"success": False, "code": refused.code, "message": refused.message}}


def refund_query_error(refused: Refused) -> dict[str, Any]:
    return {
        "errorCode": refused.code,
        "errorMessage": refused.message,
        "extErrorMessage": "订单号有误",
    }


def notice_error(refused: Refused) -> dict[str, Any]:
    return {"error_code": refused.code, "error_message": refused.message}
