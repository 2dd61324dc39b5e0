"""Every libcurl error maps to an outcome."""

import pycurl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tradewind.egress.failures import Facts, answered, explain, may_try_next, was_dead_already
from tradewind.egress.result import Outcome

FACTS = st.builds(
    Facts,
    st.integers(0, 105),
    blocked=st.booleans(),
    connected=st.booleans(),
    secured=st.booleans(),
    begun=st.booleans(),
    sent=st.booleans(),
    answered=st.booleans(),
    flooded=st.booleans(),
    verdict=st.integers(0, 100),
)


def facts(
    code: int,
    *,
    blocked: bool = False,
    connected: bool = True,
    begun: bool = False,
    sent: bool = False,
    answered: bool = False,
) -> Facts:
    return Facts(
        code,
        blocked=blocked,
        connected=connected,
        secured=begun,
        begun=begun,
        sent=sent,
        answered=answered,
        flooded=False,
        verdict=0,
    )


@pytest.mark.parametrize(
    ("known", "again"),
    [
        (facts(pycurl.E_COULDNT_CONNECT, connected=False), True),
        (facts(pycurl.E_OPERATION_TIMEDOUT, connected=False), True),
        (facts(pycurl.E_OPERATION_TIMEDOUT), True),
        (facts(pycurl.E_COULDNT_CONNECT, begun=True), False),
        (facts(pycurl.E_OPERATION_TIMEDOUT, begun=True), False),
        (facts(pycurl.E_COULDNT_CONNECT, blocked=True), False),
        (facts(pycurl.E_PEER_FAILED_VERIFICATION), False),
        (facts(pycurl.E_SSL_CONNECT_ERROR), False),
        (facts(pycurl.E_RECV_ERROR, begun=True, sent=True), False),
        (facts(pycurl.E_SEND_FAIL_REWIND, begun=True), False),
    ],
)
def test_another_address_is_tried_only_while_no_request_was_begun(
    known: Facts, again: bool
) -> None:
    assert may_try_next(known) is again


@pytest.mark.parametrize(
    ("known", "dead"),
    [
        (facts(pycurl.E_SEND_FAIL_REWIND, begun=True), True),
        (facts(pycurl.E_SEND_FAIL_REWIND, begun=True, sent=True), False),
        (facts(pycurl.E_SEND_ERROR, begun=True), False),
        (facts(pycurl.E_COULDNT_CONNECT), False),
    ],
)
def test_a_new_connection_is_made_only_where_a_kept_one_took_nothing(
    known: Facts, dead: bool
) -> None:
    assert was_dead_already(known) is dead


@pytest.mark.parametrize(
    ("code", "answered", "outcome", "problem"),
    [
        (pycurl.E_GOT_NOTHING, False, Outcome.CONNECTION_CLOSED, "connection_closed"),
        (pycurl.E_RECV_ERROR, False, Outcome.CONNECTION_CLOSED, "connection_closed"),
        (pycurl.E_SEND_ERROR, False, Outcome.CONNECTION_CLOSED, "connection_closed"),
        (pycurl.E_SEND_FAIL_REWIND, False, Outcome.CONNECTION_CLOSED, "connection_closed"),
        (pycurl.E_OK, True, Outcome.INVALID_RESPONSE, "headers_incomplete"),
        (pycurl.E_RECV_ERROR, True, Outcome.INVALID_RESPONSE, "headers_incomplete"),
    ],
)
def test_a_connection_that_ended_unanswered_is_told_from_one_that_broke_off(
    code: int, answered: bool, outcome: Outcome, problem: str
) -> None:
    result = explain(facts(code, begun=True, sent=True, answered=answered))

    assert (result[0], result[1].code) == (outcome, problem)


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
