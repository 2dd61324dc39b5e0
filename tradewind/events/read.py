"""Reads the journal: oldest first, by a cursor that never skips what commits later."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from tradewind import clock
from tradewind.errors import Gone
from tradewind.events import sql
from tradewind.storage.pool import Database

# Days before the cursor's are not read; a transaction may have begun this long before its event.
_SLACK = timedelta(days=1)
# Who begins at the oldest event has this long for the first page. So much more is kept.
_GRACE = timedelta(hours=12)
KEPT_LONGER = timedelta(days=1)
_LAST = UUID(int=2**128 - 1)


class EventsExpired(Gone):
    """The cursor is older than what is kept, so events may be missing after it.

    Begin anew without a cursor, and compare your orders with `POST /v1/orders/diff`.
    """

    code = "events_expired"
    title = "The cursor is older than the journal"

    def __init__(self, kept_since: datetime) -> None:
        super().__init__(
            f"Events before {clock.show(kept_since)} are no longer kept; begin without a cursor.",
            kept_since=clock.show(kept_since),
        )


@dataclass(frozen=True, slots=True)
class Place:
    """A place in the journal: right after this event, as of this time."""

    xid: int
    event_id: UUID
    at: datetime


@dataclass(frozen=True, slots=True)
class Stretch:
    """Events as they were sent, where they end, and whether more are there already."""

    bodies: Sequence[bytes]
    end: Place
    more: bool


async def read(
    db: Database,
    account_id: UUID,
    after: Place | None,
    *,
    order_id: UUID | None,
    kinds: Sequence[str] | None,
    limit: int,
    kept: timedelta,
) -> Stretch:
    """The next events after a place. At the end it is as new as the journal is complete.

    So a reader that comes back within what is kept never expires, however quiet it was.
    """
    horizon = await sql.horizon(db, kept=kept)
    if after is not None and after.at < horizon["kept_since"] - _GRACE:
        raise EventsExpired(horizon["kept_since"])
    rows = await sql.read_journal(
        db,
        account_id,
        after=None if after is None else (after.xid, after.event_id),
        since=horizon["kept_since"] if after is None else after.at - _SLACK,
        order_id=order_id,
        kinds=kinds,
        limit=limit + 1,
    )
    shown = rows[:limit]
    more = len(rows) > limit
    end = after
    if shown:
        last = shown[-1]
        end = Place(last["xid"], last["id"], last["created_at"])
    if not more and (end is None or end.xid < horizon["xid"]):
        end = Place(horizon["xid"] - 1, _LAST, horizon["now"])
    return Stretch(
        [row["body"] for row in shown],
        end or Place(horizon["xid"] - 1, _LAST, horizon["now"]),
        more,
    )
