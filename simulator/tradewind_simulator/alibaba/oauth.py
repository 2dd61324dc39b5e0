"""Tokens in the 1688 dialect: an unsigned form with the application's secret in it."""

import time
from typing import Any

from tradewind_simulator import oauth, responses, times
from tradewind_simulator.alibaba.gateway import FORMAT
from tradewind_simulator.model import App, Dialect, Token
from tradewind_simulator.responses import Response
from tradewind_simulator.sandbox import Sandbox


def token(sandbox: Sandbox, key: str, params: dict[str, str]) -> Response:
    """Answer `getToken`, which is not signed: the form holds the secret."""
    app = sandbox.world.app_of_key.get(key)
    if app is None or app.dialect is not Dialect.ALIBABA:
        return _denied("invalid_client", "client_id")
    struck = oauth.inject_fault(sandbox, "getToken", FORMAT)
    if struck is not None:
        return struck
    if params.get("client_id") != app.key or params.get("client_secret") != app.secret:
        return _denied("invalid_client", "client_id or client_secret")
    real = time.time()
    match params.get("grant_type"):
        case "authorization_code":
            issued = sandbox.tokens.exchange(app, params.get("code", ""), real)
        case "refresh_token":
            issued = sandbox.tokens.refresh(app, params.get("refresh_token", ""), real)
        case _:
            return _denied("unsupported_grant_type", "grant_type")
    if issued is None:
        return _denied("invalid_grant", "code or refresh_token is wrong, used or too old")
    return responses.json(_pair(app, issued, real))


def _denied(code: str, message: str) -> Response:
    return responses.json({"error": code, "error_description": message}, 400)


def _pair(app: App, token: Token, real: float) -> dict[str, Any]:
    return {
        "aliId": str(app.buyer_id),
        "resource_owner": app.name,
        "memberId": app.member_id,
        "expires_in": str(int((token.access_until or real) - real)),
        "access_token": token.access,
        "refresh_token": token.refresh,
        "refresh_token_timeout": times.compact(token.refresh_until or real),
    }
