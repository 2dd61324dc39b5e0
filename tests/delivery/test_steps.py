"""The steps of a test delivery, percentiles, latency buckets, and id filters."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as some

from tradewind import ids
from tradewind.delivery.health import percentile
from tradewind.delivery.recorder import bucket
from tradewind.delivery.test_delivery import steps
from tradewind.delivery.wire import AttemptResponseOut
from tradewind.egress.result import AttemptResult, Outcome, Problem, Timings
from tradewind.errors import ValidationFailed
from tradewind.web.inputs import read_id

_HTTP, _HTTPS = "http://a.example.com/", "https://a.example.com/"
_WHOLE = Timings(0.001, 0.002, 0.03, 0.04, 0.05)
_PROBLEM = Problem("a_code", "What was wrong.")


@pytest.mark.parametrize(
    ("outcome", "url", "timings", "verdicts"),
    [
        (Outcome.DELIVERED, _HTTPS, _WHOLE, "dns+ connect+ tls+ http+"),
        (Outcome.DELIVERED, _HTTP, _WHOLE, "dns+ connect+ http+"),
        (Outcome.HTTP_ERROR, _HTTPS, _WHOLE, "dns+ connect+ tls+ http-"),
        (Outcome.CONNECTION_CLOSED, _HTTP, Timings(0.001, 0.002), "dns+ connect+ http-"),
        (Outcome.INVALID_RESPONSE, _HTTP, _WHOLE, "dns+ connect+ http-"),
        (Outcome.TLS_ERROR, _HTTPS, Timings(0.001, 0.002), "dns+ connect+ tls- http?"),
        (Outcome.CONNECT_FAILED, _HTTPS, Timings(0.001), "dns+ connect- tls? http?"),
        (Outcome.DNS_ERROR, _HTTPS, Timings(), "dns- connect? tls? http?"),
        (Outcome.BLOCKED_ADDRESS, _HTTPS, Timings(), "dns- connect? tls? http?"),
        (Outcome.TIMEOUT, _HTTPS, Timings(0.001), "dns+ connect- tls? http?"),
        (Outcome.TIMEOUT, _HTTPS, Timings(0.001, 0.002), "dns+ connect+ tls- http?"),
        (Outcome.TIMEOUT, _HTTP, Timings(0.001, 0.002), "dns+ connect+ http-"),
        (Outcome.TIMEOUT, _HTTPS, Timings(0.001, 0.002, 0.03), "dns+ connect+ tls+ http-"),
    ],
)
def test_each_step_tells_whether_it_went_well(
    outcome: Outcome, url: str, timings: Timings, verdicts: str
) -> None:
    problem = None if outcome is Outcome.DELIVERED else _PROBLEM

    result = steps(AttemptResult(outcome, problem=problem, timings=timings), url)

    signs = {True: "+", False: "-", None: "?"}
    assert " ".join(step.name + signs[step.ok] for step in result) == verdicts
    assert [step.note for step in result if step.ok is False] == ["What was wrong."] * (
        outcome is not Outcome.DELIVERED
    )
    assert {step.took_ms for step in result if step.name == "connect"} <= {2, None}


def test_the_last_steps_say_when_the_certificate_ends_and_what_was_answered() -> None:
    ends = datetime.now(UTC) + timedelta(days=64, hours=1)
    result = AttemptResult(Outcome.DELIVERED, 204, timings=_WHOLE, certificate_ends=ends)

    notes = {step.name: step.note for step in steps(result, _HTTPS)}

    assert notes == {
        "dns": None,
        "connect": None,
        "tls": "The certificate ends in 64 days.",
        "http": "The endpoint answered 204.",
    }


@pytest.mark.parametrize(
    ("duration", "place"),
    [(0, 0), (1, 1), (2, 2), (3, 2), (4, 3), (1023, 10), (1024, 11), (10_000, 14), (10**9, 14)],
)
def test_a_duration_falls_into_the_bucket_of_its_power_of_two(duration: int, place: int) -> None:
    assert bucket(duration) == place


@pytest.mark.parametrize(
    ("buckets", "share", "bound"),
    [
        ([], 0.5, None),
        ([0, 0, 0], 0.99, None),
        ([1], 0.5, 1),
        ([0, 0, 4], 0.5, 4),
        ([0, 50, 50], 0.5, 2),
        ([0, 49, 51], 0.5, 4),
        ([0, 99, 1], 0.99, 2),
        ([0, 98, 2], 0.99, 4),
        ([99, 0, 0, 1], 0.999, 8),
    ],
)
def test_a_percentile_is_the_bound_of_its_bucket(
    buckets: Sequence[int], share: float, bound: int | None
) -> None:
    assert percentile(buckets, share) == bound


@given(some.lists(some.integers(0, 10_000), min_size=1, max_size=200))
def test_a_percentile_is_never_below_what_it_bounds(durations: list[int]) -> None:
    buckets = [0] * 15
    for duration in durations:
        buckets[bucket(duration)] += 1
    for share in (0.5, 0.99):
        result = percentile(buckets, share)
        assert result is not None
        within = sum(duration < result for duration in durations)
        assert within >= share * len(durations)


def test_an_id_to_filter_by_is_read_or_refused_and_never_ignored() -> None:
    order_id = ids.new()

    assert read_id(ids.ORDER, "?order", None) is None
    assert read_id(ids.ORDER, "?order", ids.ORDER.show(order_id)) == order_id
    with pytest.raises(ValidationFailed):
        read_id(ids.ORDER, "?order", "ORD8ZZZZZZZZZZZZZZZZZZZZZZZZZ")


def test_an_answer_is_shown_with_its_headers_and_whatever_its_body_is() -> None:
    head = b"HTTP/1.1 200 OK\r\nA: 1\r\nset-cookie: x=1\r\nset-cookie: y=2\r\n\r\n"

    shown = AttemptResponseOut.of(200, head, b"caf\xe9")

    assert shown is not None
    assert [(header.name, header.value) for header in shown.headers] == [
        ("A", "1"), ("set-cookie", "x=1"), ("set-cookie", "y=2"),
    ]  # fmt: skip
    assert shown.body == "caf\N{REPLACEMENT CHARACTER}"
    assert AttemptResponseOut.of(None, None, None) is None
