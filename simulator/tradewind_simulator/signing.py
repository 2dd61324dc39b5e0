"""The signatures of both dialects, of requests and of notices."""

import hashlib
import hmac
from collections.abc import Mapping

UNSIGNED = frozenset({"_aop_signature", "sign"})


def _listed(params: Mapping[str, str]) -> str:
    return "".join(key + params[key] for key in sorted(params) if key not in UNSIGNED)


def alibaba_request(secret: str, path: str, params: Mapping[str, str]) -> str:
    """`_aop_signature`: over `param2/1/{ns}/{api}/{key}`, then names and raw values by name."""
    message = (path + _listed(params)).encode()
    return hmac.new(secret.encode(), message, hashlib.sha1).hexdigest().upper()


def alibaba_notice(secret: str, message: str) -> str:
    """A notice is signed as a request without a path."""
    return alibaba_request(secret, "", {"message": message})


def taobao_request(secret: str, path: str, params: Mapping[str, str]) -> str:
    """`sign`: over the API's path, then names and values by name."""
    message = (path + _listed(params)).encode()
    return hmac.new(secret.encode(), message, hashlib.sha256).hexdigest().upper()


def taobao_notice(secret: str, key: str, body: bytes) -> str:
    """The `Authorization` header of a notice: lower case, over the app key and the raw body."""
    return hmac.new(secret.encode(), key.encode() + body, hashlib.sha256).hexdigest()


def same(left: str, right: str) -> bool:
    return hmac.compare_digest(left.encode(), right.encode())
