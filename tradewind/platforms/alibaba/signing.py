"""Signatures of the 1688 dialect: over a path and parameters, or over parameters alone."""

import hashlib
import hmac
from collections.abc import Mapping

SIGNATURE = "_aop_signature"


def of_request(secret: str, path: str, params: Mapping[str, str]) -> str:
    """`path` runs from `param2` up to the app's key; the values are raw, not URL-encoded."""
    return _sign(secret, path + _listed(params))


def of_push(secret: str, params: Mapping[str, str]) -> str:
    """A push is signed without a path. No official text says so, hence a push is only a hint."""
    return _sign(secret, _listed(params))


def same(given: str, expected: str) -> bool:
    """Compare in a time that does not tell how much of it was right."""
    return hmac.compare_digest(given.encode(), expected.encode())


def _listed(params: Mapping[str, str]) -> str:
    return "".join(name + params[name] for name in sorted(params) if name != SIGNATURE)


def _sign(secret: str, text: str) -> str:
    return hmac.new(secret.encode(), text.encode(), hashlib.sha1).hexdigest().upper()
