"""Why a call failed: an outcome, a code and a sentence that leaks nothing."""

import ssl
from typing import Final, NamedTuple

from tradewind.egress import descriptors
from tradewind.egress.result import Outcome, Problem


class SendFailure(NamedTuple):
    """The outcome and the problem that a customer sees."""

    outcome: Outcome
    problem: Problem


BLOCKED: Final = SendFailure(
    Outcome.BLOCKED_ADDRESS,
    Problem("blocked_address", "The URL leads to an address that may not be called."),
)
OURS: Final = SendFailure(
    Outcome.CONNECT_FAILED, Problem("failed_here", "The call failed on our side.", is_ours=True)
)
NOT_CONNECTED: Final = SendFailure(
    Outcome.CONNECT_FAILED,
    Problem("connection_refused", "No connection to the endpoint could be made."),
)
CONNECT_TIMEOUT: Final = SendFailure(
    Outcome.TIMEOUT,
    Problem("connect_timeout", "No connection to the endpoint was made in time."),
)
TLS_TIMEOUT: Final = SendFailure(
    Outcome.TIMEOUT,
    Problem("tls_timeout", "The endpoint did not finish the TLS handshake in time."),
)
RESPONSE_TIMEOUT: Final = SendFailure(
    Outcome.TIMEOUT,
    Problem("response_timeout", "The headers of the endpoint's response did not come in time."),
)
CLOSED: Final = SendFailure(
    Outcome.CONNECTION_CLOSED,
    Problem("connection_closed", "The endpoint closed the connection before it answered."),
)
HEADERS_INCOMPLETE: Final = SendFailure(
    Outcome.INVALID_RESPONSE,
    Problem(
        "headers_incomplete",
        "The endpoint closed the connection in the middle of its response's headers.",
    ),
)
HEADERS_TOO_LARGE: Final = SendFailure(
    Outcome.INVALID_RESPONSE,
    Problem("headers_too_large", "The endpoint's response has more headers than are allowed."),
)
NOT_HTTP: Final = SendFailure(
    Outcome.INVALID_RESPONSE, Problem("not_http", "The endpoint's response is not HTTP.")
)
_HANDSHAKE: Final = SendFailure(
    Outcome.TLS_ERROR,
    Problem("tls_handshake_failed", "The TLS handshake with the endpoint failed."),
)
_STARVED: Final = SendFailure(Outcome.CONNECT_FAILED, descriptors.NONE_LEFT)

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
        (62, 64),
        Problem("certificate_wrong_name", "The endpoint's certificate is for another name."),
    ),
}
_CERTIFICATES_OTHERS: Final = Problem("certificate_refused", "The endpoint's certificate is wrong.")


def of_connect(error: OSError) -> SendFailure:
    """Why there is no connection: the fault is ours if this process has no descriptor left."""
    return _STARVED if descriptors.says_so(error) else NOT_CONNECTED


def of_handshake(error: OSError) -> SendFailure:
    """Why a TLS handshake failed; an `ssl.SSLError` is an OSError, and so is a reset."""
    if isinstance(error, ssl.SSLCertVerificationError):
        problem = _CERTIFICATES.get(error.verify_code, _CERTIFICATES_OTHERS)
        return SendFailure(Outcome.TLS_ERROR, problem)
    return _STARVED if descriptors.says_so(error) else _HANDSHAKE


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
