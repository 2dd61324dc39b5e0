"""What callers send about exports: the filters of the list, and whether to begin with a BOM."""

from typing import Annotated
from uuid import UUID

from msgspec import Meta

from tradewind import ids
from tradewind.audit.wire import AuditFilters
from tradewind.delivery.wire import DeliveryFilters
from tradewind.events.wire import EventFilters
from tradewind.orders.inputs import OrderFilters
from tradewind.orders.payments.wire import PaymentFilters
from tradewind.web.inputs import read_id

_Bom = Annotated[
    bool,
    Meta(
        description="Begin the file with a byte order mark: some spreadsheet programs recognise "
        "UTF-8 only by it."
    ),
]


class OrdersExportQuery(OrderFilters):
    """Which orders to export."""

    bom: _Bom = False


class PaymentsExportQuery(PaymentFilters):
    """Which payments to export."""

    bom: _Bom = False


class DeliveriesExportQuery(DeliveryFilters):
    """Which attempts to export."""

    webhook: Annotated[
        Annotated[str, Meta(pattern=ids.SUBSCRIPTION.pattern)] | None,
        Meta(description="Attempts of this webhook only; without it, of each webhook in turn."),
    ] = None
    bom: _Bom = False

    @property
    def subscription_id(self) -> UUID | None:
        return read_id(ids.SUBSCRIPTION, "?webhook", self.webhook)


class EventsExportQuery(EventFilters):
    """Which events to export."""

    bom: _Bom = False


class AuditExportQuery(AuditFilters):
    """Which entries to export."""

    bom: _Bom = False
