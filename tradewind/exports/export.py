"""Exports a list: reads it page by page, and writes each page as rows of a CSV file."""

from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar
from uuid import UUID

import msgspec

from tradewind.audit import sql as audit_sql
from tradewind.audit.model import AuditEntry
from tradewind.delivery import log
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
from tradewind.orders.model import Order
from tradewind.orders.payments import sql as payment_sql
from tradewind.orders.payments.sql import OrderPayment
from tradewind.orders.sql_lists import Filters
from tradewind.storage.pool import Database
from tradewind.webhooks import sql as webhook_sql
from tradewind.webhooks.subscribe import get_subscription

Row = TypeVar("Row")

# Each page is one statement, so that no transaction stays open while a slow client reads.
PAGE_ROWS = 500

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
    return await _begin("payments", PAYMENTS, _payment_pages(db, statuses, order_id), bom=bom)


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
    pages = _audit_pages(db, account_id, actions, after, before, about)
    return await _begin("audit", AUDIT, pages, bom=bom)


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
    below = None
    while True:
        orders = await sql_lists.list_by_creation(db, filters, below=below, limit=PAGE_ROWS)
        yield order_rows(orders)
        if len(orders) < PAGE_ROWS:
            return
        below = orders[-1].id


async def _payment_pages(
    db: Database, statuses: Sequence[str] | None, order_id: UUID | None
) -> AsyncIterator[Iterable[OrderPayment]]:
    below = None
    while True:
        payments = await payment_sql.list_payments(
            db, statuses, order_id, below=below, limit=PAGE_ROWS
        )
        yield payments
        if len(payments) < PAGE_ROWS:
            return
        below = payments[-1].request.id


async def _delivery_pages(
    db: Database, account_id: UUID, subscription_id: UUID | None, filters: AttemptFilters
) -> AsyncIterator[Iterable[LoggedAttempt]]:
    async for webhook in _webhooks(db, account_id, subscription_id):
        below = None
        while True:
            try:
                attempts = await log.list_attempts(
                    db, account_id, webhook, filters, below=below, limit=PAGE_ROWS
                )
            except ResourceNotFound:
                if subscription_id is not None:
                    raise
                break  # one of several was deleted meanwhile
            yield attempts
            if len(attempts) < PAGE_ROWS:
                break
            below = attempts[-1].started_at, attempts[-1].id


async def _webhooks(
    db: Database, account_id: UUID, subscription_id: UUID | None
) -> AsyncIterator[UUID]:
    """The webhook of the filter, or all webhooks of the account, newest first."""
    if subscription_id is not None:
        yield subscription_id
        return
    below = None
    while True:
        webhooks = await webhook_sql.list_subscriptions(
            db, account_id, below=below, limit=PAGE_ROWS
        )
        for webhook in webhooks:
            yield webhook.id
        if len(webhooks) < PAGE_ROWS:
            return
        below = webhooks[-1].id


async def _event_pages(
    db: Database,
    account_id: UUID,
    order_id: UUID | None,
    kinds: Sequence[str] | None,
    retention: Retention,
) -> AsyncIterator[Iterable[EventRow]]:
    cursor = None
    while True:
        page = await journal.read(
            db,
            account_id,
            cursor,
            order_id=order_id,
            kinds=kinds,
            limit=PAGE_ROWS,
            kept=retention.events,
        )
        yield [
            EventRow(number, _event_body.decode(body))
            for number, body in zip(page.numbers, page.bodies, strict=True)
        ]
        if not page.has_more:
            return
        cursor = page.end


async def _audit_pages(
    db: Database,
    account_id: UUID | None,
    actions: Sequence[str] | None,
    after: datetime | None,
    before: datetime | None,
    about: str | None,
) -> AsyncIterator[Iterable[AuditEntry]]:
    below = None
    while True:
        entries = await audit_sql.list_entries(
            db,
            account_id=account_id,
            actions=actions,
            after=after,
            before=before,
            below=below,
            limit=PAGE_ROWS,
            about=about,
        )
        yield entries
        if len(entries) < PAGE_ROWS:
            return
        below = entries[-1].id
