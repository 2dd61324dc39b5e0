"""Granting access: a page that says yes, codes for tokens, tokens for fresher ones."""

import time
from html import escape
from urllib.parse import urlencode, urlsplit

from tradewind_simulator import answers
from tradewind_simulator.answers import Answer
from tradewind_simulator.calls import Face
from tradewind_simulator.faults import Mode
from tradewind_simulator.sandbox import Sandbox


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


def inject_fault(sandbox: Sandbox, name: str, face: Face) -> Answer | None:
    """Faults of the operation `token`: an error, a 500, or silence."""
    sandbox.world.counters["token.calls"] += 1
    fault = sandbox.faults.strike(name, "token")
    if fault is None:
        return None
    sandbox.world.counters["token.faults"] += 1
    match fault.mode:
        case Mode.HTTP500:
            return answers.html("<h1>500</h1>", fault.status or 500)
        case Mode.HANG | Mode.DROP | Mode.LATE | Mode.SLOW:
            return Answer(b"", silence=fault.seconds)
        case _:
            return face.error(
                fault.code or "SYSTEM_ERROR", fault.message or "asked for", fault.status
            )
