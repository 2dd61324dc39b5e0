"""The signature of a delivery: by it a receiver knows that we sent these bytes, and when."""

import hmac


def sign(secret: str, timestamp: int, body: bytes) -> str:
    """The value of `X-Service-Signature` for a body sent at `timestamp` (Unix seconds).

    The key is the secret as its owner sees it, `whsec_` included; the body is signed as the bytes
    that are sent.
    """
    signed = b"%d.%b" % (timestamp, body)
    return f"sha256={hmac.digest(secret.encode(), signed, 'sha256').hex()}"
