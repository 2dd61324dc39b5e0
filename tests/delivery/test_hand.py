"""What was claimed and not begun: whose turn it is, and what is given back."""

from uuid import UUID

from tradewind import ids
from tradewind.delivery.claim_buffer import Hand
from tradewind.delivery.host_limits import FIRST, Hosts
from tradewind.delivery.lanes import REST_SECONDS, Bounds, Lane
from tradewind.delivery.model import Claim, Outcome

ONE, OTHER = UUID(int=1), UUID(int=2)
NOBODY: list[Lane] = []


def claimed(subscription: UUID, number: int) -> list[Claim]:
    return [
        Claim(
            ids.new(), UUID(int=9), subscription, 1, ids.new(), "order.updated", b"", 1,
            ids.new(), None, 0.0,
        )
        for _ in range(number)
    ]  # fmt: skip


def test_each_gets_its_turn_in_the_order_of_its_claims_as_far_as_its_lane_is_wide() -> None:
    lanes = {ONE: Lane(limit=2.0), OTHER: Lane(limit=4.0, in_flight=3)}
    hand = Hand(lanes)
    first, second = claimed(ONE, 3), claimed(OTHER, 2)
    hand.add(first, 0.0)
    hand.add(second, 0.0)

    taken = [held.claim for held in hand.take(Bounds(), [lanes[OTHER]], Hosts(), 1.0)]

    assert sorted(taken, key=lambda one: one.id) == [*first[:2], second[0]]
    assert (lanes[ONE].held, lanes[OTHER].held) == (1, 1)
    assert list(hand.lanes) == list(lanes.values())


def test_what_is_under_way_elsewhere_counts_for_a_host() -> None:
    lanes = {ONE: Lane(host="same"), OTHER: Lane(host="same", in_flight=9)}
    hand = Hand(lanes)
    hand.add(claimed(ONE, 5), 0.0)

    assert len(hand.take(Bounds(host=10), [lanes[OTHER]], Hosts(), 1.0)) == 1
    assert lanes[ONE].held == 4


def test_what_was_taken_in_vain_is_put_back_in_front() -> None:
    lanes = {ONE: Lane(limit=2.0)}
    hand = Hand(lanes)
    claims = claimed(ONE, 3)
    hand.add(claims, 0.0)

    taken = hand.take(Bounds(), NOBODY, Hosts(), 1.0)
    hand.put_back(taken)

    assert lanes[ONE].held == 3
    assert [held.claim for held in hand.take(Bounds(), NOBODY, Hosts(), 1.0)] == claims[:2]


def test_a_lane_that_rests_waits_and_nobody_else_does() -> None:
    lanes = {ONE: Lane(limit=1.0), OTHER: Lane()}
    hand = Hand(lanes)
    hand.add(claimed(ONE, 1), 0.0)
    hand.add(claimed(OTHER, 1), 0.0)
    lanes[ONE].heard(Outcome.DNS_ERROR, None, 1.0, began=9.0, now=10.0)

    assert [held.claim.subscription_id for held in hand.take(Bounds(), NOBODY, Hosts(), 10.0)] == [
        OTHER
    ]
    assert hand.rests(10.0)
    assert not hand.rests(10.0 + REST_SECONDS)
    assert len(hand.take(Bounds(), NOBODY, Hosts(), 10.0 + REST_SECONDS)) == 1
    assert not hand


def test_what_has_waited_too_long_comes_out_and_the_rest_stays() -> None:
    lanes = {ONE: Lane()}
    hand = Hand(lanes)
    old, new = claimed(ONE, 2), claimed(ONE, 1)
    hand.add(old, 1.0)
    hand.add(new, 5.0)

    assert hand.take_older(5.0) == old
    assert lanes[ONE].held == 1
    assert hand.take_older(float("inf")) == new
    assert not hand
    assert lanes[ONE].held == 0


def test_a_host_that_nobody_knows_is_sent_a_few_at_once_however_many_lanes_lead_to_it() -> None:
    lanes = {UUID(int=n): Lane(host="same") for n in range(1000)}
    hand, hosts = Hand(lanes), Hosts()
    for one in lanes:
        hand.add(claimed(one, 1), 0.0)

    taken = hand.take(Bounds(), NOBODY, hosts, 1.0)
    assert len(taken) == FIRST

    for _ in taken:
        hosts.heard("same", 2.0)
    assert len(hand.take(Bounds(), NOBODY, hosts, 3.0)) == 2 * FIRST
    assert len(hand.take(Bounds(), NOBODY, hosts, 60.0)) == FIRST
    for _ in range(500):
        hosts.heard("same", 61.0)
    assert len(hand.take(Bounds(), NOBODY, hosts, 62.0)) == Bounds().host
