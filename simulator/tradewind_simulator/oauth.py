"""The authorisation page, and faults of the token operations."""

import time
from html import escape
from urllib.parse import urlencode, urlsplit

from tradewind_simulator import responses
from tradewind_simulator.calls import DialectFormat
from tradewind_simulator.faults import Mode
from tradewind_simulator.responses import Response
from tradewind_simulator.sandbox import Sandbox


def authorize(sandbox: Sandbox, params: dict[str, str]) -> Response:
    """Authorise at once, as the simulated buyer; without a redirect URL, show the code."""
    app = sandbox.world.app_of_key.get(params.get("client_id", ""))
    if app is None:
        return responses.html("<h1>client_id?</h1>", 400)
    target = params.get("redirect_uri", "")
    code = sandbox.tokens.grant(app, target, time.time())
    if urlsplit(target).scheme not in ("http", "https"):
        return responses.html(f"<h1>{escape(app.name)}</h1><p>code: <code>{code}</code></p>")
    back = {"code": code} | ({"state": params["state"]} if "state" in params else {})
    return responses.redirect(target + ("&" if "?" in target else "?") + urlencode(back))


def inject_fault(sandbox: Sandbox, name: str, dialect_format: DialectFormat) -> Response | None:
    """Apply a fault of the operation `token`, if there is any."""
    sandbox.world.counters["token.calls"] += 1
    fault = sandbox.faults.strike(name, "token")
    if fault is None:
        return None
    sandbox.world.counters["token.faults"] += 1
    match fault.mode:
        case Mode.HTTP500:
            return responses.html("<h1>500</h1>", fault.status or 500)
        case Mode.HANG | Mode.DROP | Mode.LATE | Mode.SLOW:
            return Response(b"", silence=fault.seconds)
        case _:
            return dialect_format.error(
                fault.code or "SYSTEM_ERROR", fault.message or "asked for", fault.status
            )
