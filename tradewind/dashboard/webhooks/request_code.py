"""A delivery as curl commands, and code that verifies one. Pure.

They contain a placeholder instead of the secret.
"""

import json
from collections.abc import Sequence
from shlex import quote
from typing import NamedTuple

from tradewind.webhooks import headers as names

_SECRET_PLACEHOLDER = "whsec_…"  # noqa: S105 - not a secret
_LARGEST_PRETTY = 256 * 1024

VERIFY_PYTHON = """\
import os

from tradewind.receiver.verify import NotGenuine, verify

SECRET = os.environ["TRADEWIND_WEBHOOK_SECRET"]

# In the request handler; body is the raw bytes, before any parsing.
try:
    verify(SECRET, request.headers, body)
except NotGenuine as error:
    return 401, str(error)
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
# body.json holds the raw body; the result is X-Service-Signature after "sha256=".
{ printf '%s.' "$TIMESTAMP"; cat body.json; } | openssl dgst -sha256 -hmac "$SECRET"
"""


class HeaderLine(NamedTuple):
    """One header; a repeated name is a line of its own."""

    name: str
    value: str


def curl_as_sent(url: str, headers: Sequence[HeaderLine], body: str) -> str:
    """The request as it was sent; an endpoint that checks the timestamp rejects it later."""
    return _curl(url, [quote(f"{header.name}: {header.value}") for header in headers], quote(body))


def curl_signed_now(url: str, headers: Sequence[HeaderLine], body: str) -> str:
    """The same request, signed when the command is run."""
    fixed = [
        quote(f"{header.name}: {header.value}")
        for header in headers
        if header.name not in {names.TIMESTAMP, names.SIGNATURE}
    ]
    fresh = [f'"{names.TIMESTAMP}: $NOW"', f'"{names.SIGNATURE}: sha256=$SIGNATURE"']
    return (
        f"SECRET={quote(_SECRET_PLACEHOLDER)}  # the secret of the webhook\n"
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
    r"""Indented JSON; None if the text is not JSON, or cannot be shown so.

    A few kilobytes of brackets become megabytes of spaces, and `\ud800` is not a character.
    """
    try:
        shown = json.dumps(json.loads(text or ""), indent=2, ensure_ascii=False)
        return shown if len(shown.encode()) <= _LARGEST_PRETTY else None
    except (ValueError, RecursionError):
        return None
