"""The timeline sums up deliveries in one line."""

from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import UUID

import pytest

from tradewind.dashboard.orders.queries import EventDelivery
from tradewind.dashboard.orders.timeline import TimelineEntry, TimelineEvent

AT = datetime(2026, 11, 15, tzinfo=UTC)


def an_entry(*events: Sequence[tuple[str, int]]) -> TimelineEntry:
    """An entry with events; each is delivered to webhooks in these states, at these attempts."""
    return TimelineEntry(
        AT,
        "Shipped",
        "good",
        "",
        (),
        [
            TimelineEvent(
                f"evt_{number}",
                "order.updated",
                [
                    EventDelivery(UUID(int=number), UUID(int=webhook), "", state, attempt, AT)
                    for webhook, (state, attempt) in enumerate(deliveries)
                ],
            )
            for number, deliveries in enumerate(events)
        ],
    )


@pytest.mark.parametrize(
    ("entry", "summary", "tone"),
    [
        (
            an_entry([("delivered", 1), ("waiting", 2), ("delivered", 1)]),
            "3 webhooks: 2 delivered, 1 retrying",
            "waiting",
        ),
        (an_entry([("delivered", 3)]), "1 webhook: delivered", "good"),
        (an_entry([("waiting", 1)]), "1 webhook: queued", "waiting"),
        (
            an_entry([("failed", 3), ("under_way", 1), ("cancelled", 1)]),
            "3 webhooks: 1 in progress, 1 failed, 1 not sent",
            "bad",
        ),
        (
            an_entry([("delivered", 1)], [("delivered", 1)]),
            "2 events to 1 webhook: 2 delivered",
            "good",
        ),
        (an_entry([]), "Not delivered to any current webhook", "plain"),
    ],
)
def test_deliveries_are_summed_up(entry: TimelineEntry, summary: str, tone: str) -> None:
    assert entry.delivery_summary == summary
    assert entry.delivery_tone == tone
