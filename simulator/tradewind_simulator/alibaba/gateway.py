"""The gateway of the 1688 dialect: checks path, signature and token."""

from typing import Any

from tradewind_simulator import responses, signing
from tradewind_simulator.alibaba import baskets, notices, orders, payments, products
from tradewind_simulator.alibaba.errors import BAD_SIGNATURE, NEEDS_TOKEN, error, missing
from tradewind_simulator.calls import Call, DialectFormat, GatewayError, Operation
from tradewind_simulator.model import App, Dialect
from tradewind_simulator.responses import Response
from tradewind_simulator.world import World

OPERATIONS: dict[str, Operation] = {
    **products.OPERATIONS,
    **baskets.OPERATIONS,
    **orders.OPERATIONS,
    **payments.OPERATIONS,
    **notices.OPERATIONS,
}

_PATH_WORDS = 5


def find(world: World, path: str, params: dict[str, str]) -> tuple[App, Operation]:
    """The app and the operation of a path below `/openapi/`, once the signature is right.

    A key that nobody has is answered as a bad signature: there is nothing to check it with.
    """
    words = path.split("/")
    if len(words) != _PATH_WORDS or words[0] != "param2":
        raise GatewayError("gw.APIACLDecline", f"No such API: {path}")
    _, _, namespace, name, key = words
    app = world.app_of_key.get(key)
    if app is None or app.dialect is not Dialect.ALIBABA:
        raise GatewayError(*BAD_SIGNATURE)
    signature = params.get("_aop_signature", "")
    if not signature:
        raise missing("_aop_signature")
    if not signing.same(signature, signing.alibaba_request(app.secret, path, params)):
        raise GatewayError(*BAD_SIGNATURE)
    operation = OPERATIONS.get(f"{namespace}/{name}")
    if operation is None:
        raise GatewayError("gw.APIACLDecline", f"AppKey is not allowed: {namespace}/{name}")
    return app, operation


def admit(call: Call, operation: Operation) -> None:
    """Check that the caller's token may act for this buyer."""
    if not operation.needs_token:
        return
    if not call.tokens.good(call.app, call.params.get("access_token", ""), call.real):
        raise GatewayError(*NEEDS_TOKEN)


def encode(value: Any) -> Response:
    return value if isinstance(value, Response) else responses.json(value)


FORMAT = DialectFormat(
    error=error,
    is_gateway_code=lambda code: code.startswith("gw.") or code == NEEDS_TOKEN[0],
    bad_signature=BAD_SIGNATURE,
    encode=encode,
)
