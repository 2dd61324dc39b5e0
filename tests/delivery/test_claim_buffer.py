"""The claim buffer: which subscription is next, and what is given back."""

from collections import Counter
from uuid import UUID

from tradewind import ids
from tradewind.delivery.claim_buffer import ClaimBuffer
from tradewind.delivery.host_limits import FIRST, HostLimits
from tradewind.delivery.lanes import EngineLimits, Lane, Usage
from tradewind.delivery.model import ClaimedDelivery

ONE, OTHER, THIRD = UUID(int=1), UUID(int=2), UUID(int=3)


def claimed(subscription: UUID, number: int, at: float = 0.0) -> list[ClaimedDelivery]:
    return [
        ClaimedDelivery(
            at, ids.new(), UUID(int=9), subscription, 1, ids.new(), "order.updated", b"", 1,
            ids.new(), None, 0.0,
        )
        for _ in range(number)
    ]  # fmt: skip


def used_by(*lanes: Lane) -> Usage:
    usage = Usage()
    for lane in lanes:
        usage.add(lane, lane.in_flight)
    return usage


def test_each_gets_its_turn_in_the_order_of_its_claims_as_far_as_its_lane_is_wide() -> None:
    lanes = {ONE: Lane(limit=2.0), OTHER: Lane(limit=4.0, in_flight=3)}
    buffer = ClaimBuffer(lanes)
    first, second = claimed(ONE, 3), claimed(OTHER, 2)
    buffer.add(first)
    buffer.add(second)

    taken = buffer.take(EngineLimits(), used_by(lanes[OTHER]), HostLimits(), 1.0)[0]

    assert sorted(taken, key=lambda shown: shown.id) == [*first[:2], second[0]]
    assert (lanes[ONE].waiting, lanes[OTHER].waiting) == (1, 1)
    assert list(buffer.lanes) == list(lanes.values())


def test_what_is_under_way_elsewhere_counts_for_a_host() -> None:
    lanes = {ONE: Lane(host="same"), OTHER: Lane(host="same", in_flight=9)}
    buffer = ClaimBuffer(lanes)
    buffer.add(claimed(ONE, 5))

    assert len(buffer.take(EngineLimits(host=10), used_by(lanes[OTHER]), HostLimits(), 1.0)[0]) == 1
    assert lanes[ONE].waiting == 4


def test_what_was_taken_in_vain_is_put_back_in_front() -> None:
    lanes = {ONE: Lane(limit=2.0)}
    buffer = ClaimBuffer(lanes)
    claims = claimed(ONE, 3)
    buffer.add(claims)

    taken, _ = buffer.take(EngineLimits(), Usage(), HostLimits(), 1.0)
    buffer.put_back(taken)

    assert lanes[ONE].waiting == 3
    assert buffer.take(EngineLimits(), Usage(), HostLimits(), 1.0)[0] == claims[:2]


def test_a_lane_that_rests_waits_and_nobody_else_does() -> None:
    lanes = {ONE: Lane(limit=1.0, rests_until=10.1), OTHER: Lane(), THIRD: Lane(rests_until=10.2)}
    buffer = ClaimBuffer(lanes)
    for key in lanes:
        buffer.add(claimed(key, 1))

    taken, rests_until = buffer.take(EngineLimits(), Usage(), HostLimits(), 10.0)
    assert [delivery.subscription_id for delivery in taken] == [OTHER]
    assert rests_until == 10.1
    taken, rests_until = buffer.take(EngineLimits(), Usage(), HostLimits(), 10.1)
    assert [delivery.subscription_id for delivery in taken] == [ONE]
    assert rests_until == 10.2
    taken, rests_until = buffer.take(EngineLimits(), Usage(), HostLimits(), 10.2)
    assert [delivery.subscription_id for delivery in taken] == [THIRD]
    assert rests_until is None
    assert not buffer


def test_what_has_waited_too_long_comes_out_and_the_rest_stays() -> None:
    lanes = {ONE: Lane()}
    buffer = ClaimBuffer(lanes)
    old, new = claimed(ONE, 2, at=1.0), claimed(ONE, 1, at=5.0)
    buffer.add([*old, *new])

    assert buffer.take_older(5.0) == old
    assert lanes[ONE].waiting == 1
    assert buffer.take_older(float("inf")) == new
    assert not buffer
    assert lanes[ONE].waiting == 0


def test_a_host_that_nobody_knows_is_sent_a_few_at_once_however_many_lanes_lead_to_it() -> None:
    lanes = {UUID(int=n): Lane(host="same") for n in range(1000)}
    buffer, hosts = ClaimBuffer(lanes), HostLimits()
    for lane in lanes:
        buffer.add(claimed(lane, 1))

    taken, _ = buffer.take(EngineLimits(), Usage(), hosts, 1.0)
    assert len(taken) == FIRST

    for _ in taken:
        hosts.answered("same", 2.0)
    assert len(buffer.take(EngineLimits(), Usage(), hosts, 3.0)[0]) == 2 * FIRST
    assert len(buffer.take(EngineLimits(), Usage(), hosts, 60.0)[0]) == FIRST
    for _ in range(500):
        hosts.answered("same", 61.0)
    assert len(buffer.take(EngineLimits(), Usage(), hosts, 62.0)[0]) == EngineLimits().host


def test_lanes_of_one_host_take_turns() -> None:
    lanes = {UUID(int=n): Lane(host="same") for n in range(40)}
    buffer, hosts = ClaimBuffer(lanes), HostLimits()
    for subscription in lanes:
        buffer.add(claimed(subscription, 3))

    first = [item.subscription_id for item in buffer.take(EngineLimits(), Usage(), hosts, 1.0)[0]]
    second = [item.subscription_id for item in buffer.take(EngineLimits(), Usage(), hosts, 1.0)[0]]

    assert first == list(lanes)[:FIRST]
    assert second == [*list(lanes)[FIRST:], *list(lanes)[: 2 * FIRST - 40]]


def test_each_gets_one_before_any_gets_two_where_the_total_is_short() -> None:
    lanes = {UUID(int=n): Lane(host=f"host {n}") for n in range(5)}
    buffer = ClaimBuffer(lanes)
    for subscription in lanes:
        buffer.add(claimed(subscription, 3))

    taken, _ = buffer.take(EngineLimits(total=7), Usage(), HostLimits(), 1.0)

    assert sorted(Counter(item.subscription_id for item in taken).values()) == [1, 1, 1, 2, 2]


def test_a_lane_whose_url_changes_while_it_waits_is_not_forgotten() -> None:
    lanes = {ONE: Lane(host="old", limit=1.0)}
    buffer = ClaimBuffer(lanes)
    buffer.add(claimed(ONE, 2))
    lanes[ONE].host = "new"

    for _ in range(2):
        assert len(buffer.take(EngineLimits(), Usage(), HostLimits(), 1.0)[0]) == 1
    assert not buffer
