"""The signature of a delivery."""

import hmac
from base64 import b64encode
from functools import lru_cache


def sign(secret: str, timestamp: int, body: bytes) -> str:
    """The value of `X-Service-Signature` for a body sent at `timestamp` (Unix seconds).

    The key is the secret as its owner sees it, `whsec_` included; the body is signed as the bytes
    that are sent.
    """
    keyed = _keyed(secret).copy()
    keyed.update(b"%d.%b" % (timestamp, body))
    return f"sha256={keyed.hexdigest()}"


def sign_standard(key: bytes, message_id: str, timestamp: int, body: bytes) -> str:
    """The value of `webhook-signature` by version 1 of Standard Webhooks."""
    signed = b"%b.%d.%b" % (message_id.encode(), timestamp, body)
    return f"v1,{b64encode(hmac.digest(key, signed, 'sha256')).decode()}"


@lru_cache(maxsize=4096)
def _keyed(secret: str) -> hmac.HMAC:
    """Return the HMAC state of a key. It is half of the cost of a signature, so it is cached."""
    return hmac.new(secret.encode(), digestmod="sha256")
