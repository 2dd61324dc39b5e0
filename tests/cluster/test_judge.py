"""The judge of the cluster's faults detects each planted fault, and names it."""

from dataclasses import replace

import pytest
from kit.cluster_judge import Evidence, judge, longest_pause, recovery_seconds

GOOD = Evidence(
    acknowledged={"first": "ORD1", "second": "ORD2"},
    sent={"first", "second", "third"},
    stored={"first": "ORD1", "second": "ORD2", "third": "ORD3"},
    approved={"ORD1"},
    debits={"ORD1": 1},
    journaled={"evt1": "ORD1", "evt2": "ORD2", "evt3": "ORD3", "evt4": "ORD1"},
    delivered=["evt1", "evt2", "evt2", "evt3", "evt4"],
    read=["evt1", "evt2", "evt3", "evt4"],
    statuses={201: 3, 409: 1, 503: 20},
)


def test_nothing_is_wrong_when_all_agree_and_an_event_was_sent_again() -> None:
    verdict = judge(GOOD)

    assert verdict.holds
    assert verdict.problems == ()
    assert (verdict.lost, verdict.foreign, verdict.double_debits, verdict.violations) == (0,) * 4
    assert verdict.sent_again == 1


@pytest.mark.parametrize(
    ("planted", "figure", "says"),
    [
        (
            {"stored": {"second": "ORD2", "third": "ORD3"}},
            "lost",
            "ORD1 was acknowledged and is not stored.",
        ),
        (
            {"stored": {**GOOD.stored, "first": "ORD9"}},
            "lost",
            "ORD1 was acknowledged and is not stored.",
        ),
        (
            {
                "journaled": {"evt1": "ORD1", "evt3": "ORD3", "evt4": "ORD1"},
                "delivered": ["evt1", "evt3", "evt4"],
                "read": ["evt1", "evt3", "evt4"],
            },
            "lost",
            "ORD2 was acknowledged and has no event.",
        ),
        (
            {"delivered": ["evt1", "evt2", "evt4"]},
            "lost",
            "evt3 is in the journal and was not delivered.",
        ),
        (
            {"read": ["evt1", "evt2", "evt4"]},
            "lost",
            "evt3 is in the journal and was not read.",
        ),
        ({"debits": {}}, "lost", "ORD1 was approved and is not debited."),
        (
            {"delivered": [*GOOD.delivered, "evt9"]},
            "foreign",
            "evt9 was delivered and is not in the journal.",
        ),
        (
            {"read": [*GOOD.read, "evt9"]},
            "foreign",
            "evt9 was read and is not in the journal.",
        ),
        (
            {"stored": {**GOOD.stored, "nobody's": "ORD4"}},
            "foreign",
            "ORD4 is stored and was never sent.",
        ),
        ({"debits": {"ORD1": 2}}, "double_debits", "ORD1 was debited more than once."),
        ({"read": [*GOOD.read, "evt4"]}, "violations", "evt4 was read twice."),
        (
            {"statuses": {201: 3, 500: 1}},
            "violations",
            "500 was answered and never is expected.",
        ),
    ],
)
def test_a_planted_fault_is_detected(planted: dict[str, object], figure: str, says: str) -> None:
    verdict = judge(replace(GOOD, **planted))  # type: ignore[arg-type]

    assert says in verdict.problems
    assert not verdict.holds
    figures = ("lost", "foreign", "double_debits", "violations")
    assert {name: getattr(verdict, name) for name in figures} == {
        name: int(name == figure) for name in figures
    }


def test_recovery_ends_with_an_order_that_was_sent_after_the_fault() -> None:
    times = [(8.0, 8.5), (9.9, 10.1), (10.5, 14.0), (14.1, 14.2)]

    assert recovery_seconds(10.0, times) == 4.0
    assert recovery_seconds(20.0, times) is None
    assert longest_pause(10.0, times) == pytest.approx(3.9)
