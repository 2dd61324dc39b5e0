"""Catches up by itself: when a receiver answers again, what it missed is delivered."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from uuid import UUID

from tradewind.delivery import replay, sql_replays
from tradewind.delivery.replay import Span
from tradewind.storage.pool import Database

# The event that failed first is older than its failure.
_MARGIN = timedelta(minutes=10)


async def where_they_answer_again(db: Database, answered: Mapping[UUID, float | None]) -> None:
    """Begin a recovery for each that wants it and has failed, before its health says otherwise.

    `answered` are subscriptions that have just answered well; of some it is known that they failed
    right before, in Unix seconds, and that nobody has written that down.
    """
    for one in await sql_replays.those_that_catch_up(db, list(answered)):
        lost = answered[one["id"]]
        since = one["failing_since"] or (lost and datetime.fromtimestamp(lost, UTC))
        if since:
            span = Span(since - _MARGIN, one["now"])
            await replay.begin(db, one["account_id"], one["id"], span, trigger="catch_up")
