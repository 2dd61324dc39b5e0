"""Gathers what the page of an order shows: its story, its payments, and who was told what."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import asyncpg

from tradewind import ids
from tradewind.dashboard.orders import queries as sql_orders
from tradewind.dashboard.orders.timeline import Entry, Told, entry
from tradewind.errors import ResourceNotFound
from tradewind.orders import sql_lists
from tradewind.orders.model import Order
from tradewind.orders.wire import ChangeOut
from tradewind.storage.pool import Database
from tradewind.web.paging import page, read_cursor

_CHANGES = 30
_SKEW = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Delivery:
    """What became of an event at a webhook: `state` is delivered, waiting, failed or cancelled."""

    webhook: str
    url: str
    state: str
    attempt: int
    at: datetime
    id: str | None = None
    why: str = ""


async def find(db: Database, account_id: UUID, order_id: UUID) -> Order:
    """The order as it is stored."""
    order = await sql_lists.find_order(db, account_id, order_id)
    if order is None:
        raise ResourceNotFound(ids.ORDER)
    return order


async def story(
    db: Database, account_id: UUID, order_id: UUID, cursor: str | None
) -> tuple[Sequence[Entry], str | None]:
    """A page of the order's timeline, newest first, and where the next begins."""
    changes = await sql_lists.list_changes(
        db,
        account_id,
        order_id,
        below=read_cursor("timeline", cursor, int),
        limit=_CHANGES + 1,
    )
    times = {event: change.at for change in changes[:_CHANGES] for event in change.events}
    told = await _told(db, account_id, times) if times else {}
    shown = page(
        "timeline",
        changes,
        _CHANGES,
        key=lambda change: change.version,
        show=lambda change: entry(ChangeOut.of(change), [told[e] for e in change.events]),
    )
    return shown.items, shown.next_cursor


async def _told(db: Database, account_id: UUID, times: dict[UUID, datetime]) -> dict[UUID, Told]:
    events = list(times)
    kinds = await sql_orders.kinds_of(db, account_id, events, since=min(times.values()) - _SKEW)
    found: dict[UUID, dict[UUID, Delivery]] = {event: {} for event in events}
    for row in await sql_orders.last_attempts(db, account_id, events, list(times.values())):
        found[row["event_id"]][row["webhook_id"]] = _attempted(row)
    # What waits is the latest there is to say, also of what was tried before.
    for row in await sql_orders.still_waiting(db, account_id, events):
        last = found[row["event_id"]].get(row["webhook_id"])
        found[row["event_id"]][row["webhook_id"]] = _waiting(row, last)
    return {
        event: Told(ids.EVENT.show(event), kinds.get(event, ""), list(found[event].values()))
        for event in events
    }


def _attempted(row: asyncpg.Record) -> Delivery:
    state = row["outcome"] if row["outcome"] in {"delivered", "cancelled"} else "failed"
    return Delivery(
        webhook=ids.SUBSCRIPTION.show(row["webhook_id"]),
        url=row["url"],
        state=state,
        attempt=row["attempt"],
        at=row["started_at"],
        id=ids.DELIVERY.show(row["delivery_id"]),
        why="" if state == "delivered" else _why(row),
    )


def _why(row: asyncpg.Record) -> str:
    answered = f"It was answered with {row['status_code']}." if row["status_code"] else ""
    return row["error_message"] or answered


def _waiting(row: asyncpg.Record, last: Delivery | None) -> Delivery:
    return Delivery(
        webhook=ids.SUBSCRIPTION.show(row["webhook_id"]),
        url=row["url"],
        state="under_way" if row["under_way"] else "waiting",
        attempt=row["attempt"],
        at=row["due_at"],
        id=last.id if last else None,
        why=last.why if last else "",
    )
