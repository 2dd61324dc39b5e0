"""Tokens in the Taobao dialect: signed calls without an access token."""

import time

from tradewind_simulator import oauth
from tradewind_simulator.calls import GatewayError
from tradewind_simulator.responses import Response
from tradewind_simulator.sandbox import Sandbox
from tradewind_simulator.taobao import errors
from tradewind_simulator.taobao.gateway import FORMAT, encode, signed


def token(sandbox: Sandbox, path: str, params: dict[str, str]) -> Response:
    """Answer `/auth/token/create` and `/auth/token/refresh`."""
    real = time.time()
    try:
        app = signed(sandbox.world, path, params, real)
    except GatewayError as error:
        return errors.error(error.code, error.message)
    struck = oauth.inject_fault(sandbox, path, FORMAT)
    if struck is not None:
        return struck
    if path.endswith("create"):
        issued = sandbox.tokens.exchange(app, params.get("code", ""), real)
        wrong = ("InvalidCode", "Invalid authorization code")
    else:
        issued = sandbox.tokens.refresh(app, params.get("refresh_token", ""), real)
        wrong = ("IllegalRefreshToken", "The specified refresh token is invalid or expired")
    if issued is None:
        return errors.error(*wrong)
    return encode(
        {
            "access_token": issued.access,
            "refresh_token": issued.refresh,
            "expires_in": int((issued.access_until or real) - real),
            "refresh_expires_in": int((issued.refresh_until or real) - real),
            "account": app.name,
            "account_id": None,
            "account_platform": "taobao_global",
            "user_id": str(app.buyer_id),
            "seller_id": str(app.buyer_id),
            "short_code": app.name,
            "error_code": None,
        }
    )
