"""The timeline of an order: which values count as a change, and how a change is written. Pure."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import msgspec

from tradewind import clock, money
from tradewind.orders import wire
from tradewind.orders.model import Order
from tradewind.orders.payments.wire import FailureOut, PaymentOut, RefundOut
from tradewind.orders.shipments import pieces_per_parcel


@dataclass(frozen=True, slots=True)
class _Field:
    """A field of the timeline: the value that is compared, and how it is written."""

    value: Callable[[Order], object]
    show: Callable[[Order], object]


def _plain(value: Callable[[Order], object]) -> _Field:
    return _Field(value, value)


def _amount(fen: Callable[[Order], int | None]) -> _Field:
    return _Field(fen, lambda order: money.show_or_none(fen(order)))


def _parcels(order: Order) -> object:
    return [
        (
            part.id,
            parcel,
            [
                (item.product_id, item.sku_id, pieces[item.id])
                for item in part.items
                if item.id in parcel.item_ids
            ],
        )
        for part in order.parts
        for pieces in [pieces_per_parcel(part)]
        for parcel in part.shipments
    ]


_FIELDS: Mapping[str, _Field] = {
    "order_id": _plain(lambda order: order.order_id),
    "status": _plain(lambda order: order.status),
    "payment_status": _plain(lambda order: order.payment_status),
    "platform_payment_status": _plain(lambda order: order.platform_payment_status),
    "total_amount_cny": _amount(lambda order: order.total_fen),
    "goods_amount_cny": _amount(lambda order: order.goods_fen),
    "freight_cny": _amount(lambda order: order.freight_fen),
    "discount_cny": _amount(lambda order: order.discount_fen),
    "paid_amount_cny": _amount(lambda order: order.paid_fen),
    "refunded_amount_cny": _amount(lambda order: order.refunded_fen),
    "platform_orders": _Field(
        lambda order: [
            (part.id, part.status, part.raw_status, part.payment, part.total_fen, part.refunded_fen)
            for part in order.parts
        ],
        lambda order: [wire.PlatformOrderOut.of(part) for part in order.parts],
    ),
    "shipments": _Field(_parcels, wire.shipments_of),
    "refunds": _Field(
        lambda order: [replace(refund, raw_status=None) for refund in order.refunds],
        lambda order: [RefundOut.of(refund) for refund in order.refunds],
    ),
    "payment": _Field(
        lambda order: order.open_payment, lambda order: PaymentOut.or_none(order.open_payment)
    ),
    "platform_status": _plain(lambda order: order.platform_status),
    "failure": _Field(lambda order: order.failure, lambda order: FailureOut.of(order.failure)),
    "cancel_requested": _plain(lambda order: order.cancel_requested),
    "dispute": _plain(lambda order: order.dispute),
    "paid_outside": _plain(lambda order: order.paid_outside),
    "close_reason": _plain(lambda order: order.close_reason),
    "pay_before": _Field(
        lambda order: order.pay_before, lambda order: clock.show_or_none(order.pay_before)
    ),
}


def changes(before: Order, after: Order) -> Mapping[str, Mapping[str, object]]:
    """Return each field of the order that changed, `from` and `to` as the API shows them.

    Only values of the order are compared. How the API shows them makes no change, and neither do
    the times of syncs, nor what only follows from other fields.
    """
    return {
        name: {
            "from": msgspec.to_builtins(field.show(before)),
            "to": msgspec.to_builtins(field.show(after)),
        }
        for name, field in _FIELDS.items()
        if field.value(before) != field.value(after)
    }
