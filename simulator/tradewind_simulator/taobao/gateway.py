"""The gateway of the Taobao dialect: checks path, signature, time and token."""

import secrets
from typing import Any

from tradewind_simulator import responses, signing
from tradewind_simulator.calls import Call, DialectFormat, GatewayError, Operation
from tradewind_simulator.model import App, Dialect
from tradewind_simulator.responses import Response
from tradewind_simulator.taobao import baskets, orders, payments, products
from tradewind_simulator.taobao.errors import (
    BAD_SIGNATURE,
    BAD_TOKEN,
    GATEWAY_CODES,
    NO_PATH,
    OLD,
    error,
    missing,
)
from tradewind_simulator.world import World

OPERATIONS: dict[str, Operation] = {
    operation.name: operation
    for operation in (
        *products.OPERATIONS,
        *baskets.OPERATIONS,
        *orders.OPERATIONS,
        *payments.OPERATIONS,
    )
}

_TOLERANCE_SECONDS = 7_200.0


def signed(world: World, path: str, params: dict[str, str], real: float) -> App:
    """Return the app that signed a call; an old signature is rejected."""
    for name in ("app_key", "timestamp", "sign_method", "sign"):
        if not params.get(name):
            raise missing(name)
    app = world.app_of_key.get(params["app_key"])
    if app is None or app.dialect is not Dialect.TAOBAO or params["sign_method"] != "sha256":
        raise GatewayError(*BAD_SIGNATURE)
    if not signing.same(params["sign"], signing.taobao_request(app.secret, path, params)):
        raise GatewayError(*BAD_SIGNATURE)
    try:
        age = abs(real - int(params["timestamp"]) / 1000)
    except ValueError:
        raise GatewayError(*OLD) from None
    if age > _TOLERANCE_SECONDS:
        raise GatewayError(*OLD)
    return app


def find(world: World, path: str, params: dict[str, str], real: float) -> tuple[App, Operation]:
    """Return the app and the operation of a path below `/rest`."""
    app = signed(world, path, params, real)
    operation = OPERATIONS.get(path)
    if operation is None:
        raise GatewayError(*NO_PATH)
    return app, operation


def admit(call: Call, operation: Operation) -> None:
    if not operation.needs_token:
        return
    if not call.tokens.good(call.app, call.params.get("access_token", ""), call.real):
        raise GatewayError(*BAD_TOKEN)


def encode(value: Any) -> Response:
    if isinstance(value, Response):
        return value
    return responses.json({**value, "code": "0", "request_id": secrets.token_hex(12)})


FORMAT = DialectFormat(
    error=error,
    is_gateway_code=lambda code: code in GATEWAY_CODES,
    bad_signature=BAD_SIGNATURE,
    encode=encode,
)
