"""The life of an order as pure functions: an order and a time in, a changed order out."""

import random
from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from tradewind_simulator import magic, money
from tradewind_simulator.model import (
    OVER,
    Due,
    Line,
    Order,
    Parcel,
    Status,
)

_HOUR = 3_600.0
_DAY = 24 * _HOUR
_TICK = 0.001  # an order changes at strictly increasing times


class Event(StrEnum):
    """What a change is reported to the buyer as."""

    MADE = "made"
    PRICE = "price"
    PAID = "paid"
    SENT = "sent"
    PART_SENT = "part_sent"
    RECEIVED = "received"
    SUCCESS = "success"
    BUYER_CLOSED = "buyer_closed"
    SELLER_CLOSED = "seller_closed"
    SYSTEM_CLOSED = "system_closed"
    REFUND = "refund"
    REFUND_AFTER = "refund_after_sales"


class Change(Struct, frozen=True):
    """A changed order, and the event to report; None reports nothing."""

    order: Order
    event: Event | None


class StepNotPossible(Exception):
    """The order's status does not allow this step."""

    def __init__(self, order: Order, what: str) -> None:
        super().__init__(f"Order {order.id} is {order.status}: {what} is not possible now.")
        self.order = order
        self.what = what


def touched(order: Order, at: float) -> Order:
    return replace(order, changed_at=max(at, order.changed_at + _TICK))


def _need(order: Order, what: str, *allowed: Status) -> None:
    if order.status not in allowed:
        raise StepNotPossible(order, what)


def _without(order: Order, *done: str) -> tuple[Due, ...]:
    return tuple(due for due in order.due if due.what not in done)


def build(order: Order, at: float) -> Change:
    """The marketplace has created the order; now it can be paid."""
    _need(order, "build", Status.BUILDING)
    order = replace(order, status=Status.UNPAID, due=_without(order, "build"))
    return Change(touched(order, at), Event.MADE)


def pay(order: Order, at: float, magic_words: Sequence[str] = ()) -> Change:
    """Paid in full; the seller now has something to send."""
    _need(order, "pay", Status.UNPAID)
    chance = random.Random(order.id)  # noqa: S311 - how long a seller takes, not a secret
    due = [Due(at + chance.uniform(4, 28) * _HOUR, "ship")]
    if magic.SHIPS_IN_PARTS in magic_words:
        due = [Due(at + magic.SOON_SECONDS, "partial_ship"), Due(at + 2 * _HOUR, "ship")]
    if magic.SELLER_CLOSES_PAID in magic_words:
        due = [Due(at + magic.SOON_SECONDS, "close_by_seller")]
    order = replace(
        order,
        status=Status.PAID,
        paid_at=at,
        paid_fen=order.total_fen,
        paying=False,
        cancelling=False,
        pay_error="",
        due=tuple(due),
    )
    return Change(touched(order, at), Event.PAID)


def change_price(order: Order, at: float, total_fen: int, freight_fen: int | None = None) -> Change:
    """Change the total: the difference is a discount, negative for a higher price."""
    _need(order, "change_price", Status.UNPAID)
    if total_fen < 1 or (freight_fen is not None and freight_fen < 0):
        raise StepNotPossible(order, "a price below one fen")
    freight = min(order.freight_fen if freight_fen is None else freight_fen, total_fen)
    discount = order.goods_fen + freight - total_fen
    shares = money.shares(discount, [line.price_fen * line.quantity for line in order.lines])
    lines = tuple(
        replace(line, discount_fen=share) for line, share in zip(order.lines, shares, strict=True)
    )
    order = replace(
        order,
        lines=lines,
        freight_fen=freight,
        discount_fen=discount,
        price_changed=True,
        due=_without(order, "raise_price"),
    )
    return Change(touched(order, at), Event.PRICE)


def ship(order: Order, at: float, parcel: Parcel) -> Change:
    """Ship everything that is left in one parcel."""
    _need(order, "ship", Status.PAID)
    left = tuple(line.id for line in order.open_lines if line.shipped < line.quantity)
    chance = random.Random(order.id + 1)  # noqa: S311 - how long a parcel takes
    order = replace(
        order,
        status=Status.SHIPPED,
        lines=tuple(
            replace(line, shipped=line.quantity) if line.id in left else line
            for line in order.lines
        ),
        parcels=(*order.parcels, replace(parcel, at=at, lines=left)),
        shipped_at=at,
        due=(
            *_without(order, "ship", "partial_ship"),
            Due(at + chance.uniform(3, 7) * _DAY, "receive"),
        ),
    )
    return Change(touched(order, at), Event.SENT)


def partial_ship(order: Order, at: float, parcel: Parcel) -> Change:
    """Ship the first line, or half the pieces of an only line."""
    _need(order, "partial_ship", Status.PAID)
    left = [line for line in order.open_lines if line.shipped < line.quantity]
    pieces = sum(line.quantity - line.shipped for line in left)
    if pieces < 2:  # noqa: PLR2004 - nothing would be left
        raise StepNotPossible(order, "partial_ship of a single piece")
    first = left[0]
    some = (
        first.quantity
        if len(left) > 1
        else first.shipped + (first.quantity - first.shipped + 1) // 2
    )
    lines = tuple(
        replace(line, shipped=some) if line.id == first.id else line for line in order.lines
    )
    order = replace(
        order,
        lines=lines,
        parcels=(*order.parcels, replace(parcel, at=at, lines=(first.id,))),
        due=_without(order, "partial_ship"),
    )
    return Change(touched(order, at), Event.PART_SENT)


def receive(order: Order, at: float) -> Change:
    _need(order, "receive", Status.SHIPPED)
    order = replace(
        order,
        status=Status.RECEIVED,
        received_at=at,
        due=(*_without(order, "receive"), Due(at + _HOUR, "complete")),
    )
    return Change(touched(order, at), Event.RECEIVED)


def complete(order: Order, at: float) -> Change:
    _need(order, "complete", Status.RECEIVED)
    due = tuple(due for due in order.due if due.what.startswith("refund"))
    order = replace(order, status=Status.SUCCESS, over_at=at, due=due)
    return Change(touched(order, at), Event.SUCCESS)


def close_unpaid(order: Order, at: float, by: str, reason: str, event: Event) -> Change:
    """Close an unpaid order: by the buyer, the seller, or a timeout."""
    _need(order, "close", Status.UNPAID, Status.BUILDING)
    order = replace(
        order,
        status=Status.CANCELLED,
        over_at=at,
        closed_by=by,
        close_reason=reason,
        paying=False,
        cancelling=False,
        due=(),
    )
    return Change(touched(order, at), event)


def terminate(order: Order, at: float, by: str, reason: str, event: Event) -> Change:
    """Close a paid order; the caller has refunded the money."""
    if order.status in OVER or order.paid_at is None:
        raise StepNotPossible(order, "terminate")
    order = replace(
        order, status=Status.TERMINATED, over_at=at, closed_by=by, close_reason=reason, due=()
    )
    return Change(touched(order, at), event)


def line_of(order: Order, line_id: int) -> Line | None:
    return next((line for line in order.lines if line.id == line_id), None)
