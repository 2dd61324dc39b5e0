"""Signatures: ours on each request, the marketplace's on each push."""

import hashlib
import hmac
from collections.abc import Mapping


def request_sign(secret: str, path: str, params: Mapping[str, str]) -> str:
    """The `sign` of a call: over the API's path, then names and raw values, sorted by name."""
    listed = "".join(name + params[name] for name in sorted(params) if name != "sign")
    return _hex(secret, (path + listed).encode()).upper()


def push_header(secret: str, app_key: str, body: bytes) -> str:
    """The `Authorization` header of a push, over the bytes exactly as they came."""
    return _hex(secret, app_key.encode() + body)


def _hex(secret: str, message: bytes) -> str:
    return hmac.new(secret.encode(), message, hashlib.sha256).hexdigest()
