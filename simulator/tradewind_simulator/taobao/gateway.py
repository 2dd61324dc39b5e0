"""The gateway of the Taobao dialect: path, signature, time, token, then the operation."""

import secrets
from typing import Any

from tradewind_simulator import answers, signing
from tradewind_simulator.answers import Answer
from tradewind_simulator.calls import Call, Face, Operation, Rejected
from tradewind_simulator.model import App, Dialect
from tradewind_simulator.taobao import items, orders, refunds
from tradewind_simulator.world import World

OPERATIONS: dict[str, Operation] = {
    operation.name: operation
    for operation in (*items.OPERATIONS, *orders.OPERATIONS, *refunds.OPERATIONS)
}

BAD_SIGNATURE = (
    "IncompleteSignature",
    "The request signature does not conform to platform standards",
)
BAD_TOKEN = ("IllegalAccessToken", "The specified access token is invalid or expired")
TOO_MANY = ("ApiCallLimit", "The request is out of frequency limit, please try again later")
NO_PATH = ("InvalidApiPath", "The specified api path is invalid")
OLD = ("IllegalTimestamp", "The specified timestamp is invalid or expired")
_CODES = frozenset(
    {BAD_SIGNATURE[0], BAD_TOKEN[0], TOO_MANY[0], NO_PATH[0], OLD[0], "MissingParameter"}
)
_TOLERANCE_SECONDS = 7_200.0


def error(code: str, message: str, status: int = 0) -> Answer:
    """`{code, type, message, request_id}`, with 200 unless another status is asked for."""
    kind = "ISV" if code in _CODES else "ISP"
    told = {"code": code, "type": kind, "message": message, "request_id": secrets.token_hex(12)}
    return answers.json(told, status or 200)


def missing(name: str) -> Rejected:
    return Rejected("MissingParameter", f"The input parameter {name} is missing or invalid")


def signed(world: World, path: str, params: dict[str, str], real: float) -> App:
    """The app that signed a call of this path; signatures age."""
    for name in ("app_key", "timestamp", "sign_method", "sign"):
        if not params.get(name):
            raise missing(name)
    app = world.app_of_key.get(params["app_key"])
    if app is None or app.dialect is not Dialect.TAOBAO or params["sign_method"] != "sha256":
        raise Rejected(*BAD_SIGNATURE)
    if not signing.same(params["sign"], signing.taobao(app.secret, path, params)):
        raise Rejected(*BAD_SIGNATURE)
    try:
        age = abs(real - int(params["timestamp"]) / 1000)
    except ValueError:
        raise Rejected(*OLD) from None
    if age > _TOLERANCE_SECONDS:
        raise Rejected(*OLD)
    return app


def find(world: World, path: str, params: dict[str, str], real: float) -> tuple[App, Operation]:
    """The app and the operation of a path below `/rest`."""
    app = signed(world, path, params, real)
    operation = OPERATIONS.get(path)
    if operation is None:
        raise Rejected(*NO_PATH)
    return app, operation


def admit(call: Call, operation: Operation) -> None:
    if not operation.needs_token:
        return
    if not call.tokens.good(call.app, call.params.get("access_token", ""), call.real):
        raise Rejected(*BAD_TOKEN)


def encode(value: Any) -> Answer:
    if isinstance(value, Answer):
        return value
    return answers.json({**value, "code": "0", "request_id": secrets.token_hex(12)})


FACE = Face(
    error=error,
    is_gateway_code=lambda code: code in _CODES,
    bad_signature=BAD_SIGNATURE,
    encode=encode,
)
