"""A delivery as commands and code: sent again by hand, signed by hand, verified by hand. Pure.

No secret is ever part of it: where one is needed stands a place for it.
"""

import json
from collections.abc import Sequence
from shlex import quote

from tradewind.delivery.wire import HeaderOut

_PLACE_FOR_SECRET = "whsec_…"  # noqa: S105 - that it is none is the point
_LARGEST_PRETTY = 256 * 1024

VERIFY_PYTHON = """\
import os

from tradewind.receiver.verify import NotGenuine, verify

SECRET = os.environ["TRADEWIND_WEBHOOK_SECRET"]

# In the handler of the request; body is the bytes as they came, before any parsing.
try:
    verify(SECRET, request.headers, body)
except NotGenuine as why:
    return 401, str(why)
"""
VERIFY_PLAIN = """\
import hashlib, hmac, os, time

secret = os.environ["TRADEWIND_WEBHOOK_SECRET"].encode()
timestamp = headers["X-Service-Timestamp"]
signed = timestamp.encode() + b"." + body
expected = "sha256=" + hmac.new(secret, signed, hashlib.sha256).hexdigest()
genuine = hmac.compare_digest(expected, headers["X-Service-Signature"])
fresh = abs(time.time() - int(timestamp)) <= 300
"""
VERIFY_OPENSSL = """\
# body.json holds the bytes as they came; the result is X-Service-Signature after "sha256=".
{ printf '%s.' "$TIMESTAMP"; cat body.json; } | openssl dgst -sha256 -hmac "$SECRET"
"""


def curl_as_sent(url: str, headers: Sequence[HeaderOut], body: str) -> str:
    """The very request. A receiver that looks at the time refuses it five minutes later."""
    return _curl(url, [quote(f"{one.name}: {one.value}") for one in headers], quote(body))


def curl_signed_now(url: str, headers: Sequence[HeaderOut], body: str) -> str:
    """The same request with a signature of its own, made when it is run."""
    fixed = [
        quote(f"{one.name}: {one.value}")
        for one in headers
        if one.name not in {"X-Service-Timestamp", "X-Service-Signature"}
    ]
    fresh = ['"X-Service-Timestamp: $NOW"', '"X-Service-Signature: sha256=$SIGNATURE"']
    return (
        f"SECRET={quote(_PLACE_FOR_SECRET)}  # the secret of the webhook\n"
        f"BODY={quote(body)}\n"
        "NOW=$(date +%s)\n"
        'SIGNATURE=$(printf \'%s.%s\' "$NOW" "$BODY" | '
        "openssl dgst -sha256 -hmac \"$SECRET\" | sed 's/^.* //')\n"
        + _curl(url, [*fixed, *fresh], '"$BODY"')
    )


def _curl(url: str, headers: list[str], body: str) -> str:
    lines = [f"curl -X POST {quote(url)}", *(f"-H {header}" for header in headers)]
    return " \\\n  ".join([*lines, f"--data-raw {body}"])


def pretty(text: str | None) -> str | None:
    r"""JSON with its lines apart, as people read it; None when it is no JSON, or not readable so.

    A few kilobytes of brackets become megabytes of blanks, and `\ud800` is no letter.
    """
    try:
        shown = json.dumps(json.loads(text or ""), indent=2, ensure_ascii=False)
        return shown if len(shown.encode()) <= _LARGEST_PRETTY else None
    except (ValueError, RecursionError):
        return None
