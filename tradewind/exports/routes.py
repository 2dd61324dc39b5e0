"""Exports over HTTP: lists as CSV files, streamed."""

from typing import Annotated

from msgspec import Meta

from tradewind.auth.model import Approver, Buyer, Operator
from tradewind.errors import ResourceNotFound
from tradewind.events.read import Retention
from tradewind.exports import export
from tradewind.exports.wire import (
    AuditExportQuery,
    DeliveriesExportQuery,
    EventsExportQuery,
    OrdersExportQuery,
    PaymentsExportQuery,
)
from tradewind.platforms.errors import UnsupportedPlatform
from tradewind.platforms.registry import Platforms
from tradewind.storage.pool import Database
from tradewind.web.download import CSV, DISPOSITION, csv_download
from tradewind.web.endpoint import Routes
from tradewind.web.response import Response
from tradewind.web.scopes import FULL_ACCESS, Scope

routes = Routes("/v1/exports", tag="Exports")

_HEADERS = {DISPOSITION: "The name of the file."}
_Csv = Annotated[
    str,
    Meta(
        description="CSV by RFC 4180, in UTF-8.",
        examples=["order,status\r\nORD06EJ4KQZC5T9XN4R5ZJ2V7M8QW,paid\r\n"],
    ),
]


@routes.get(
    "/orders",
    scope=Scope.READ,
    returns=_Csv,
    media_type=CSV,
    headers=_HEADERS,
    errors=(UnsupportedPlatform,),
    expensive=True,
)
async def export_orders(
    caller: Buyer, query: OrdersExportQuery, db: Database, platforms: Platforms
) -> Response:
    """Export your orders as CSV, newest first: a row for each line of each order.

    The amounts of an order are in the row of its first line only, so that the sum of a column is
    right. The first row names the columns; read columns by name, since new ones may be added. Text
    that a spreadsheet would run as a formula begins with an apostrophe. If the connection closes
    before the end of the response, the file is incomplete.
    """
    filters = query.filters(platforms.named, caller.account_id)
    return csv_download(await export.export_orders(db, filters, bom=query.bom))


@routes.get(
    "/payments", scope=Scope.READ, returns=_Csv, media_type=CSV, headers=_HEADERS, expensive=True
)
async def export_payments(caller: Approver, query: PaymentsExportQuery, db: Database) -> Response:
    """Export payments of all accounts as CSV, newest first; without a filter, all of them."""
    made = await export.export_payments(db, query.status, query.order_id, bom=query.bom)
    return csv_download(made)


@routes.get(
    "/deliveries",
    scope=Scope.READ,
    returns=_Csv,
    media_type=CSV,
    headers=_HEADERS,
    errors=(ResourceNotFound,),
    expensive=True,
)
async def export_deliveries(caller: Buyer, query: DeliveriesExportQuery, db: Database) -> Response:
    """Export attempts to deliver events as CSV, newest first.

    Without `webhook`, the attempts of each webhook follow each other.
    """
    made = await export.export_deliveries(
        db, caller.account_id, query.subscription_id, query.filters(), bom=query.bom
    )
    return csv_download(made)


@routes.get(
    "/events", scope=Scope.READ, returns=_Csv, media_type=CSV, headers=_HEADERS, expensive=True
)
async def export_events(
    caller: Buyer, query: EventsExportQuery, db: Database, retention: Retention
) -> Response:
    """Export your journal as CSV, oldest first."""
    made = await export.export_events(
        db, caller.account_id, query.order_id, query.event, retention, bom=query.bom
    )
    return csv_download(made)


@routes.get(
    "/audit", scope=FULL_ACCESS, returns=_Csv, media_type=CSV, headers=_HEADERS, expensive=True
)
async def export_audit(caller: Operator, query: AuditExportQuery, db: Database) -> Response:
    """Export the audit log as CSV, newest first."""
    made = await export.export_audit(
        db,
        account_id=query.account_id,
        actions=query.action,
        after=query.at_after,
        before=query.at_before,
        bom=query.bom,
    )
    return csv_download(made)
