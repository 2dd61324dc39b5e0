"""Verifies a webhook: the signature over the raw body, and how long ago it was sent."""

import hmac
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

# Spelled here again, because integrators copy this file: it imports nothing of the service.
_SIGNATURE_HEADER = "X-Service-Signature"
_TIMESTAMP_HEADER = "X-Service-Timestamp"
_DELIVERY_HEADER = "X-Service-Delivery"
_EVENT_HEADER = "X-Service-Event"

TOLERANCE = 300
"""How many seconds the sender's clock and ours may be apart, either way."""

_SIGNATURE = re.compile(r"sha256=[0-9a-f]{64}")
_TIMESTAMP = re.compile(r"[0-9]{1,15}")


class Check(StrEnum):
    """What can be wrong with a webhook."""

    SIGNATURE_MISSING = "signature_missing"
    SIGNATURE_MALFORMED = "signature_malformed"
    TIMESTAMP_MISSING = "timestamp_missing"
    TIMESTAMP_MALFORMED = "timestamp_malformed"
    SIGNATURE_WRONG = "signature_wrong"
    TIMESTAMP_TOO_OLD = "timestamp_too_old"
    TIMESTAMP_TOO_NEW = "timestamp_too_new"


_SENTENCES = {
    Check.SIGNATURE_MISSING: f"There is no {_SIGNATURE_HEADER} header.",
    Check.SIGNATURE_MALFORMED: f"{_SIGNATURE_HEADER} is not sha256= and 64 lower-case hex digits.",
    Check.TIMESTAMP_MISSING: f"There is no {_TIMESTAMP_HEADER} header.",
    Check.TIMESTAMP_MALFORMED: f"{_TIMESTAMP_HEADER} is not a number of seconds.",
    Check.SIGNATURE_WRONG: (
        "The signature does not fit the body. Verify the raw bytes as they came, before any "
        "parsing, with the whole secret, whsec_ included."
    ),
    Check.TIMESTAMP_TOO_OLD: "The webhook was sent too long ago.",
    Check.TIMESTAMP_TOO_NEW: "The webhook was sent in the future; is this machine's clock right?",
}


class NotGenuine(Exception):
    """A webhook must not be trusted. `check` says which check failed."""

    def __init__(self, check: Check) -> None:
        super().__init__(_SENTENCES[check])
        self.check = check


@dataclass(frozen=True, slots=True)
class Delivery:
    """What the headers of a genuine webhook say. Only `timestamp` is signed; the body is too."""

    timestamp: int
    id: str
    event: str


def verify(
    secret: str | Sequence[str],
    headers: Mapping[str, str],
    body: bytes,
    *,
    now: float | None = None,
    tolerance: float = TOLERANCE,
) -> Delivery:
    """Check a webhook, or raise NotGenuine; ValueError where a secret is empty.

    `body` is the request's body exactly as it was received. The names of `headers` may be in any
    case. Give several secrets while one replaces another: any of them may have signed. The time
    is looked at only when the signature is right, so a stale webhook is one that was genuine once.
    """
    secrets = [secret] if isinstance(secret, str) else secret
    if not secrets or not all(each.strip() for each in secrets):
        raise ValueError(
            "A secret is empty, and anybody can sign with an empty secret. Pass the whole secret "
            "of the webhook, whsec_ included."
        )
    by_name = {name.lower(): value for name, value in headers.items()}
    signature = by_name.get(_SIGNATURE_HEADER.lower())
    timestamp = by_name.get(_TIMESTAMP_HEADER.lower())
    if signature is None:
        raise NotGenuine(Check.SIGNATURE_MISSING)
    if not _SIGNATURE.fullmatch(signature):
        raise NotGenuine(Check.SIGNATURE_MALFORMED)
    if timestamp is None:
        raise NotGenuine(Check.TIMESTAMP_MISSING)
    if not _TIMESTAMP.fullmatch(timestamp):
        raise NotGenuine(Check.TIMESTAMP_MALFORMED)
    if not _signed_by_one_of(secrets, signature, timestamp, body):
        raise NotGenuine(Check.SIGNATURE_WRONG)
    age = (time.time() if now is None else now) - int(timestamp)
    if age > tolerance:
        raise NotGenuine(Check.TIMESTAMP_TOO_OLD)
    if age < -tolerance:
        raise NotGenuine(Check.TIMESTAMP_TOO_NEW)
    return Delivery(
        int(timestamp),
        by_name.get(_DELIVERY_HEADER.lower(), ""),
        by_name.get(_EVENT_HEADER.lower(), ""),
    )


def _signed_by_one_of(secrets: Sequence[str], signature: str, timestamp: str, body: bytes) -> bool:
    """Compare in constant time with every secret, whether or not one has fitted already."""
    received = signature.encode()
    signed = timestamp.encode() + b"." + body
    fits = False
    for secret in secrets:
        expected = f"sha256={hmac.digest(secret.encode(), signed, 'sha256').hex()}"
        fits |= hmac.compare_digest(received, expected.encode())
    return fits
