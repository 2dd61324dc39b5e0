"""Granting access: a page that says yes, codes for tokens, tokens for fresher ones."""

import time
from html import escape
from typing import Any
from urllib.parse import urlencode, urlsplit

from tradewind_simulator import answers, times
from tradewind_simulator.answers import Answer
from tradewind_simulator.calls import Rejected
from tradewind_simulator.faults import Mode
from tradewind_simulator.model import App, Dialect, Token
from tradewind_simulator.param2 import gateway as param2
from tradewind_simulator.sandbox import Sandbox
from tradewind_simulator.taobao import gateway as taobao


def authorize(sandbox: Sandbox, params: dict[str, str]) -> Answer:
    """The simulated buyer always agrees; without an address to go back to, the code is shown."""
    app = sandbox.world.app_of_key.get(params.get("client_id", ""))
    if app is None:
        return answers.html("<h1>client_id?</h1>", 400)
    target = params.get("redirect_uri", "")
    code = sandbox.tokens.grant(app, target, time.time())
    if urlsplit(target).scheme not in ("http", "https"):
        return answers.html(f"<h1>{escape(app.name)}</h1><p>code: <code>{code}</code></p>")
    back = {"code": code} | ({"state": params["state"]} if "state" in params else {})
    return answers.redirect(target + ("&" if "?" in target else "?") + urlencode(back))


def param2_token(sandbox: Sandbox, key: str, params: dict[str, str]) -> Answer:
    """`getToken`, unsigned: the secret itself is in the form."""
    app = sandbox.world.app_of_key.get(key)
    if app is None or app.dialect is not Dialect.PARAM2:
        return _denied("invalid_client", "client_id")
    struck = _struck(sandbox, "getToken")
    if struck is not None:
        return struck
    if params.get("client_id") != app.key or params.get("client_secret") != app.secret:
        return _denied("invalid_client", "client_id or client_secret")
    real = time.time()
    match params.get("grant_type"):
        case "authorization_code":
            token = sandbox.tokens.exchange(app, params.get("code", ""), real)
        case "refresh_token":
            token = sandbox.tokens.refresh(app, params.get("refresh_token", ""), real)
        case _:
            return _denied("unsupported_grant_type", "grant_type")
    if token is None:
        return _denied("invalid_grant", "code or refresh_token is wrong, used or too old")
    return answers.json(_param2_pair(app, token, real))


def _denied(code: str, message: str) -> Answer:
    return answers.json({"error": code, "error_description": message}, 400)


def _param2_pair(app: App, token: Token, real: float) -> dict[str, Any]:
    return {
        "aliId": str(app.buyer_id),
        "resource_owner": app.name,
        "memberId": app.member_id,
        "expires_in": str(int((token.access_until or real) - real)),
        "access_token": token.access,
        "refresh_token": token.refresh,
        "refresh_token_timeout": times.compact(token.refresh_until or real),
    }


def taobao_token(sandbox: Sandbox, path: str, params: dict[str, str]) -> Answer:
    """`/auth/token/create` and `/auth/token/refresh`: signed, but without a token."""
    real = time.time()
    try:
        app = taobao.signed(sandbox.world, path, params, real)
    except Rejected as rejected:
        return taobao.error(rejected.code, rejected.message)
    struck = _struck(sandbox, path, dialect=Dialect.TAOBAO)
    if struck is not None:
        return struck
    if path.endswith("create"):
        token = sandbox.tokens.exchange(app, params.get("code", ""), real)
        wrong = ("InvalidCode", "Invalid authorization code")
    else:
        token = sandbox.tokens.refresh(app, params.get("refresh_token", ""), real)
        wrong = ("IllegalRefreshToken", "The specified refresh token is invalid or expired")
    if token is None:
        return taobao.error(*wrong)
    return taobao.encode(
        {
            "access_token": token.access,
            "refresh_token": token.refresh,
            "expires_in": int((token.access_until or real) - real),
            "refresh_expires_in": int((token.refresh_until or real) - real),
            "account": app.name,
            "account_id": None,
            "account_platform": "taobao_global",
            "user_id": str(app.buyer_id),
            "seller_id": str(app.buyer_id),
            "short_code": app.name,
            "error_code": None,
        }
    )


def _struck(sandbox: Sandbox, name: str, dialect: Dialect = Dialect.PARAM2) -> Answer | None:
    """Faults of the operation `token`: an error, a 500, or silence."""
    sandbox.world.counters["token.calls"] += 1
    fault = sandbox.faults.strike(name, "token")
    if fault is None:
        return None
    sandbox.world.counters["token.faults"] += 1
    face = taobao.FACE if dialect is Dialect.TAOBAO else param2.FACE
    match fault.mode:
        case Mode.HTTP500:
            return answers.html("<h1>500</h1>", fault.status or 500)
        case Mode.HANG | Mode.DROP | Mode.LATE | Mode.SLOW:
            return Answer(b"", silence=fault.seconds)
        case _:
            return face.error(
                fault.code or "SYSTEM_ERROR", fault.message or "asked for", fault.status
            )
