"""Quiet lanes: those that probably get the next event of their account."""

from tradewind import ids
from tradewind.delivery.lanes import Lane
from tradewind.delivery.quiet_lanes import QuietLanes

OURS, THEIRS = ids.new(), ids.new()


def test_the_lanes_of_an_account_are_taken_once() -> None:
    quiet = QuietLanes()
    a, b, c = (ids.new() for _ in range(3))
    lanes = {key: Lane(account=account) for key, account in ((a, OURS), (b, OURS), (c, THEIRS))}
    for key, lane in lanes.items():
        quiet.add(key, lane)

    assert quiet.take([str(OURS), "nobody"]) == {a: lanes[a], b: lanes[b]}
    assert quiet.take([str(OURS)]) == {}
    assert quiet.take([str(THEIRS)]) == {c: lanes[c]}


def test_a_lane_that_is_forgotten_is_not_taken() -> None:
    quiet = QuietLanes()
    a, b, lane = ids.new(), ids.new(), Lane(account=OURS)
    quiet.add(a, lane)
    quiet.add(b, lane)

    quiet.discard(a, lane)
    quiet.discard(ids.new(), Lane(account=THEIRS))

    assert quiet.take([str(OURS), str(THEIRS)]) == {b: lane}


def test_too_many_lanes_are_left_to_the_poll() -> None:
    quiet = QuietLanes()
    for _ in range(65):
        quiet.add(ids.new(), Lane(account=OURS))

    assert quiet.take([str(OURS)]) == {}
