"""The retry policy: whether a delivery is still sent, when it is retried, and when it ends."""

from datetime import timedelta
from typing import Any

import pytest
from delivery.samples import a_claim, a_destination

from tradewind.delivery.model import CANCELLED_RESULTS, Cancelled
from tradewind.delivery.retry_policy import RetryPolicy, reason_not_to_send
from tradewind.delivery.sql import response
from tradewind.egress.result import AttemptResult, Outcome, Problem

_BOTH = frozenset({"order.updated", "payment.updated"})


@pytest.mark.parametrize(
    ("claim", "destination", "reason"),
    [
        ({}, {}, None),
        ({"event": "payment.updated"}, {"events": _BOTH}, None),
        ({}, None, Cancelled.DELETED),
        ({}, {"is_active": False}, Cancelled.SWITCHED_OFF),
        ({}, {"is_active": False, "generation": 8}, Cancelled.SWITCHED_OFF),
        # Switched off and on again: what was queued before is not wanted any more.
        ({}, {"generation": 8}, Cancelled.SWITCHED_OFF),
        ({"generation": 8}, {"generation": 8}, None),
        ({"event": "payment.updated"}, {}, Cancelled.NOT_WANTED),
        ({"event": None, "body": None}, {}, Cancelled.EXPIRED),
        ({"event": None, "body": None}, None, Cancelled.DELETED),
        ({"event": None, "body": None}, {"is_active": False}, Cancelled.SWITCHED_OFF),
        ({}, {"events": frozenset()}, Cancelled.NOT_WANTED),
    ],
)
def test_a_delivery_is_sent_unless_something_speaks_against_it(
    claim: dict[str, Any], destination: dict[str, Any] | None, reason: Cancelled | None
) -> None:
    result = None if destination is None else a_destination(**destination)

    assert reason_not_to_send(a_claim(**claim), result) is reason


def test_the_delays_are_those_of_the_contract() -> None:
    policy = RetryPolicy()

    assert policy.delays == (timedelta(seconds=60), timedelta(seconds=300))
    assert policy.attempts == 3


@pytest.mark.parametrize("attempt", [1, 2, 3])
@pytest.mark.parametrize("outcome", list(Outcome))
def test_a_delivery_is_over_when_it_arrived_was_cancelled_or_failed_three_times(
    outcome: Outcome, attempt: int
) -> None:
    over = outcome in (Outcome.DELIVERED, Outcome.CANCELLED) or attempt == 3

    assert RetryPolicy().is_over(attempt, outcome) is over


@pytest.mark.parametrize("reason", list(Cancelled))
def test_a_cancelled_delivery_says_why(reason: Cancelled) -> None:
    problem = CANCELLED_RESULTS[reason].problem

    assert problem is not None
    assert problem.code == reason.value
    assert problem.message.endswith(".")


def test_a_failed_attempt_says_why_and_a_delivered_one_says_nothing() -> None:
    problem = Problem("http_500", "The endpoint answered 500.")
    failed = response(a_claim(), AttemptResult(Outcome.HTTP_ERROR, problem=problem))
    delivered = response(a_claim(), AttemptResult(Outcome.DELIVERED, 200))

    assert failed[2:4] == ("http_500", "The endpoint answered 500.")
    assert delivered[2:4] == (None, None)
