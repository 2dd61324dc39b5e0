"""The timeline of an order: how each of its values is described, and what counts as a change. Pure.

The descriptions are stored. They have the names and formats of the API, but do not depend on it: a
field that the API adds or shows in another way makes no change.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from tradewind import clock, ids, money
from tradewind.orders.model import Order
from tradewind.orders.payments.model import Failure, OrderRefund, PaymentRequest
from tradewind.orders.person import Person
from tradewind.orders.shipments import pieces_per_parcel
from tradewind.platforms.model import Goods, Line, PlatformOrder


def _part(part: PlatformOrder) -> object:
    return {
        "order_id": part.id,
        "status": part.status,
        "platform_status": part.raw_status,
        "payment_status": part.payment,
        "total_amount_cny": money.show(part.total_fen),
        "refunded_amount_cny": money.show(part.refunded_fen),
    }


def _parcels(part: PlatformOrder) -> list[object]:
    pieces = pieces_per_parcel(part)
    items = {
        item.id: {
            "product_id": item.product_id or "",
            "sku_id": item.sku_id,
            "quantity": pieces[item.id],
        }
        for item in part.items
    }
    return [
        {
            "order_id": part.id,
            "carrier": parcel.carrier,
            "tracking_number": parcel.tracking_number,
            "shipped_at": clock.show_or_none(parcel.shipped_at),
            "items": [items[id_] for id_ in dict.fromkeys(parcel.item_ids) if id_ in items],
        }
        for parcel in part.shipments
    ]


def _item(line: Line) -> object:
    goods = line.goods or Goods()
    return {
        "product_id": line.product_id,
        "sku_id": line.sku_id,
        "quantity": line.quantity,
        "title": goods.title,
        "title_translated": goods.title_translated,
        "image_url": goods.image_url,
        "attributes": goods.attributes,
        "unit_price_cny": money.show_or_none(goods.unit_price_fen),
        "seller": {"id": goods.seller_id, "name": goods.seller_name},
    }


def _refund(refund: OrderRefund) -> object:
    return {
        "id": ids.REFUND.show(refund.id),
        "platform_refund_id": refund.platform_id,
        "order_id": refund.order_id,
        "status": refund.state,
        "type": refund.kind,
        "amount_cny": money.show(refund.amount_fen),
        "freight_cny": money.show(refund.freight_fen),
        "reason": refund.reason,
        "note": refund.note,
        "failure": _failure(refund.failure),
        "requested_at": clock.show(refund.requested_at),
        "updated_at": clock.show(refund.updated_at),
    }


def _payment(request: PaymentRequest | None) -> object:
    return request and {
        "id": ids.PAYMENT.show(request.id),
        "status": request.status,
        "amount_cny": money.show(request.amount_fen),
        "mode": request.mode,
        "requested_by": _person(request.requested_by),
        "requested_at": clock.show(request.requested_at),
        "note": request.note,
        "decided_by": _person(request.decided_by),
        "decided_at": clock.show_or_none(request.decided_at),
        "reason": request.reason,
        "pay_url": request.pay_url,
        "failure": _failure(request.failure),
    }


def _person(person: Person | None) -> object:
    return person and {
        "account_id": ids.ACCOUNT.show(person.id),
        "email": person.email,
        "agent": person.agent,
    }


def _failure(failure: Failure | None) -> object:
    return failure and asdict(failure)


def _same(value: object) -> object:
    return value


# The fields of an order that are described: the attribute of each, and how it is described.
_FIELDS: Sequence[tuple[str, str, Callable[[Any], object]]] = (
    ("order_id", "order_id", _same),
    ("status", "status", _same),
    ("payment_status", "payment_status", _same),
    ("platform_payment_status", "platform_payment_status", _same),
    ("total_amount_cny", "total_fen", money.show_or_none),
    ("goods_amount_cny", "goods_fen", money.show_or_none),
    ("freight_cny", "freight_fen", money.show_or_none),
    ("discount_cny", "discount_fen", money.show_or_none),
    ("paid_amount_cny", "paid_fen", money.show_or_none),
    ("refunded_amount_cny", "refunded_fen", money.show_or_none),
    ("platform_orders", "parts", lambda parts: [_part(part) for part in parts]),
    ("shipments", "parts", lambda parts: [each for part in parts for each in _parcels(part)]),
    ("refunds", "refunds", lambda refunds: [_refund(refund) for refund in refunds]),
    ("payment", "open_payment", _payment),
    ("platform_status", "platform_status", _same),
    ("failure", "failure", _failure),
    ("cancel_requested", "cancel_requested", _same),
    ("dispute", "dispute", _same),
    ("paid_outside", "paid_outside", _same),
    ("close_reason", "close_reason", _same),
    ("pay_before", "pay_before", clock.show_or_none),
)


def changes(before: Order, after: Order) -> Mapping[str, Mapping[str, object]]:
    """Return each value of the order that changed, `from` and `to`.

    The times of syncs make no change, and neither does what only follows from other values.
    """
    changed = {}
    for name, attribute, describe in _FIELDS:
        old, new = getattr(before, attribute), getattr(after, attribute)
        # Most are the same, and need no description. Equal payments may name other user agents.
        if old is new or (old == new and describe is not _payment):
            continue
        old, new = describe(old), describe(new)
        if old != new:
            changed[name] = {"from": old, "to": new}
    if before.lines is not after.lines:  # goods become known once, and lines are equal without them
        old, new = _items(before.lines), _items(after.lines)
        if old != new:
            changed["items"] = {"from": old, "to": new}
    return changed


def _items(lines: Sequence[Line]) -> object:
    return [_item(line) for line in lines]
