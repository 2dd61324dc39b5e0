"""libcurl's errors become outcomes: every one of them, whatever was known at the time."""

import pycurl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tradewind.egress.failures import Facts, answered, explain, may_try_next
from tradewind.egress.result import Outcome

FACTS = st.builds(
    Facts,
    st.integers(0, 105),
    blocked=st.booleans(),
    connected=st.booleans(),
    secured=st.booleans(),
    sent=st.booleans(),
    flooded=st.booleans(),
    verdict=st.integers(0, 100),
)


def facts(code: int, *, blocked: bool = False, connected: bool = True, sent: bool = False) -> Facts:
    return Facts(
        code,
        blocked=blocked,
        connected=connected,
        secured=sent,
        sent=sent,
        flooded=False,
        verdict=0,
    )


@pytest.mark.parametrize(
    ("known", "again"),
    [
        (facts(pycurl.E_COULDNT_CONNECT, connected=False), True),
        (facts(pycurl.E_OPERATION_TIMEDOUT, connected=False), True),
        (facts(pycurl.E_OPERATION_TIMEDOUT), True),
        (facts(pycurl.E_COULDNT_CONNECT, sent=True), False),
        (facts(pycurl.E_OPERATION_TIMEDOUT, sent=True), False),
        (facts(pycurl.E_COULDNT_CONNECT, blocked=True), False),
        (facts(pycurl.E_PEER_FAILED_VERIFICATION), False),
        (facts(pycurl.E_SSL_CONNECT_ERROR), False),
        (facts(pycurl.E_RECV_ERROR, sent=True), False),
    ],
)
def test_another_address_is_tried_only_while_nothing_was_sent(known: Facts, again: bool) -> None:
    assert may_try_next(known) is again


@settings(deadline=None)
@given(FACTS)
def test_every_failure_has_an_outcome_and_a_sentence(known: Facts) -> None:
    outcome, problem = explain(known)

    assert outcome not in {Outcome.DELIVERED, Outcome.HTTP_ERROR, Outcome.DNS_ERROR}
    assert (outcome is Outcome.BLOCKED_ADDRESS) is known.blocked
    assert problem.message.endswith(".")
    assert "curl" not in problem.message.lower()


@settings(deadline=None)
@given(st.integers(0, 999))
def test_only_2xx_is_delivered(status: int) -> None:
    outcome, problem = answered(status)

    assert (outcome is Outcome.DELIVERED) is (200 <= status <= 299)
    assert (outcome is Outcome.HTTP_ERROR) is (300 <= status <= 599)
    assert (problem is None) is (outcome is Outcome.DELIVERED)
