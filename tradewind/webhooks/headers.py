"""The names and descriptions of delivery headers.

`sdk/` spells them again: integrators install it without the service.
"""

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
