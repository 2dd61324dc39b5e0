"""The names of delivery headers: ours, those of Standard Webhooks, and which customers may add.

`sdk/` spells ours again: integrators install it without the service.
"""

import re

EVENT = "X-Service-Event"
DELIVERY = "X-Service-Delivery"
TIMESTAMP = "X-Service-Timestamp"
SIGNATURE = "X-Service-Signature"
DESCRIPTIONS = {
    EVENT: "The name of the event.",
    DELIVERY: "The id of this attempt; another one at every retry.",
    TIMESTAMP: "Unix time in seconds, taken at the send.",
    SIGNATURE: "`sha256=` and the hex HMAC-SHA-256 of timestamp, `.` and raw body.",
}
STANDARD_ID = "webhook-id"
STANDARD_TIMESTAMP = "webhook-timestamp"
STANDARD_SIGNATURE = "webhook-signature"

# Shown in place of the value of a header that a subscription adds; sent back, it keeps the value.
MASK = "********"
# A token and visible characters of RFC 9110.
NAME_PATTERN = "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$"
VALUE_PATTERN = "^[!-~]([ -~]{0,2046}[!-~])?$"
# Ours, what HTTP itself needs, hop-by-hop ones, and what says which way a request came.
_RESERVED = re.compile(
    r"(x-service|webhook|content|proxy|sec|x-forwarded)-.*"
    r"|host|user-agent|accept|accept-.*|connection|keep-alive|te|trailers?|transfer-encoding"
    r"|upgrade|http2-settings|expect|date|cookie|forwarded|via|x-real-ip",
    re.IGNORECASE,
)


def is_reserved(name: str) -> bool:
    """Whether customers may not set this header."""
    return _RESERVED.fullmatch(name) is not None
