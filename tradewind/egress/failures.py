"""Translates libcurl's errors: an outcome, a code and a sentence that leaks nothing."""

from dataclasses import dataclass
from typing import Final

import pycurl

from tradewind.egress import descriptors
from tradewind.egress.result import Outcome, Problem

_TOO_LARGE: Final = 100
_OPENSSL: Final = 98  # a client certificate is asked for

_TLS: Final = frozenset(
    {
        pycurl.E_SSL_CONNECT_ERROR,
        pycurl.E_PEER_FAILED_VERIFICATION,
        pycurl.E_SSL_CERTPROBLEM,
        pycurl.E_SSL_CIPHER,
        pycurl.E_SSL_ISSUER_ERROR,
        pycurl.E_SSL_INVALIDCERTSTATUS,
        pycurl.E_SSL_SHUTDOWN_FAILED,
        _OPENSSL,
    }
)
# libcurl's codes for a connection that ended. It does not report truncated headers.
_CLOSED: Final = frozenset(
    {
        pycurl.E_OK,
        pycurl.E_GOT_NOTHING,
        pycurl.E_RECV_ERROR,
        pycurl.E_SEND_ERROR,
        pycurl.E_SEND_FAIL_REWIND,
    }
)
_NOT_CONNECTED: Final = frozenset({pycurl.E_COULDNT_CONNECT, pycurl.E_COULDNT_RESOLVE_HOST})

# OpenSSL's verdicts on a certificate (X509_V_ERR_…).
_CERTIFICATES: Final = {
    9: Problem("certificate_not_yet_valid", "The endpoint's certificate is not valid yet."),
    10: Problem("certificate_expired", "The endpoint's certificate has expired."),
    18: Problem("certificate_self_signed", "The endpoint's certificate is self-signed."),
    19: Problem(
        "certificate_unknown_issuer", "No known authority has signed the endpoint's certificate."
    ),
    20: Problem(
        "certificate_unknown_issuer",
        "The endpoint's certificate leads to no known authority; perhaps an intermediate "
        "certificate is missing.",
    ),
    **dict.fromkeys(
        # libcurl compares the name itself, when OpenSSL has no objection, or has not said so yet.
        (0, 1, 62, 64),
        Problem("certificate_wrong_name", "The endpoint's certificate is for another name."),
    ),
}
_CERTIFICATES_OTHERS: Final = Problem("certificate_refused", "The endpoint's certificate is wrong.")


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a try that brought no complete response headers."""

    code: int
    blocked: bool  # the guard did not allow the address
    connected: bool
    secured: bool  # the TLS handshake is over, or none is needed
    begun: bool  # libcurl had a connection and began to send the request
    sent: bool  # at least a part of the request may have left
    answered: bool  # at least the first line of a response came
    flooded: bool  # more headers came than are allowed
    verdict: int  # OpenSSL's, on the certificate
    starved: bool = False  # there was no file descriptor for a socket


def may_try_next(facts: Facts) -> bool:
    """Whether no connection was made, so that the next address can be tried."""
    if facts.blocked or facts.starved or facts.begun:
        return False
    return facts.code in _NOT_CONNECTED or facts.code == pycurl.E_OPERATION_TIMEDOUT


def was_dead_already(facts: Facts) -> bool:
    """Whether a kept connection had ended before anything was sent on it.

    The request may then have a new connection to the same address.
    """
    return facts.code == pycurl.E_SEND_FAIL_REWIND and not facts.sent


def explain(facts: Facts) -> tuple[Outcome, Problem]:
    """The outcome and the problem that a customer sees."""
    if facts.blocked:
        return Outcome.BLOCKED_ADDRESS, BLOCKED
    if facts.starved and not facts.sent:
        return Outcome.CONNECT_FAILED, descriptors.NONE_LEFT
    if facts.code == pycurl.E_OPERATION_TIMEDOUT:
        return Outcome.TIMEOUT, _late(facts)
    if facts.code in _NOT_CONNECTED or not facts.connected:
        return Outcome.CONNECT_FAILED, Problem(
            "connection_refused", "No connection to the endpoint could be made."
        )
    if facts.code in _TLS or not facts.secured:
        return Outcome.TLS_ERROR, _tls(facts)
    return _no_whole_headers(facts)


def answered(status: int) -> tuple[Outcome, Problem | None]:
    """The outcome of a response whose headers are complete."""
    if 200 <= status < 300:  # noqa: PLR2004 - the classes of HTTP's status codes
        return Outcome.DELIVERED, None
    if 300 <= status < 400:  # noqa: PLR2004
        return Outcome.HTTP_ERROR, Problem(
            "redirect", f"The endpoint answered {status}; redirects are not followed."
        )
    if 400 <= status < 600:  # noqa: PLR2004
        return Outcome.HTTP_ERROR, Problem(
            "http_status", f"The endpoint answered {status}; only 2xx counts as delivered."
        )
    return Outcome.INVALID_RESPONSE, Problem(
        "status_unknown",
        f"The endpoint answered with the status {status}, which HTTP does not have.",
    )


BLOCKED: Final = Problem("blocked_address", "The URL leads to an address that may not be called.")


def _late(facts: Facts) -> Problem:
    if not facts.connected:
        return Problem("connect_timeout", "No connection to the endpoint was made in time.")
    if not facts.secured:
        return Problem("tls_timeout", "The endpoint did not finish the TLS handshake in time.")
    return Problem(
        "response_timeout", "The headers of the endpoint's response did not come in time."
    )


def _tls(facts: Facts) -> Problem:
    if facts.code != pycurl.E_PEER_FAILED_VERIFICATION:
        return Problem("tls_handshake_failed", "The TLS handshake with the endpoint failed.")
    return _CERTIFICATES.get(facts.verdict, _CERTIFICATES_OTHERS)


def _no_whole_headers(facts: Facts) -> tuple[Outcome, Problem]:
    """The outcome where a request was sent, and the headers of its response did not come whole."""
    if facts.flooded or facts.code == _TOO_LARGE:
        return Outcome.INVALID_RESPONSE, Problem(
            "headers_too_large", "The endpoint's response has more headers than are allowed."
        )
    if facts.code not in _CLOSED:
        return Outcome.INVALID_RESPONSE, Problem("not_http", "The endpoint's response is not HTTP.")
    if facts.answered:
        return Outcome.INVALID_RESPONSE, Problem(
            "headers_incomplete",
            "The endpoint closed the connection in the middle of its response's headers.",
        )
    return Outcome.CONNECTION_CLOSED, Problem(
        "connection_closed", "The endpoint closed the connection before it answered."
    )
