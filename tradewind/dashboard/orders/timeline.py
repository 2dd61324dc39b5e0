"""The timeline of an order: each change as a title and lines that people can read. Pure."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import msgspec

from tradewind.dashboard.orders.goods import titled_variant
from tradewind.dashboard.orders.queries import EventDelivery
from tradewind.dashboard.shell import labels
from tradewind.dashboard.shell.labels import Tone, yuan
from tradewind.orders.person import Person
from tradewind.orders.sql_lists import OrderChange
from tradewind.platforms.model import Line

# Each field that changed, with its value `from` and `to`.
Changes = Mapping[str, Mapping[str, object]]

_TITLES: Mapping[str, str] = {
    "accepted": "Order accepted",
    "create": "Created at marketplace",
    "sync": "Synced from marketplace",
    "pay": "Payment",
    "cancel": "Cancellation",
    "cancel_refused": "Cancellation rejected by marketplace",
    "payment_withdrawn": "Payment request withdrawn",
    "refund_accepted": "Refund requested at marketplace",
    "refund_refused": "Refund rejected by marketplace",
}
_LABELS: Mapping[str, str] = {
    "status": "Status",
    "payment_status": "Payment",
    "platform_payment_status": "Marketplace payment",
    "platform_status": "Marketplace status",
    "order_id": "Marketplace order ID",
    "total_amount_cny": "Total",
    "goods_amount_cny": "Goods",
    "freight_cny": "Freight",
    "discount_cny": "Discount",
    "paid_amount_cny": "Paid",
    "refunded_amount_cny": "Refunded",
    "pay_before": "Pay by",
    "close_reason": "Closed by",
}
_FLAGS: Mapping[str, tuple[str, str]] = {
    "cancel_requested": ("Cancellation requested.", "Cancellation no longer requested."),
    "dispute": ("Dispute opened.", "Dispute closed."),
    "paid_outside": ("Paid at the marketplace, without an approval.", "Not paid outside."),
}
_STATUSES = ("status", "payment_status")
# Other lines cover these, or they are too long for a line.
_WITHOUT_LINE = frozenset({"platform_orders", "items", "metadata"})
# An entry names so many goods, and counts the others.
_MOST_GOODS = 5
# The state of a delivery in a summary, in the order in which the summary lists them.
_DELIVERY_STATES: Mapping[str, str] = {
    "delivered": "delivered",
    "under_way": "in progress",
    "waiting": "queued",
    "retrying": "retrying",
    "failed": "failed",
    "cancelled": "not sent",
}
# An approver sees these elsewhere on the page.
_NOT_SUMMARISED = frozenset(
    {"payment", "payment_status", "platform_status", "platform_payment_status"}
)


class _ParcelItem(msgspec.Struct, frozen=True):
    product_id: str = ""
    sku_id: str | None = None
    quantity: int | None = None


class _Parcel(msgspec.Struct, frozen=True):
    carrier: str | None = None
    tracking_number: str | None = None
    items: list[_ParcelItem] = []


class _Refund(msgspec.Struct, frozen=True):
    id: str
    amount_cny: float
    freight_cny: float
    status: str
    platform_refund_id: str | None = None


class _Failure(msgspec.Struct, frozen=True):
    message: str


class _Payment(msgspec.Struct, frozen=True):
    id: str
    amount_cny: float
    mode: str
    pay_url: str | None = None
    failure: _Failure | None = None


@dataclass(frozen=True, slots=True)
class TimelineLine:
    """One changed value: `before` and `after`, or a `text`.

    `status` is the code of a status, which is shown as a badge; `time` is an ISO time.
    """

    label: str = ""
    before: str = ""
    after: str = ""
    text: str = ""
    status: str = ""
    time: str = ""

    def __str__(self) -> str:
        if self.text:
            return self.text
        before = "" if self.before in {"", "—"} else f"{self.before} → "
        return f"{self.label}: {before}{self.after}"


@dataclass(frozen=True, slots=True)
class TimelineEvent:
    """An event of a change, with its delivery to each webhook."""

    id: str
    type: str
    deliveries: Sequence[EventDelivery]


@dataclass(frozen=True, slots=True)
class TimelineEntry:
    """One change of an order."""

    at: datetime
    title: str
    tone: Tone
    actor: str
    lines: Sequence[TimelineLine]
    events: Sequence[TimelineEvent]

    @property
    def delivery_summary(self) -> str:
        """What became of its events: `3 webhooks: 2 delivered, 1 retrying`."""
        deliveries = [delivery for event in self.events for delivery in event.deliveries]
        if not deliveries:
            return "Not delivered to any current webhook"
        webhooks = len({delivery.webhook_id for delivery in deliveries})
        receivers = "1 webhook" if webhooks == 1 else f"{webhooks} webhooks"
        if len(self.events) > 1:
            receivers = f"{len(self.events)} events to {receivers}"
        states = Counter(map(_delivery_state, deliveries))
        counted = ", ".join(
            words if len(deliveries) == 1 else f"{states[state]} {words}"
            for state, words in _DELIVERY_STATES.items()
            if states[state]
        )
        return f"{receivers}: {counted}"

    @property
    def delivery_tone(self) -> Tone:
        """The worst of its deliveries."""
        tones = {
            labels.tone(delivery.state) for event in self.events for delivery in event.deliveries
        }
        worst: Sequence[Tone] = ("bad", "waiting", "good")
        return next((tone for tone in worst if tone in tones), "plain")


def _delivery_state(delivery: EventDelivery) -> str:
    is_retry = delivery.state == "waiting" and delivery.attempt > 1
    return "retrying" if is_retry else delivery.state


def timeline_entry(
    change: OrderChange, events: Sequence[TimelineEvent] = (), goods: Sequence[Line] = ()
) -> TimelineEntry:
    """A change for people; `goods` are the lines of the order."""
    lines = list(_lines(change.changes, goods))
    if change.cause.name == "accepted" or "items" in change.changes:
        lines = [*_goods_lines(goods), *lines]
    if change.changes and not lines:
        lines = [TimelineLine(text="Details changed at the marketplace.")]
    return TimelineEntry(
        at=change.at,
        title=_title(change),
        tone=_tone(change),
        actor=_actor(change.cause.by),
        lines=lines,
        events=events,
    )


def _actor(person: Person | None) -> str:
    if person is None:
        return ""
    return f"{person.email} (agent {person.agent})" if person.agent else person.email


def summary(changes: Iterable[Changes]) -> Sequence[TimelineLine]:
    """Several changes as one: the first and the last value of each field that differs."""
    merged: dict[str, Mapping[str, object]] = {}
    for change in changes:
        for name, value in change.items():
            first = merged.get(name, value)
            merged[name] = {"from": first.get("from"), "to": value.get("to")}
    return list(
        _lines(
            {
                name: value
                for name, value in merged.items()
                if name not in _NOT_SUMMARISED and value["from"] != value["to"]
            }
        )
    )


def _title(change: OrderChange) -> str:
    status = _after(change, "status")
    if change.cause.name == "create" and status == "create_failed":
        return "Rejected by marketplace"
    if change.cause.name == "cancel" and status == "cancelled":
        return "Cancelled"
    if change.cause.name == "cancel" and _after(change, "cancel_requested"):
        return "Cancellation requested"
    if change.cause.name in {"sync", "pay"}:
        before, after = _values(change.changes, "shipments")
        if len(_parcels(after)) > len(_parcels(before)):
            return "Partially shipped" if status == "partially_shipped" else "Shipped"
        state = status or _after(change, "payment_status")
        if state:
            return f"{_TITLES[change.cause.name]}: {labels.label(state).lower()}"
    return _TITLES.get(change.cause.name, labels.label(change.cause.name))


def _tone(change: OrderChange) -> Tone:
    tones = [labels.tone(_after(change, name)) for name in _STATUSES if _after(change, name)]
    if change.cause.name in {"cancel_refused", "refund_refused"} or "bad" in tones:
        return "bad"
    return tones[0] if tones else "plain"


def _after(change: OrderChange, name: str) -> object:
    return _values(change.changes, name)[1]


def _values(changes: Changes, name: str) -> tuple[object, object]:
    change = changes.get(name, {})
    return change.get("from"), change.get("to")


def _goods_lines(goods: Sequence[Line]) -> Iterator[TimelineLine]:
    """What was ordered, a line for each of the first goods."""
    for line in goods[:_MOST_GOODS]:
        yield TimelineLine(text=_pieces(line.quantity, line))
    if len(goods) > _MOST_GOODS:
        yield TimelineLine(text=f"and {len(goods) - _MOST_GOODS:,} more")


def _pieces(quantity: int | None, line: Line) -> str:
    """How many of a line, its title and its variant."""
    named = titled_variant(line)
    return named if quantity is None else f"{quantity:,} \u00d7 {named}"


def _lines(changes: Changes, goods: Sequence[Line] = ()) -> Iterator[TimelineLine]:
    """Statuses first, then amounts, then the rest."""
    ordered = [*(name for name in _LABELS if name in changes), *changes]
    for name in dict.fromkeys(ordered):
        before, after = _values(changes, name)
        if name == "shipments":
            yield from _parcel_lines(before, after, goods)
        elif name == "refunds":
            yield from _refund_lines(before, after)
        elif name == "payment":
            yield from _payment_lines(before, after)
        elif name == "failure":
            failure = msgspec.convert(after, _Failure | None)
            yield TimelineLine(text=failure.message if failure else "The failure was cleared.")
        elif name in _FLAGS:
            yield TimelineLine(text=_FLAGS[name][0 if after else 1])
        elif name == "pay_before":
            if after:
                yield TimelineLine(_LABELS[name], "—", str(after), time=str(after))
        elif name not in _WITHOUT_LINE:
            label = _LABELS.get(name) or labels.label(name)
            status = str(after) if name in _STATUSES else ""
            yield TimelineLine(label, _show(name, before), _show(name, after), status=status)


def _show(name: str, value: object) -> str:
    if value is None:
        return "—"
    if name.endswith("_cny") and isinstance(value, int | float):
        return yuan(value)
    if name == "close_reason" or (name.endswith("status") and name != "platform_status"):
        return labels.label(value)
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _parcels(value: object) -> list[_Parcel]:
    return msgspec.convert(value or [], list[_Parcel])


def _parcel_lines(before: object, after: object, goods: Sequence[Line]) -> Iterator[TimelineLine]:
    earlier = {(parcel.carrier, parcel.tracking_number) for parcel in _parcels(before)}
    for parcel in _parcels(after):
        if (parcel.carrier, parcel.tracking_number) not in earlier:
            carrier = parcel.carrier or "unknown carrier"
            number = parcel.tracking_number or "no tracking number yet"
            yield TimelineLine(text=f"Parcel: {carrier}, {number}")
            # Where it holds all goods of the order, the entry of the order has named them.
            if len(goods) > 1:
                yield from _parcel_goods(parcel, goods)


def _parcel_goods(parcel: _Parcel, goods: Sequence[Line]) -> Iterator[TimelineLine]:
    by_variant = {(line.product_id, line.sku_id): line for line in goods}
    for item in parcel.items[:_MOST_GOODS]:
        line = by_variant.get((item.product_id, item.sku_id))
        if line is not None:
            yield TimelineLine(text=_pieces(item.quantity, line))


def _refund_lines(before: object, after: object) -> Iterator[TimelineLine]:
    earlier = {refund.id: refund for refund in msgspec.convert(before or [], list[_Refund])}
    for refund in msgspec.convert(after or [], list[_Refund]):
        previous = earlier.pop(refund.id, None)
        amount = _refund_amount(refund)
        if previous is None:
            yield TimelineLine(text=f"{amount}: {labels.label(refund.status).lower()}")
        elif previous.status != refund.status:
            yield TimelineLine(amount, labels.label(previous.status), labels.label(refund.status))
        elif previous.platform_refund_id != refund.platform_refund_id:
            yield TimelineLine(text=f"{amount}: marketplace refund ID {refund.platform_refund_id}")
    for refund in earlier.values():
        yield TimelineLine(text=f"{_refund_amount(refund)}: rejected")


def _refund_amount(refund: _Refund) -> str:
    return f"Refund of {yuan(refund.amount_cny + refund.freight_cny)}"


def _payment_lines(before: object, after: object) -> Iterator[TimelineLine]:
    previous = msgspec.convert(before, _Payment | None)
    payment = msgspec.convert(after, _Payment | None)
    if payment is None:
        return
    if previous is None or previous.id != payment.id:
        mode = labels.label(payment.mode).lower()
        yield TimelineLine(text=f"Payment of {yuan(payment.amount_cny)} ({mode})")
    elif previous.pay_url != payment.pay_url:
        yield TimelineLine(text="Payment link created.")
    if payment.failure:
        yield TimelineLine(text=payment.failure.message)
