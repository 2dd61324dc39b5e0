"""Verifies a delivery as an endpoint does, and names the check that fails. Pure."""

import hmac
import re
from collections.abc import Mapping
from enum import StrEnum

from tradewind.webhooks.headers import SIGNATURE, TIMESTAMP
from tradewind.webhooks.signing import sign

# How many seconds the clocks of sender and endpoint may be apart, as the contract suggests.
SUGGESTED_TOLERANCE = 300.0

_SIGNATURE = re.compile(r"sha256=[0-9a-f]{64}")
_TIMESTAMP = re.compile(r"0|[1-9][0-9]{0,14}")


class FailedCheck(StrEnum):
    """What is wrong with a delivery."""

    SIGNATURE_MISSING = "signature_missing"
    SIGNATURE_MALFORMED = "signature_malformed"
    TIMESTAMP_MISSING = "timestamp_missing"
    TIMESTAMP_MALFORMED = "timestamp_malformed"
    SIGNATURE_WRONG = "signature_wrong"
    TIMESTAMP_TOO_OLD = "timestamp_too_old"
    TIMESTAMP_TOO_NEW = "timestamp_too_new"

    @property
    def sentence(self) -> str:
        return _SENTENCES[self]


_SENTENCES = {
    FailedCheck.SIGNATURE_MISSING: f"The header {SIGNATURE} is missing.",
    FailedCheck.SIGNATURE_MALFORMED: (
        f"{SIGNATURE} must be `sha256=` and 64 hexadecimal digits in lower case."
    ),
    FailedCheck.TIMESTAMP_MISSING: f"The header {TIMESTAMP} is missing.",
    FailedCheck.TIMESTAMP_MALFORMED: f"{TIMESTAMP} must be Unix time in whole seconds.",
    FailedCheck.SIGNATURE_WRONG: (
        "The signature is not that of this secret, timestamp and body. The secret includes "
        "whsec_, and the body is the raw bytes as they were received, before any parsing."
    ),
    FailedCheck.TIMESTAMP_TOO_OLD: "The signature is right, but it was sent too long ago.",
    FailedCheck.TIMESTAMP_TOO_NEW: (
        "The signature is right, but it was sent in the future by the clock of this machine."
    ),
}


def failed_check(
    secret: str, headers: Mapping[str, str], body: bytes, *, now: float, tolerance: float
) -> FailedCheck | None:
    """The first check that a delivery does not pass; None if it is genuine.

    The names of `headers` may be in any case. The time is checked last: a delivery that is too old
    was genuine once.
    """
    values = {name.lower(): value for name, value in headers.items()}
    signature, timestamp = values.get(SIGNATURE.lower()), values.get(TIMESTAMP.lower())
    if signature is None:
        failed = FailedCheck.SIGNATURE_MISSING
    elif not _SIGNATURE.fullmatch(signature):
        failed = FailedCheck.SIGNATURE_MALFORMED
    elif timestamp is None:
        failed = FailedCheck.TIMESTAMP_MISSING
    elif not _TIMESTAMP.fullmatch(timestamp):
        failed = FailedCheck.TIMESTAMP_MALFORMED
    elif not hmac.compare_digest(sign(secret, int(timestamp), body), signature):
        failed = FailedCheck.SIGNATURE_WRONG
    elif now - int(timestamp) > tolerance:
        failed = FailedCheck.TIMESTAMP_TOO_OLD
    elif int(timestamp) - now > tolerance:
        failed = FailedCheck.TIMESTAMP_TOO_NEW
    else:
        return None
    return failed
