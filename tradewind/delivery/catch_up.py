"""Catches up by itself: when a receiver answers again, what it missed is delivered."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID

from tradewind.delivery import recover
from tradewind.delivery.model import Destination, Ended, Outcome
from tradewind.delivery.recover import Span
from tradewind.storage.pool import Database

# The event that failed first is older than its failure.
_MARGIN = timedelta(minutes=10)


async def where_it_answers_again(
    db: Database, batch: Sequence[tuple[Ended, Destination | None]]
) -> None:
    """Begin a recovery for each subscription that wants it, at its first success after failures."""
    back: dict[UUID, tuple[Destination, Ended]] = {}
    for ended, destination in batch:
        wanted = destination is not None and destination.catch_up and destination.failing_since
        if wanted and destination is not None and ended.outcome is Outcome.DELIVERED:
            back.setdefault(destination.id, (destination, ended))
    for destination, ended in back.values():
        if destination.failing_since is not None:
            answered = datetime.fromtimestamp(ended.started, UTC)
            span = Span(destination.failing_since - _MARGIN, answered)
            await recover.begin(
                db, destination.account_id, destination.id, span, trigger="catch_up"
            )
