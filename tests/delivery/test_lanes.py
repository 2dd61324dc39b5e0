"""Lanes: their concurrency limit, and how due deliveries are shared between them."""

from collections.abc import Mapping, Sequence
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from tradewind.delivery.lanes import (
    FAILURES_BEFORE_REST,
    FIRST,
    MOST,
    NEAR,
    REST_SECONDS,
    EngineLimits,
    Lane,
    gather_seconds,
    pause_after_claim,
    share_out,
)
from tradewind.egress.result import Outcome

_FAILURES = [item for item in Outcome if item not in (Outcome.DELIVERED, Outcome.CANCELLED)]


def free(lane: Lane) -> int:
    """How many more attempts it may begin."""
    return max(0, lane.width - lane.in_flight)


def answered(lane: Lane, took_ms: float = 50, *, began: float = 0.0) -> None:
    lane.learn(Outcome.DELIVERED, 200, took_ms, began=began, now=began + took_ms / 1000)


def failed(
    lane: Lane, outcome: Outcome = Outcome.CONNECT_FAILED, status: int | None = None, *, at: float
) -> None:
    lane.learn(outcome, status, 5, began=at, now=at + 0.005)


def test_a_lane_doubles_in_a_round_until_the_first_trouble() -> None:
    lane = Lane()
    width = int(FIRST)
    while width < MOST:
        assert lane.width == width
        for _ in range(width):
            answered(lane)
        width *= 2
    assert lane.width == MOST


def test_after_trouble_a_lane_doubles_to_where_it_began_and_then_grows_by_one_a_round() -> None:
    lane = Lane(limit=64.0)
    failed(lane, at=1.0)
    assert lane.width == 32
    for _ in range(32):
        answered(lane, began=2.0)
    assert lane.width == 64
    for _ in range(64):
        answered(lane, began=3.0)
    assert lane.width in (64, 65)
    assert lane.limit == pytest.approx(65, abs=0.1)


@pytest.mark.parametrize(
    ("outcome", "status", "factor"),
    [
        (Outcome.TIMEOUT, None, 0.25),
        (Outcome.CONNECT_FAILED, None, 0.5),
        (Outcome.DNS_ERROR, None, 0.5),
        (Outcome.TLS_ERROR, None, 0.5),
        (Outcome.BLOCKED_ADDRESS, None, 0.5),
        (Outcome.CONNECTION_CLOSED, None, 0.5),
        (Outcome.INVALID_RESPONSE, None, 0.5),
        (Outcome.HTTP_ERROR, 500, 0.5),
        (Outcome.HTTP_ERROR, 503, 0.5),
        (Outcome.HTTP_ERROR, 429, 0.5),
        # They say nothing bad about how much the receiver can bear.
        (Outcome.HTTP_ERROR, 301, 1),
        (Outcome.HTTP_ERROR, 400, 1),
        (Outcome.HTTP_ERROR, 404, 1),
        (Outcome.HTTP_ERROR, 410, 1),
        (Outcome.HTTP_ERROR, 499, 1),
    ],
)
def test_trouble_narrows_a_lane(outcome: Outcome, status: int | None, factor: float) -> None:
    lane = Lane(limit=64.0)

    failed(lane, outcome, status, at=1.0)

    assert lane.limit == 64.0 * factor
    assert lane.failing


def test_all_that_was_sent_before_narrows_a_lane_once() -> None:
    lane = Lane(limit=64.0)
    for _ in range(64):
        failed(lane, at=1.0)
    assert lane.width == 32
    failed(lane, at=2.0)
    assert lane.width == 16


def test_a_lane_is_never_narrower_than_one_nor_wider_than_the_most() -> None:
    lane = Lane()
    for moment in range(20):
        failed(lane, Outcome.TIMEOUT, at=float(moment))
    assert (lane.width, free(lane), lane.limit) == (1, 1, 1.0)
    lane = Lane()
    for _ in range(10_000):
        answered(lane)
    assert lane.limit == MOST


@pytest.mark.parametrize(("took", "width"), [(1000, 17), (1001, 16), (3000, 16), (3001, 11)])
def test_a_receiver_that_is_slow_to_answer_gets_no_wider_lane(took: float, width: int) -> None:
    lane = Lane()
    answered(lane, took, began=1.0)
    assert lane.width == width
    assert not lane.failing


def test_one_success_ends_the_failing() -> None:
    lane = Lane()
    failed(lane, at=1.0)
    assert lane.failing
    answered(lane, began=2.0)
    assert not lane.failing


_HEARD = some.tuples(
    some.sampled_from([*_FAILURES, *[Outcome.DELIVERED] * 8]),
    some.sampled_from([None, 200, 302, 404, 429, 500]),
    some.floats(0, 20_000),
    some.floats(0, 10),
)


@given(some.lists(_HEARD, max_size=200))
def test_whatever_is_heard_a_lane_stays_within_its_bounds(
    heard: Sequence[tuple[Outcome, int | None, float, float]],
) -> None:
    lane = Lane()
    now = 0.0
    for outcome, status, took, pause in heard:
        now += pause
        before = lane.limit
        lane.learn(outcome, status, took, began=now, now=now + took / 1000)
        assert 1 <= lane.limit <= MOST
        assert lane.limit <= before + 1
    assert lane.width >= 1


def lanes_of(*lanes: Lane) -> dict[UUID, Lane]:
    return {UUID(int=number): lane for number, lane in enumerate(lanes)}


def shares_of(lanes: Mapping[UUID, Lane], bounds: EngineLimits) -> dict[UUID, int]:
    """What each gets that gets anything, if all want as much as they may have."""
    shares, _ = share_out(lanes.values(), lanes.values(), bounds)
    return {item: shares[lane] for item, lane in lanes.items() if lane in shares}


def shared(*lanes: Lane, total: int = 1000, host: int = 256, failing: int = 500) -> list[int]:
    result = lanes_of(*lanes)
    shares = shares_of(result, EngineLimits(total, host, failing=failing))
    return [shares.get(item, 0) for item in result]


def lane(
    limit: float = FIRST, in_flight: int = 0, host: str = "", *, failing: bool = False
) -> Lane:
    return Lane(limit, in_flight, host, failing=failing)


@pytest.mark.parametrize(
    ("lanes", "bounds", "shares"),
    [
        ([], {}, []),
        ([lane()], {}, [16]),
        ([lane(in_flight=10)], {}, [6]),
        ([lane(in_flight=16)], {}, [0]),
        ([lane(limit=4.0, in_flight=16)], {}, [0]),
        ([lane(), lane(1.0), lane(128.0)], {}, [16, 1, 128]),
        # Everyone gets one before anyone gets two.
        ([lane(128.0), lane(), lane(1.0)], {"total": 3}, [1, 1, 1]),
        ([lane(128.0), lane(), lane(1.0)], {"total": 7}, [3, 3, 1]),
        ([lane(128.0), lane(), lane(1.0)], {"total": 2}, [1, 1, 0]),
        ([lane(128.0, 10), lane()], {"total": 10}, [0, 0]),
        # Who has least under way comes first.
        ([lane(128.0, 9), lane()], {"total": 10}, [0, 1]),
        # One host behind many subscriptions.
        ([lane(host="a"), lane(host="a"), lane(host="b")], {"host": 10}, [5, 5, 10]),
        ([lane(128.0, 3, host="a"), lane(host="a")], {"host": 4}, [0, 1]),
        ([lane(128.0, 4, host="a"), lane(host="a"), lane(host="b")], {"host": 4}, [0, 0, 4]),
        # Those that fail leave room for those that do not.
        ([lane(failing=True), lane(failing=True), lane()], {"failing": 6}, [3, 3, 16]),
        ([lane(128.0, 6, failing=True), lane(failing=True), lane()], {"failing": 6}, [0, 0, 16]),
    ],
)
def test_what_is_due_is_shared_out(
    lanes: Sequence[Lane], bounds: dict[str, int], shares: list[int]
) -> None:
    assert shared(*lanes, **bounds) == shares


def test_one_account_takes_no_more_than_its_part_however_many_lanes_it_has() -> None:
    greedy = {UUID(int=n): Lane(256.0, 0, f"host {n}", UUID(int=900)) for n in range(1, 21)}
    modest = {UUID(int=99): Lane(16.0, 0, "another", UUID(int=901))}
    lanes = greedy | modest

    shares = shares_of(lanes, EngineLimits())

    assert sum(shares.get(item, 0) for item in greedy) == EngineLimits().account
    assert shares[UUID(int=99)] == 16


def test_those_who_have_nothing_due_get_nothing_and_still_count() -> None:
    busy, idle = lane(in_flight=8, host="a"), lane(host="a")

    assert share_out([idle], [busy, idle], EngineLimits(total=10)) == ({idle: 2}, True)
    assert share_out([idle], [busy, idle], EngineLimits(host=9)) == ({idle: 1}, True)


@pytest.mark.parametrize(
    ("due", "busy", "bounds", "waits"),
    [
        ([], [lane(in_flight=10)], EngineLimits(total=10), False),
        ([lane()], [], EngineLimits(), False),
        ([lane(in_flight=16)], [], EngineLimits(total=16), False),  # its own limit
        ([lane(), lane()], [], EngineLimits(total=31), True),
        ([lane()], [lane(in_flight=10)], EngineLimits(total=10), True),
        ([lane(host="a")], [lane(in_flight=250, host="a")], EngineLimits(), True),
        ([lane(host="a")], [lane(in_flight=250, host="b")], EngineLimits(), False),
        ([lane(failing=True)], [lane(in_flight=490, failing=True)], EngineLimits(), True),
    ],
)
def test_a_lane_that_gets_less_than_it_wants_waits_for_room_of_others(
    due: Sequence[Lane], busy: Sequence[Lane], bounds: EngineLimits, waits: bool
) -> None:
    _, result = share_out(due, [*due, *busy], bounds)

    assert result == waits


_LANES = some.lists(
    some.builds(
        lane,
        some.floats(1, MOST),
        some.integers(0, 40),
        some.sampled_from(["", "a", "b", "c"]),
        failing=some.booleans(),
    ),
    max_size=40,
)
_BOUNDS = some.builds(
    EngineLimits,
    total=some.integers(1, 300),
    host=some.integers(1, 100),
    failing=some.integers(1, 100),
)


@settings(max_examples=300)
@given(_LANES, _BOUNDS)
def test_no_share_exceeds_a_width_or_a_bound_and_nothing_is_left_lying(
    lanes: Sequence[Lane], bounds: EngineLimits
) -> None:
    result = lanes_of(*lanes)
    shares = shares_of(result, bounds)
    hosts = {lane.host for lane in lanes if lane.host}

    def total(chosen: Sequence[UUID]) -> int:
        return sum(result[item].in_flight + shares.get(item, 0) for item in chosen)

    assert all(0 < share <= free(result[item]) for item, share in shares.items())
    everyone = [item for item in result if item in shares or result[item].in_flight]
    # What is under way already may exceed a bound that has become smaller; nothing is added then.
    by_host = {
        host: [person for person in everyone if result[person].host == host] for host in hosts
    }
    failing = [person for person in everyone if result[person].failing]
    for chosen, most in [
        (everyone, bounds.total),
        (failing, bounds.failing),
        *((ones, bounds.host) for ones in by_host.values()),
    ]:
        assert total(chosen) <= most or not any(item in shares for item in chosen)
    for item, its in result.items():
        full = shares.get(item, 0) == free(its)
        blocked = (
            total(everyone) >= bounds.total
            or (its.host and total(by_host[its.host]) >= bounds.host)
            or (its.failing and total(failing) >= bounds.failing)
        )
        assert full or blocked


@settings(max_examples=300)
@given(_LANES, _BOUNDS)
def test_everyone_gets_one_before_anyone_with_whom_they_compete_gets_two(
    lanes: Sequence[Lane], bounds: EngineLimits
) -> None:
    result = lanes_of(*lanes)
    shares = shares_of(result, bounds)
    starved = [item for item, its in result.items() if free(its) and item not in shares]

    for item in starved:
        its = result[item]
        for other, share in shares.items():
            same_host = its.host and result[other].host == its.host
            both_failing = its.failing and result[other].failing
            if share > 1 and (same_host or both_failing):
                # It got more than one of what the starved one lacked: only if that was not it.
                host_full = its.host and _taken(result, shares, its.host) >= bounds.host
                fail_full = its.failing and _failing(result, shares) >= bounds.failing
                assert not (same_host and host_full and not (fail_full and not both_failing))
                assert not (both_failing and fail_full and not (host_full and not same_host))


def _taken(found: dict[UUID, Lane], shares: dict[UUID, int], host: str) -> int:
    return sum(
        its.in_flight + shares.get(item, 0) for item, its in found.items() if its.host == host
    )


def _failing(found: dict[UUID, Lane], shares: dict[UUID, int]) -> int:
    return sum(its.in_flight + shares.get(item, 0) for item, its in found.items() if its.failing)


def test_one_that_answers_at_once_is_claimed_for_ahead() -> None:
    lane = Lane(limit=10.0)
    assert lane.wanted(1000) == 10

    answered(lane, 20)
    assert (lane.width, lane.wanted(1000)) == (11, 44)
    lane.in_flight, lane.waiting = 11, 17
    assert lane.wanted(1000) == 0
    lane.waiting = 16
    assert lane.wanted(1000) == 17

    answered(lane, 200)
    assert lane.wanted(1000) == 0


def test_one_of_many_is_claimed_for_when_most_of_its_share_is_used_up() -> None:
    lane = Lane(limit=16.0)
    answered(lane, 20)

    lane.waiting = 2
    assert lane.wanted(4) == 0
    lane.waiting = 1
    assert lane.wanted(4) == 67
    lane.waiting = 0
    assert lane.wanted(1) == 68


def test_one_that_fails_at_once_is_claimed_for_a_little_ahead() -> None:
    lane = Lane(limit=1.0)

    failed(lane, at=1.0)

    assert lane.wanted(1000) == 17
    lane.waiting = 9
    assert lane.wanted(1000) == 0
    lane.waiting = 8
    assert lane.wanted(1000) == 9


def test_a_lane_of_one_rests_after_several_failures_as_long_as_for_each_of_them() -> None:
    lane = Lane(limit=1.0)

    for _ in range(FAILURES_BEFORE_REST - 1):
        failed(lane, at=1.0)
        answered(lane, 200)
        lane.limit = 1.0
    assert lane.rests_until < 1.0

    failed(lane, at=1.0)
    assert lane.rests_until == pytest.approx(1.005 + REST_SECONDS)
    failed(lane, at=2.0)
    assert lane.rests_until < 2.0


def test_a_wide_lane_does_not_rest() -> None:
    lane = Lane(limit=1024.0)

    for number in range(FAILURES_BEFORE_REST):
        failed(lane, at=float(number))

    assert lane.rests_until < 0


def test_one_that_is_near_gets_no_more_than_it_can_need() -> None:
    lane = Lane()
    for _ in range(300):
        answered(lane, 5)
    assert lane.width == NEAR

    for _ in range(300):
        answered(lane, 50)
    assert lane.width == MOST
    answered(lane, 5)
    assert lane.width == MOST


def test_a_claim_waits_for_more_room_only_while_every_lane_has_something() -> None:
    backlog, empty = Lane(waiting=384), Lane()

    def seconds(waiting: int, *lanes: Lane) -> float:
        return gather_seconds(waiting, dict.fromkeys(lanes, 100), 1)

    assert seconds(2000, backlog) == seconds(1024, backlog) > 0
    assert seconds(600, backlog) < seconds(1024, backlog)
    assert seconds(500, backlog) == 0
    assert seconds(2000, backlog, empty) == 0


def test_a_claim_of_a_few_waits_after_a_larger_one_unless_a_lane_has_nothing_claimed() -> None:
    busy, empty = Lane(in_flight=9), Lane()

    assert gather_seconds(0, {busy: 3}, 17) > 0
    assert gather_seconds(0, {busy: 3}, 16) == 0
    assert gather_seconds(0, {busy: 64}, 17) == 0
    assert gather_seconds(0, {busy: 3, empty: 1}, 17) == 0


def test_the_next_look_waits_while_much_comes_and_hardly_where_little_does() -> None:
    assert pause_after_claim(0.002, 1) == 0.002
    assert pause_after_claim(0.002, 3) == 0.006
    assert pause_after_claim(0.002, 9) == 0.008
    assert pause_after_claim(0.0001, 100) == pytest.approx(0.0004)
    assert pause_after_claim(1.0, 100) == 0.01
    assert pause_after_claim(0.002, 0) == 0
