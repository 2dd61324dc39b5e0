"""The headers that a delivery carries besides the usual ones. `receiver/` has its own copy."""

EVENT = "X-Service-Event"
DELIVERY = "X-Service-Delivery"
TIMESTAMP = "X-Service-Timestamp"
SIGNATURE = "X-Service-Signature"
# What `egress.sender.Sender` sends as User-Agent.
USER_AGENT = "service-api-webhooks/1.0"
