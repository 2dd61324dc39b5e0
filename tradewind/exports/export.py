"""Exports a list: reads it page by page, and writes each page as rows of a CSV file."""

from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import TypeVar
from uuid import UUID

import msgspec

from tradewind.audit import sql as audit_sql
from tradewind.audit.wire import AUDIT_ENTRIES
from tradewind.delivery import log
from tradewind.delivery import wire as delivery_wire
from tradewind.delivery.model import LoggedAttempt
from tradewind.delivery.sql_log import AttemptFilters
from tradewind.errors import ResourceNotFound
from tradewind.events import read as journal
from tradewind.events.catalogue import EventBody
from tradewind.events.read import Retention
from tradewind.exports.columns import (
    AUDIT,
    DELIVERIES,
    EVENTS,
    ORDERS,
    PAYMENTS,
    Columns,
    EventRow,
    OrderRow,
    order_rows,
)
from tradewind.exports.csv_rows import BOM, write_row
from tradewind.orders import sql_lists
from tradewind.orders.list_orders import BY_CREATION
from tradewind.orders.model import Order
from tradewind.orders.payments import sql as payment_sql
from tradewind.orders.payments import wire as payment_wire
from tradewind.orders.sql_lists import Filters
from tradewind.storage.pool import Database
from tradewind.webhooks import sql as webhook_sql
from tradewind.webhooks.subscribe import get_subscription
from tradewind.webhooks.wire import WEBHOOKS

Row = TypeVar("Row")

# Each page is one statement, so that no transaction stays open while a slow client reads. Pages are
# small, because nothing else happens in this process while one is decoded and written.
PAGE_ROWS = 10

_event_body = msgspec.json.Decoder(EventBody)


@dataclass(frozen=True, slots=True)
class Export:
    """A CSV file while it is written: its name, and its content piece by piece.

    The first piece exists before anything is sent, so an error of the first page is an ordinary
    error. A later error ends the pieces with that error, and must not look like the end of the
    file.
    """

    name: str
    pieces: AsyncGenerator[bytes, None]


async def export_orders(db: Database, filters: Filters, *, bom: bool) -> Export:
    """Export orders, newest first: a row for each line of each order."""
    return await _begin("orders", ORDERS, _order_pages(db, filters), bom=bom)


async def export_these_orders(orders: Sequence[Order], *, bom: bool) -> Export:
    """Export orders that a search returned."""
    return await _begin("orders", ORDERS, _single_page(order_rows(orders)), bom=bom)


async def export_payments(
    db: Database, statuses: Sequence[str] | None, order_id: UUID | None, *, bom: bool
) -> Export:
    """Export payment requests of all accounts, newest first."""
    read = partial(payment_sql.list_payments, db, statuses, order_id)
    pages = payment_wire.PAYMENTS.every_page(read, PAGE_ROWS)
    return await _begin("payments", PAYMENTS, pages, bom=bom)


async def export_deliveries(
    db: Database,
    account_id: UUID,
    subscription_id: UUID | None,
    filters: AttemptFilters,
    *,
    bom: bool,
) -> Export:
    """Export the attempts of a webhook, newest first; without one, of each webhook in turn."""
    if subscription_id is not None:
        await get_subscription(db, account_id, subscription_id)
    pages = _delivery_pages(db, account_id, subscription_id, filters)
    return await _begin("deliveries", DELIVERIES, pages, bom=bom)


async def export_events(
    db: Database,
    account_id: UUID,
    order_id: UUID | None,
    kinds: Sequence[str] | None,
    retention: Retention,
    *,
    bom: bool,
) -> Export:
    """Export the journal of an account, oldest first."""
    pages = _event_pages(db, account_id, order_id, kinds, retention)
    return await _begin("events", EVENTS, pages, bom=bom)


async def export_audit(
    db: Database,
    *,
    account_id: UUID | None,
    actions: Sequence[str] | None,
    after: datetime | None,
    before: datetime | None,
    about: str | None = None,
    bom: bool,
) -> Export:
    """Export the audit log, newest first."""
    read = partial(
        audit_sql.list_entries,
        db,
        account_id=account_id,
        actions=actions,
        after=after,
        before=before,
        about=about,
    )
    return await _begin("audit", AUDIT, AUDIT_ENTRIES.every_page(read, PAGE_ROWS), bom=bom)


async def _begin(
    name: str, columns: Columns[Row], pages: AsyncIterator[Iterable[Row]], *, bom: bool
) -> Export:
    """Read the first page now; the others when the pieces before them were sent."""
    pieces = _pieces(columns, pages, bom=bom)
    return Export(name, _continued(await anext(pieces), pieces))


async def _continued(
    first: bytes, following: AsyncGenerator[bytes, None]
) -> AsyncGenerator[bytes, None]:
    async with aclosing(following):
        yield first
        async for piece in following:
            yield piece


async def _pieces(
    columns: Columns[Row], pages: AsyncIterator[Iterable[Row]], *, bom: bool
) -> AsyncGenerator[bytes, None]:
    """The file as bytes: the header and the first page, then a piece for each page."""
    text = (BOM if bom else "") + write_row(list(columns))
    async for rows in pages:
        text += "".join(write_row([cell_of(row) for cell_of in columns.values()]) for row in rows)
        yield text.encode()
        text = ""
    if text:
        yield text.encode()


async def _single_page(rows: Iterator[Row]) -> AsyncIterator[Iterable[Row]]:
    yield rows


async def _order_pages(db: Database, filters: Filters) -> AsyncIterator[Iterable[OrderRow]]:
    read = partial(sql_lists.list_by_creation, db, filters)
    async for orders in BY_CREATION.every_page(read, PAGE_ROWS):
        yield order_rows(orders)


async def _delivery_pages(
    db: Database, account_id: UUID, subscription_id: UUID | None, filters: AttemptFilters
) -> AsyncIterator[Iterable[LoggedAttempt]]:
    async for webhook in _webhooks(db, account_id, subscription_id):
        read = partial(log.list_attempts, db, account_id, webhook, filters)
        try:
            async for attempts in delivery_wire.DELIVERIES.every_page(read, PAGE_ROWS):
                yield attempts
        except ResourceNotFound:  # one of several may be deleted meanwhile
            if subscription_id is not None:
                raise


async def _webhooks(
    db: Database, account_id: UUID, subscription_id: UUID | None
) -> AsyncIterator[UUID]:
    """The webhook of the filter, or all webhooks of the account, newest first."""
    if subscription_id is not None:
        yield subscription_id
        return
    read = partial(webhook_sql.list_subscriptions, db, account_id)
    async for webhooks in WEBHOOKS.every_page(read, PAGE_ROWS):
        for webhook in webhooks:
            yield webhook.id


async def _event_pages(
    db: Database,
    account_id: UUID,
    order_id: UUID | None,
    kinds: Sequence[str] | None,
    retention: Retention,
) -> AsyncIterator[Iterable[EventRow]]:
    cursor = through = None
    while True:
        page = await journal.read(
            db,
            account_id,
            cursor,
            order_id=order_id,
            kinds=kinds,
            limit=PAGE_ROWS,
            kept=retention.events,
            through=through,
        )
        yield [
            EventRow(number, _event_body.decode(body))
            for number, body in zip(page.numbers, page.bodies, strict=True)
        ]
        if not page.has_more:
            return
        cursor, through = page.end, page.through
