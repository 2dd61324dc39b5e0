"""Advice: what the owner of a receiver can do about an attempt that did not deliver. Pure."""

from collections.abc import Mapping

from tradewind.delivery.wire import DeliveryOut

_BY_CODE: Mapping[str, str] = {
    "redirect": "Set the URL of the webhook to where the redirect leads, the slash at its end and "
    "www included.",
    "connection_refused": "Check that the receiver runs, that it listens on the port in the URL, "
    "and that its firewall lets calls from the internet in.",
    "connect_timeout": "A firewall that drops packets looks like this, and so does a host that is "
    "down. Check both, and the port in the URL.",
    "tls_timeout": "The receiver accepted the connection and then was silent. Look for a proxy "
    "that is overloaded, or a port that does not speak TLS.",
    "response_timeout": "Answer 2xx as soon as the event is stored, and do the work afterwards: "
    "an attempt waits ten seconds.",
    "certificate_expired": "Renew the certificate, and reload the server so that it serves it.",
    "certificate_not_yet_valid": "Check the clock of the machine that issued the certificate.",
    "certificate_self_signed": "Use a certificate of an authority that browsers trust.",
    "certificate_unknown_issuer": "Serve the whole chain: most often an intermediate certificate "
    "is missing. Browsers fetch it themselves, which hides the mistake.",
    "certificate_wrong_name": "Get a certificate for the name in the URL, or put the name of the "
    "certificate into the URL.",
    "tls_handshake_failed": "Let the receiver speak TLS 1.2 or 1.3, ask for no client "
    "certificate, and check that the port in the URL is its TLS port.",
    "connection_closed": "Check the log of the endpoint for a crash or a restart, and any proxy "
    "in front of it. A server that closes connections after its responses must say so: "
    "Connection: close. If this happened once, nothing needs to be done.",
    "headers_incomplete": "Check the log of the endpoint for a crash while it responded, and any "
    "proxy in front of it.",
    "headers_too_large": "Send fewer or shorter headers: the answer's body is not looked at.",
    "not_http": "Check that the port in the URL is that of a web server.",
    "subscription_deleted": "A webhook that was deleted gets nothing more. Make a new one, and "
    "recover from the time since when events are missing.",
    "subscription_inactive": "Switch the webhook on, then recover what it missed meanwhile.",
    "event_no_longer_wanted": "Edit the webhook, and choose this kind of event again.",
    "event_expired": "Read the order itself: its state is what the event would have said.",
    "recover_cancelled": "Begin another recovery if the events are wanted after all.",
}
_BY_STATUS: Mapping[int, str] = {
    400: "The receiver did not understand the request. Parse the body as JSON, and verify the "
    "signature over the raw bytes.",
    401: "The receiver did not accept the signature. Check that it knows the current secret, "
    "whole with whsec_, and that it verifies the raw bytes before it parses them.",
    403: "Something before the receiver refused: look at a web application firewall, a list of "
    "allowed addresses, or a CSRF check that is on for this path.",
    404: "Nothing is at this path. Compare the URL of the webhook with the route of the receiver.",
    405: "The path does not take POST. Compare the URL with the route of the receiver.",
    410: "The receiver says that it is gone for good. Change the URL, or delete the webhook.",
    413: "A proxy before the receiver takes only smaller bodies; deliveries are a few kilobytes.",
    415: "Let the receiver take Content-Type: application/json.",
    429: "The receiver, or a proxy before it, limits the rate. Deliveries slow down by themselves; "
    "raise the limit for this path if that is not enough.",
    502: "A proxy before the receiver cannot reach it: check that the receiver itself runs.",
    503: "The receiver said that it is not ready. If it stays so, check what it depends on.",
    504: "A proxy before the receiver gave up waiting for it. Answer first, and work afterwards.",
}
_BY_OUTCOME: Mapping[str, str] = {
    "dns_error": "Check the name in the URL for typing errors, and that its DNS record is "
    "published.",
    "blocked_address": "Only public addresses are called. Let the name lead to one, or use a "
    "tunnel with a public name while you develop.",
    "tls_error": "Check the certificate and the TLS settings of the receiver.",
    "connect_failed": _BY_CODE["connection_refused"],
    "timeout": _BY_CODE["response_timeout"],
    "connection_closed": _BY_CODE["connection_closed"],
    "invalid_response": "Look at what answers at this address: it is not a web server, or broken.",
    "unknown": "Nothing needs to be done: the attempt is made again by itself. Your receiver may "
    "have had it already, so handle every event once.",
}
_CLIENT_ERROR = "The receiver refused the request. Its answer, below, may say why."
_SERVER_ERROR = "The receiver failed. Look into its log at the time of the attempt."


def advice(outcome: str, code: str | None, status: int | None) -> str:
    """What to do, in one or two sentences; empty when all is well."""
    if outcome == "delivered":
        return ""
    if code is not None and code in _BY_CODE:
        return _BY_CODE[code]
    if status is not None and status in _BY_STATUS:
        return _BY_STATUS[status]
    if status is not None and outcome == "http_error":
        return _CLIENT_ERROR if status < 500 else _SERVER_ERROR  # noqa: PLR2004 - HTTP's classes
    return _BY_OUTCOME.get(outcome, "")


def advice_about(attempt: DeliveryOut) -> str:
    """The same, about an attempt in the log."""
    code = attempt.error.code if attempt.error else None
    return advice(attempt.outcome, code, attempt.status_code)
