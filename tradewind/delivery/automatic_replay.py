"""Replays missed events automatically when an endpoint works again, if the webhook has it on."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from uuid import UUID

from tradewind.delivery import replay, sql_replays
from tradewind.delivery.model import Window
from tradewind.storage.pool import Database

# The event that failed first is older than its failure.
_MARGIN = timedelta(minutes=10)


async def replay_after_recovery(db: Database, answered: Mapping[UUID, float | None]) -> None:
    """Begin a replay for each that wants one and has failed, before its health is saved as good.

    `answered` are subscriptions whose endpoints have just answered well, with when a delivery
    failed for good right before, in Unix seconds, if that is not saved yet.
    """
    for row in await sql_replays.list_catching_up(db, list(answered)):
        failed_at = answered[row.subscription_id]
        since = row.failing_since or (failed_at and datetime.fromtimestamp(failed_at, UTC))
        if since:
            window = Window(since - _MARGIN, row.now)
            await replay.begin(db, row.account_id, row.subscription_id, window, trigger="catch_up")
