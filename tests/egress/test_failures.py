"""Every failure maps to an outcome and a sentence."""

import errno
import ssl

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tradewind.egress import failures
from tradewind.egress.connect import ConnectFailed
from tradewind.egress.failures import SendFailure
from tradewind.egress.result import Outcome

FAILURES = [value for value in vars(failures).values() if isinstance(value, SendFailure)]


def refused_certificate(verdict: int) -> ssl.SSLCertVerificationError:
    error = ssl.SSLCertVerificationError("certificate verify failed")
    error.verify_code = verdict
    return error


@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: failure.problem.code)
def test_every_failure_has_an_outcome_and_a_sentence(failure: SendFailure) -> None:
    assert failure.outcome not in {Outcome.DELIVERED, Outcome.HTTP_ERROR, Outcome.DNS_ERROR}
    assert failure.problem.message.endswith(".")


@pytest.mark.parametrize(
    ("failure", "again"),
    [
        (failures.NOT_CONNECTED, True),
        (failures.CONNECT_TIMEOUT, True),
        (failures.TLS_TIMEOUT, True),
        (failures.BLOCKED, False),
        (failures.of_connect(OSError(errno.EMFILE, "")), False),
        (failures.of_handshake(refused_certificate(10)), False),
        (failures.of_handshake(ConnectionResetError()), False),
    ],
)
def test_another_address_is_tried_only_if_none_was_connected_to(
    failure: SendFailure, again: bool
) -> None:
    assert ConnectFailed(failure).may_try_next is again


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM])
def test_what_this_process_lacks_is_not_the_endpoints_failure(number: int) -> None:
    for failure in (
        failures.of_connect(OSError(number, "")),
        failures.of_handshake(OSError(number, "")),
    ):
        assert (failure.outcome, failure.problem.code) == (
            Outcome.CONNECT_FAILED,
            "out_of_descriptors",
        )
        assert failure.problem.is_ours


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (refused_certificate(9), "certificate_not_yet_valid"),
        (refused_certificate(10), "certificate_expired"),
        (refused_certificate(18), "certificate_self_signed"),
        (refused_certificate(19), "certificate_unknown_issuer"),
        (refused_certificate(20), "certificate_unknown_issuer"),
        (refused_certificate(62), "certificate_wrong_name"),
        (refused_certificate(64), "certificate_wrong_name"),
        (refused_certificate(23), "certificate_refused"),
        (ssl.SSLError("wrong version number"), "tls_handshake_failed"),
        (ConnectionResetError(), "tls_handshake_failed"),
    ],
)
def test_a_handshake_that_fails_says_why(error: OSError, code: str) -> None:
    failure = failures.of_handshake(error)

    assert (failure.outcome, failure.problem.code) == (Outcome.TLS_ERROR, code)


@settings(deadline=None)
@given(st.integers(0, 999))
def test_only_2xx_is_delivered(status: int) -> None:
    outcome, problem = failures.answered(status)

    assert (outcome is Outcome.DELIVERED) is (200 <= status <= 299)
    assert (outcome is Outcome.HTTP_ERROR) is (300 <= status <= 599)
    assert (problem is None) is (outcome is Outcome.DELIVERED)
