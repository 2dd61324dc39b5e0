"""The timeline of an order: how each of its values is described, and what counts as a change. Pure.

The descriptions are stored. They have the names and formats of the API, but do not depend on it: a
field that the API adds or shows in another way makes no change.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from operator import attrgetter

from tradewind import clock, ids, money
from tradewind.orders.model import Order
from tradewind.orders.payments.model import Failure, OrderRefund, PaymentRequest
from tradewind.orders.person import Person
from tradewind.orders.shipments import pieces_per_parcel
from tradewind.platforms.model import Goods, Line, PlatformOrder


def _amount(name: str) -> Callable[[Order], object]:
    return lambda order: money.show_or_none(getattr(order, name))


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


_FIELDS: Mapping[str, Callable[[Order], object]] = {
    "order_id": attrgetter("order_id"),
    "status": attrgetter("status"),
    "payment_status": attrgetter("payment_status"),
    "platform_payment_status": attrgetter("platform_payment_status"),
    "total_amount_cny": _amount("total_fen"),
    "goods_amount_cny": _amount("goods_fen"),
    "freight_cny": _amount("freight_fen"),
    "discount_cny": _amount("discount_fen"),
    "paid_amount_cny": _amount("paid_fen"),
    "refunded_amount_cny": _amount("refunded_fen"),
    "platform_orders": lambda order: [_part(part) for part in order.parts],
    "shipments": lambda order: [parcel for part in order.parts for parcel in _parcels(part)],
    "refunds": lambda order: [_refund(refund) for refund in order.refunds],
    "payment": lambda order: _payment(order.open_payment),
    "platform_status": attrgetter("platform_status"),
    "failure": lambda order: _failure(order.failure),
    "cancel_requested": attrgetter("cancel_requested"),
    "dispute": attrgetter("dispute"),
    "paid_outside": attrgetter("paid_outside"),
    "close_reason": attrgetter("close_reason"),
    "pay_before": lambda order: clock.show_or_none(order.pay_before),
}
# Goods become known once. No other step describes them.
_GOODS: Mapping[str, Callable[[Order], object]] = {
    "items": lambda order: [_item(line) for line in order.lines],
}


def changes(before: Order, after: Order) -> Mapping[str, Mapping[str, object]]:
    """Return each value of the order that changed, `from` and `to`.

    The times of syncs make no change, and neither does what only follows from other values.
    """
    goods = {} if before.lines is after.lines else _GOODS
    return {
        name: {"from": old, "to": new}
        for name, describe in {**_FIELDS, **goods}.items()
        if (old := describe(before)) != (new := describe(after))
    }
