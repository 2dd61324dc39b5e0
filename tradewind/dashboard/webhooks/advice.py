"""Advice: how the owner of an endpoint can fix a failed attempt. Pure."""

from collections.abc import Mapping

from tradewind.delivery.model import LoggedAttempt

_BY_CODE: Mapping[str, str] = {
    "redirect": "Set the URL of the webhook to the target of the redirect, including a trailing "
    "slash and www.",
    "connection_refused": "Check that the endpoint is running, that it listens on the port of the "
    "URL, and that its firewall allows connections from the internet.",
    "connect_timeout": "Check that the host is up, that its firewall does not drop packets, and "
    "that the port of the URL is right.",
    "tls_timeout": "The endpoint accepted the connection but did not start TLS. Check for an "
    "overloaded proxy, or a port that does not use TLS.",
    "response_timeout": "Respond with 2xx as soon as the event is stored, and process it "
    "afterwards: an attempt waits ten seconds.",
    "certificate_expired": "Renew the certificate and reload the server.",
    "certificate_not_yet_valid": "Check the clock of the machine that issued the certificate.",
    "certificate_self_signed": "Use a certificate of an authority that browsers trust.",
    "certificate_unknown_issuer": "Serve the whole certificate chain: usually an intermediate "
    "certificate is missing. Browsers download it themselves, which hides the mistake.",
    "certificate_wrong_name": "Use a certificate for the host name of the URL, or a URL with the "
    "host name of the certificate.",
    "tls_handshake_failed": "Enable TLS 1.2 or 1.3, do not require a client certificate, and check "
    "that the port of the URL is the TLS port.",
    "connection_closed": "Check the log of the endpoint for a crash or a restart, and any proxy "
    "in front of it. A server that closes connections after its responses must say so: "
    "Connection: close. If this happened once, nothing needs to be done.",
    "headers_incomplete": "Check the log of the endpoint for a crash while it responded, and any "
    "proxy in front of it.",
    "headers_too_large": "Send fewer or shorter response headers. The response body is not used.",
    "not_http": "Check that the port of the URL is the port of a web server.",
    "subscription_deleted": "A deleted webhook receives nothing. Create a new one and replay the "
    "missed events.",
    "subscription_inactive": "Enable the webhook, then replay the events it missed.",
    "event_no_longer_wanted": "Edit the webhook and select this event type again.",
    "event_expired": "Read the order itself: it has the current state.",
    "recover_cancelled": "Start another replay if you need the events.",
}
_BY_STATUS: Mapping[int, str] = {
    400: "The endpoint rejected the request. Parse the body as JSON, and verify the signature over "
    "the raw bytes.",
    401: "The endpoint did not accept the signature. Check that it uses the current secret, "
    "including whsec_, and that it verifies the raw bytes before it parses them.",
    403: "Something in front of the endpoint blocked the request. Check the web application "
    "firewall, IP allow lists, and CSRF protection for this path.",
    404: "Nothing is at this path. Compare the URL of the webhook with the route of the endpoint.",
    405: "The path does not accept POST. Compare the URL with the route of the endpoint.",
    410: "The endpoint is gone for good. Change the URL, or delete the webhook.",
    413: "A proxy in front of the endpoint limits the body size. Deliveries are a few kilobytes.",
    415: "Let the endpoint accept Content-Type: application/json.",
    429: "The endpoint, or a proxy in front of it, limits the rate. Deliveries slow down "
    "automatically; raise the limit for this path if that is not enough.",
    502: "A proxy in front of the endpoint cannot reach it. Check that the endpoint is running.",
    503: "The endpoint is not ready. If this persists, check the services it depends on.",
    504: "A proxy in front of the endpoint timed out. Respond first, process afterwards.",
}
_BY_OUTCOME: Mapping[str, str] = {
    "dns_error": "Check the spelling of the host name, and that its DNS record exists.",
    "blocked_address": "Only public addresses are allowed. Use a public host name, or a tunnel "
    "with a public host name during development.",
    "tls_error": "Check the certificate and the TLS settings of the endpoint.",
    "connect_failed": _BY_CODE["connection_refused"],
    "timeout": _BY_CODE["response_timeout"],
    "connection_closed": _BY_CODE["connection_closed"],
    "invalid_response": "Check what responds at this URL: it is not a working web server.",
    "unknown": "Nothing needs to be done: the delivery is retried automatically. The endpoint may "
    "have received it already, so process every event once.",
}
_CLIENT_ERROR = "The endpoint rejected the request. Its response below may contain the reason."
_SERVER_ERROR = "The endpoint failed. Check its log at the time of the attempt."


def advice(outcome: str, code: str | None, status: int | None) -> str:
    """How to fix it, in one or two sentences; empty if the attempt succeeded."""
    if outcome == "delivered":
        return ""
    if code is not None and code in _BY_CODE:
        return _BY_CODE[code]
    if status is not None and status in _BY_STATUS:
        return _BY_STATUS[status]
    if status is not None and outcome == "http_error":
        return _CLIENT_ERROR if status < 500 else _SERVER_ERROR  # noqa: PLR2004 - HTTP's classes
    return _BY_OUTCOME.get(outcome, "")


def advice_about(attempt: LoggedAttempt) -> str:
    """How to fix a logged attempt."""
    return advice(attempt.outcome, attempt.error_code, attempt.status_code)
