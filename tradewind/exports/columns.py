"""The columns of each export: their names, and where their values come from. Pure."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar
from uuid import UUID

import msgspec

from tradewind import ids
from tradewind.audit.model import AuditEntry
from tradewind.audit.wire import AuditOut
from tradewind.delivery.model import DeliveryTrigger, LoggedAttempt
from tradewind.events.catalogue import EventBody
from tradewind.exports.csv_rows import Cell, cny
from tradewind.orders.model import Order
from tradewind.orders.payments.sql import OrderPayment
from tradewind.platforms.model import Goods, Line, PlatformOrder

Row = TypeVar("Row")

# The names are stable: programs read columns by name.
Columns = Mapping[str, Callable[[Row], Cell]]

_BETWEEN_VALUES = "; "


class OrderRow(NamedTuple):
    """A line of an order; `number` counts the lines of the order from 1."""

    order: Order
    number: int
    line: Line

    @property
    def is_first(self) -> bool:
        return self.number == 1


class EventRow(NamedTuple):
    """An event, with its number in the journal."""

    number: int
    body: EventBody


def order_rows(orders: Sequence[Order]) -> Iterator[OrderRow]:
    """A row for each line of each order."""
    for order in orders:
        for number, line in enumerate(order.lines, 1):
            yield OrderRow(order, number, line)


def _order_amount(amount: Callable[[Order], int | None]) -> Callable[[OrderRow], Cell]:
    """An amount of the whole order, in the row of its first line: so that sums are right."""
    return lambda row: cny(amount(row.order)) if row.is_first else None


def _goods(value: Callable[[Goods], Cell]) -> Callable[[OrderRow], Cell]:
    """What is known of the goods of a line, as they were when they were ordered."""
    return lambda row: value(row.line.goods) if row.line.goods else None


def _variant(goods: Goods) -> str:
    """The attributes of a variant, such as `Colour: red; Size: L`."""
    return _BETWEEN_VALUES.join(
        f"{name}: {value}" for name, value in (goods.attributes or {}).items()
    )


def _shipped(order: Order, value: Callable[[PlatformOrder], Iterator[str | None]]) -> str:
    """A value of every parcel, each once."""
    values = [text for part in order.parts for text in value(part) if text]
    return _BETWEEN_VALUES.join(dict.fromkeys(values))


ORDERS: Columns[OrderRow] = {
    "order": lambda row: row.order.reference,
    "external_id": lambda row: row.order.external_id,
    "platform": lambda row: row.order.platform,
    "order_id": lambda row: _BETWEEN_VALUES.join(row.order.order_ids),
    "status": lambda row: row.order.status,
    "payment_status": lambda row: row.order.payment_status,
    "platform_payment_status": lambda row: row.order.platform_payment_status,
    "created_at": lambda row: row.order.created_at,
    "updated_at": lambda row: row.order.updated_at,
    "line": lambda row: row.number,
    "product_id": lambda row: row.line.product_id,
    "sku_id": lambda row: row.line.sku_id,
    "quantity": lambda row: row.line.quantity,
    "title": _goods(lambda goods: goods.title),
    "title_translated": _goods(lambda goods: goods.title_translated),
    "attributes": _goods(_variant),
    "unit_price_cny": _goods(lambda goods: cny(goods.unit_price_fen)),
    "seller_id": _goods(lambda goods: goods.seller_id),
    "seller_name": _goods(lambda goods: goods.seller_name),
    "image_url": _goods(lambda goods: goods.image_url),
    "goods_amount_cny": _order_amount(lambda order: order.goods_fen),
    "freight_cny": _order_amount(lambda order: order.freight_fen),
    "discount_cny": _order_amount(lambda order: order.discount_fen),
    "total_amount_cny": _order_amount(lambda order: order.total_fen),
    "paid_amount_cny": _order_amount(lambda order: order.paid_fen),
    "refunded_amount_cny": _order_amount(lambda order: order.refunded_fen),
    "pay_before": lambda row: row.order.pay_before,
    "carrier": lambda row: _shipped(
        row.order, lambda part: (shipment.carrier for shipment in part.shipments)
    ),
    "tracking_number": lambda row: _shipped(
        row.order, lambda part: (shipment.tracking_number for shipment in part.shipments)
    ),
    "failure_code": lambda row: row.order.failure.code if row.order.failure else None,
    "failure_message": lambda row: row.order.failure.message if row.order.failure else None,
    "name": lambda row: row.order.address.name,
    "phone": lambda row: row.order.address.phone,
    "province": lambda row: row.order.address.province,
    "city": lambda row: row.order.address.city,
    "district": lambda row: row.order.address.district,
    "detail": lambda row: row.order.address.detail,
    "postal_code": lambda row: row.order.address.postal_code,
    "remark": lambda row: row.order.remark,
}

PAYMENTS: Columns[OrderPayment] = {
    "payment": lambda row: ids.PAYMENT.show(row.request.id),
    "status": lambda row: row.request.status,
    "amount_cny": lambda row: cny(row.request.amount_fen),
    "mode": lambda row: row.request.mode,
    "requested_by": lambda row: row.request.requested_by.email,
    "requested_at": lambda row: row.request.requested_at,
    "decided_by": lambda row: row.request.decided_by.email if row.request.decided_by else None,
    "decided_at": lambda row: row.request.decided_at,
    "note": lambda row: row.request.note,
    "reason": lambda row: row.request.reason,
    "failure_code": lambda row: row.request.failure.code if row.request.failure else None,
    "failure_message": lambda row: row.request.failure.message if row.request.failure else None,
    "account": lambda row: ids.ACCOUNT.show(row.order.account_id),
    "order": lambda row: row.order.reference,
    "external_id": lambda row: row.order.external_id,
    "platform": lambda row: row.order.platform,
    "order_id": lambda row: _BETWEEN_VALUES.join(row.order.order_ids),
    "order_status": lambda row: row.order.status,
    "order_payment_status": lambda row: row.order.payment_status,
    "total_amount_cny": lambda row: cny(row.order.total_fen),
    "pay_before": lambda row: row.order.pay_before,
}


def _event_id(attempt: LoggedAttempt) -> str:
    is_test = attempt.trigger is DeliveryTrigger.TEST
    return (ids.TEST_EVENT if is_test else ids.EVENT).show(attempt.event_id)


def _shown(kind: ids.Kind, value: UUID | None) -> str | None:
    return None if value is None else kind.show(value)


DELIVERIES: Columns[LoggedAttempt] = {
    "delivery": lambda row: ids.DELIVERY.show(row.id),
    "webhook": lambda row: ids.SUBSCRIPTION.show(row.subscription_id),
    "event_id": _event_id,
    "event": lambda row: row.event,
    "order": lambda row: _shown(ids.ORDER, row.order_id),
    "attempt": lambda row: row.attempt,
    "trigger": lambda row: row.trigger,
    "outcome": lambda row: row.outcome,
    "final": lambda row: row.final,
    "late": lambda row: row.late,
    "status_code": lambda row: row.status_code,
    "error_code": lambda row: row.error_code,
    "error_message": lambda row: row.error_message,
    "started_at": lambda row: row.started_at,
    "duration_ms": lambda row: row.duration_ms,
    "next_attempt_at": lambda row: row.next_attempt_at,
}


def _total(row: EventRow) -> Cell:
    total = row.body.data.order.total_amount_cny
    return None if total is None else cny(round(total * 100))


EVENTS: Columns[EventRow] = {
    "number": lambda row: row.number,
    "event_id": lambda row: row.body.id,
    "event": lambda row: row.body.event,
    "created_at": lambda row: row.body.created_at,
    "order": lambda row: row.body.data.order.id,
    "platform": lambda row: row.body.data.order.platform,
    "order_id": lambda row: row.body.data.order.order_id,
    "status": lambda row: row.body.data.order.status,
    "payment_status": lambda row: row.body.data.order.payment_status,
    "platform_payment_status": lambda row: row.body.data.order.platform_payment_status,
    "total_amount_cny": _total,
    "updated_at": lambda row: row.body.data.order.updated_at,
}

AUDIT: Columns[AuditEntry] = {
    "audit": lambda row: ids.AUDIT.show(row.id),
    "at": lambda row: row.at,
    "action": lambda row: row.action,
    "actor": lambda row: row.actor,
    "actor_account": lambda row: _shown(ids.ACCOUNT, row.actor_id),
    "credential": lambda row: row.credential,
    "agent": lambda row: row.agent,
    "address": lambda row: row.address,
    "request_id": lambda row: row.request_id,
    "account": lambda row: _shown(ids.ACCOUNT, row.account_id),
    "subject": lambda row: row.subject,
    # As JSON, with amounts in CNY as in the API.
    "details": lambda row: msgspec.json.encode(AuditOut.of(row).details).decode(),
}
