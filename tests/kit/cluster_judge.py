"""Judges a fault of the cluster: what was acknowledged, journaled, delivered and read. Pure."""

from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import pairwise

# A created order; a repeat that is still in flight, or a step that another request has made;
# an outage that says so.
EXPECTED_STATUSES = frozenset({200, 201, 409, 503})


@dataclass(frozen=True)
class Evidence:
    """What everybody saw of one account: clients, database, marketplace and endpoint."""

    acknowledged: Mapping[str, str]  # the orders that were answered with 201, by idempotency key
    sent: AbstractSet[str]  # every idempotency key
    stored: Mapping[str, str]  # the orders in the database, by idempotency key
    approved: AbstractSet[str]  # the orders whose approval was answered with 200
    debits: Mapping[str, int]  # how often the marketplace debited each order
    journaled: Mapping[str, str]  # the order of each event in the journal
    delivered: Sequence[str]  # the events that the endpoint got, in their order
    read: Sequence[str]  # the events that were read by cursor, in their order
    statuses: Mapping[int, int] = field(default_factory=dict)  # how often each was answered


@dataclass(frozen=True)
class Verdict:
    """What was lost, is foreign or was done twice; sentences say the same."""

    lost: int
    foreign: int
    double_debits: int
    violations: int
    sent_again: int  # deliveries of an event after its first; at least once is the promise
    problems: tuple[str, ...]

    @property
    def holds(self) -> bool:
        return not self.problems


def judge(evidence: Evidence) -> Verdict:
    """Compare what clients were told with what is there."""
    journaled = evidence.journaled.keys()
    lost = {
        "was acknowledged and is not stored": {
            order
            for key, order in evidence.acknowledged.items()
            if evidence.stored.get(key) != order
        },
        "was acknowledged and has no event": set(evidence.acknowledged.values())
        - set(evidence.journaled.values()),
        "was approved and is not debited": {
            order for order in evidence.approved if not evidence.debits.get(order)
        },
        "is in the journal and was not delivered": journaled - set(evidence.delivered),
        "is in the journal and was not read": journaled - set(evidence.read),
    }
    foreign = {
        "was delivered and is not in the journal": set(evidence.delivered) - journaled,
        "was read and is not in the journal": set(evidence.read) - journaled,
        "is stored and was never sent": {
            order for key, order in evidence.stored.items() if key not in evidence.sent
        },
    }
    double = {"was debited more than once": {o for o, n in evidence.debits.items() if n > 1}}
    wrong = {
        "was read twice": {event for event, n in Counter(evidence.read).items() if n > 1},
        "was answered and never is expected": {
            str(status) for status in evidence.statuses if status not in EXPECTED_STATUSES
        },
    }
    problems = [
        f"{name} {what}."
        for group in (lost, foreign, double, wrong)
        for what, names in group.items()
        for name in sorted(names)
    ]
    return Verdict(
        lost=_count(lost),
        foreign=_count(foreign),
        double_debits=sum(n - 1 for n in evidence.debits.values() if n > 1),
        violations=_count(wrong),
        sent_again=len(evidence.delivered) - len(set(evidence.delivered)),
        problems=tuple(problems),
    )


def recovery_seconds(fault_at: float, times: Sequence[tuple[float, float]]) -> float | None:
    """From the fault to the first acknowledged order that was sent after it; None: there is none.

    `times` are when each acknowledged order was sent and answered.
    """
    answered = [answered for sent, answered in times if sent >= fault_at]
    return min(answered) - fault_at if answered else None


def longest_pause(fault_at: float, times: Sequence[tuple[float, float]]) -> float:
    """The longest time without an acknowledged order, from the fault on."""
    moments = [fault_at, *sorted(answered for _, answered in times if answered >= fault_at)]
    return max((b - a for a, b in pairwise(moments)), default=0.0)


def _count(groups: Mapping[str, AbstractSet[str]]) -> int:
    return sum(len(names) for names in groups.values())
