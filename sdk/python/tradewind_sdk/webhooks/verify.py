"""Verifies a webhook: the signature over the raw body, and how long ago it was sent."""

import hmac
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

SIGNATURE_HEADER = "X-Service-Signature"
TIMESTAMP_HEADER = "X-Service-Timestamp"
DELIVERY_HEADER = "X-Service-Delivery"
EVENT_HEADER = "X-Service-Event"

TOLERANCE_SECONDS = 300
"""How many seconds the sender's clock and ours may be apart, either way."""

_SIGNATURE = re.compile(r"sha256=[0-9a-f]{64}")
_TIMESTAMP = re.compile(r"[0-9]{1,15}")


class VerificationFailure(StrEnum):
    """What can be wrong with a webhook."""

    SIGNATURE_MISSING = "signature_missing"
    SIGNATURE_MALFORMED = "signature_malformed"
    TIMESTAMP_MISSING = "timestamp_missing"
    TIMESTAMP_MALFORMED = "timestamp_malformed"
    SIGNATURE_WRONG = "signature_wrong"
    TIMESTAMP_TOO_OLD = "timestamp_too_old"
    TIMESTAMP_TOO_NEW = "timestamp_too_new"


_SENTENCES = {
    VerificationFailure.SIGNATURE_MISSING: f"There is no {SIGNATURE_HEADER} header.",
    VerificationFailure.SIGNATURE_MALFORMED: (
        f"{SIGNATURE_HEADER} is not sha256= and 64 lower-case hex digits."
    ),
    VerificationFailure.TIMESTAMP_MISSING: f"There is no {TIMESTAMP_HEADER} header.",
    VerificationFailure.TIMESTAMP_MALFORMED: f"{TIMESTAMP_HEADER} is not a number of seconds.",
    VerificationFailure.SIGNATURE_WRONG: (
        "The signature does not match the body. Verify the raw bytes as they were received, "
        "before any parsing, with the whole secret, whsec_ included."
    ),
    VerificationFailure.TIMESTAMP_TOO_OLD: "The webhook was sent too long ago.",
    VerificationFailure.TIMESTAMP_TOO_NEW: (
        "The webhook was sent in the future; is this machine's clock right?"
    ),
}


class VerificationError(Exception):
    """A webhook must not be trusted: answer 401. `reason` says which check failed."""

    def __init__(self, reason: VerificationFailure) -> None:
        super().__init__(_SENTENCES[reason])
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Delivery:
    """What the headers of a genuine webhook say.

    The signature covers `timestamp` and the body. `id` and `event` are not signed: to decide
    anything, read the event's id and kind from the body.
    """

    timestamp: int
    id: str
    event: str


def verify(
    secret: str | Sequence[str],
    headers: Mapping[str, str],
    body: bytes,
    *,
    now: float | None = None,
    tolerance: float = TOLERANCE_SECONDS,
) -> Delivery:
    """Check a webhook, or raise VerificationError; ValueError if a secret is empty.

    `body` is the request's body exactly as it was received. The names of `headers` may be in any
    case. Pass several secrets while one replaces another: any of them may have signed. The time
    is checked after the signature, so what is too old was genuine once.
    """
    secrets = checked_secrets(secret)
    by_name = {name.lower(): value for name, value in headers.items()}
    signature = by_name.get(SIGNATURE_HEADER.lower())
    timestamp = by_name.get(TIMESTAMP_HEADER.lower())
    if signature is None:
        raise VerificationError(VerificationFailure.SIGNATURE_MISSING)
    if not _SIGNATURE.fullmatch(signature):
        raise VerificationError(VerificationFailure.SIGNATURE_MALFORMED)
    if timestamp is None:
        raise VerificationError(VerificationFailure.TIMESTAMP_MISSING)
    if not _TIMESTAMP.fullmatch(timestamp):
        raise VerificationError(VerificationFailure.TIMESTAMP_MALFORMED)
    if not _is_signed_by_any(secrets, signature, timestamp, body):
        raise VerificationError(VerificationFailure.SIGNATURE_WRONG)
    age = (time.time() if now is None else now) - int(timestamp)
    if age > tolerance:
        raise VerificationError(VerificationFailure.TIMESTAMP_TOO_OLD)
    if age < -tolerance:
        raise VerificationError(VerificationFailure.TIMESTAMP_TOO_NEW)
    return Delivery(
        int(timestamp),
        by_name.get(DELIVERY_HEADER.lower(), ""),
        by_name.get(EVENT_HEADER.lower(), ""),
    )


def checked_secrets(secret: str | Sequence[str]) -> list[str]:
    """The secrets as a list; ValueError if there is none, or if one is empty."""
    secrets = [secret] if isinstance(secret, str) else list(secret)
    if not secrets or not all(each.strip() for each in secrets):
        raise ValueError(
            "A secret is empty, and anybody can sign with an empty secret. Pass the whole secret "
            "of the webhook, whsec_ included."
        )
    return secrets


def _is_signed_by_any(secrets: Sequence[str], signature: str, timestamp: str, body: bytes) -> bool:
    """Compare in constant time with every secret, whether or not one has matched already."""
    received = signature.encode()
    signed = timestamp.encode() + b"." + body
    matches = False
    for secret in secrets:
        expected = f"sha256={hmac.digest(secret.encode(), signed, 'sha256').hex()}"
        matches |= hmac.compare_digest(received, expected.encode())
    return matches
