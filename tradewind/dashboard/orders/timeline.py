"""The story of an order: every change as a title and a few lines that people can read. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from tradewind.dashboard.shell import labels
from tradewind.dashboard.shell.flash import Tone
from tradewind.orders.wire import ChangeOut

_TITLES: Mapping[str, str] = {
    "accepted": "Order accepted",
    "create": "Placed at the marketplace",
    "sync": "News from the marketplace",
    "pay": "Payment",
    "cancel": "Cancellation",
    "cancel_refused": "The marketplace refused to cancel",
    "payment_requested": "Payment requested",
    "payment_withdrawn": "Payment request withdrawn",
    "payment_approved": "Payment approved",
    "payment_rejected": "Payment rejected",
    "refund_requested": "Refund asked for",
    "refund_accepted": "The marketplace took the wish for a refund",
    "refund_refused": "The marketplace refused the refund",
}
_LABELS: Mapping[str, str] = {
    "status": "Status",
    "payment_status": "Payment",
    "platform_payment_status": "Payment there",
    "platform_status": "Its own word",
    "order_id": "Order id there",
    "total_amount_cny": "Total",
    "goods_amount_cny": "Goods",
    "freight_cny": "Freight",
    "discount_cny": "Discount",
    "paid_amount_cny": "Paid",
    "refunded_amount_cny": "Refunded",
    "pay_before": "To be paid by",
    "close_reason": "Closed by",
}
_YES: Mapping[str, tuple[str, str]] = {
    "cancel_requested": ("It is to be cancelled.", "It is no longer to be cancelled."),
    "dispute": ("A dispute was opened.", "The dispute is over."),
    "paid_outside": ("It was paid outside, without an approval.", "It was not paid outside."),
}
_STATES = ("status", "payment_status")
# Said by the lines of its parts, or too long for a line.
_UNSAID = frozenset({"platform_orders", "items", "metadata"})


@dataclass(frozen=True, slots=True)
class Line:
    """What changed: `before` and `after` where a value did, `text` where a sentence says it."""

    label: str = ""
    before: str = ""
    after: str = ""
    text: str = ""
    code: str = ""
    moment: str = ""


@dataclass(frozen=True, slots=True)
class Told:
    """An event about a change: its id, its kind, and what became of it at each webhook."""

    id: str
    kind: str
    deliveries: Sequence[Any]


@dataclass(frozen=True, slots=True)
class Entry:
    """One change."""

    version: int
    at: str
    title: str
    tone: Tone
    by: str
    lines: Sequence[Line]
    told: Sequence[Told]


def entry(change: ChangeOut, told: Sequence[Told]) -> Entry:
    """A change of the API's timeline, for people."""
    return Entry(
        version=change.version,
        at=change.at,
        title=_title(change),
        tone=_tone(change),
        by=change.by.email if change.by else "",
        lines=list(_lines(change.changes)) or _details(change),
        told=told,
    )


def _details(change: ChangeOut) -> Sequence[Line]:
    """For a change that no line is about: what it was in."""
    return [Line(text="Details of it changed at the marketplace.")] if change.changes else []


def _title(change: ChangeOut) -> str:
    became = _became(change, "status")
    if change.cause == "create" and became == "create_failed":
        return "The marketplace refused the order"
    if change.cause == "cancel" and became == "cancelled":
        return "Cancelled"
    if change.cause == "cancel" and _became(change, "cancel_requested"):
        return "Cancellation asked for"
    if change.cause in {"sync", "pay"}:
        parcels = change.changes.get("shipments")
        if parcels and len(parcels["to"]) > len(parcels["from"]):
            return "Shipped" if became != "partially_shipped" else "Partly shipped"
        state = became or _became(change, "payment_status")
        if state:
            return f"{_TITLES[change.cause]}: {labels.word(state)}"
    return _TITLES.get(change.cause, labels.word(change.cause).capitalize())


def _tone(change: ChangeOut) -> Tone:
    tones = [labels.tone(_became(change, name)) for name in _STATES if _became(change, name)]
    if change.cause in {"cancel_refused", "refund_refused"} or "bad" in tones:
        return "bad"
    return tones[0] if tones else "plain"


def _became(change: ChangeOut, name: str) -> Any:
    return change.changes.get(name, {}).get("to")


def _lines(changes: Mapping[str, Any]) -> Iterator[Line]:
    """States first, then money, then everything else."""
    ordered = [*(name for name in _LABELS if name in changes), *changes]
    for name in dict.fromkeys(ordered):
        before, after = changes[name].get("from"), changes[name].get("to")
        if name == "shipments":
            yield from _parcels(before or [], after or [])
        elif name == "refunds":
            yield from _refunds(before or [], after or [])
        elif name == "payment":
            yield from _payment(before, after)
        elif name == "failure":
            yield Line(text=after["message"] if after else "The failure was taken back.")
        elif name in _YES:
            yield Line(text=_YES[name][0 if after else 1])
        elif name not in _UNSAID and not (name == "pay_before" and after is None):
            code = str(after) if name in _STATES else ""
            moment = str(after) if name == "pay_before" and after else ""
            was = "—" if moment else _shown(name, before)
            yield Line(_label(name), was, _shown(name, after), code=code, moment=moment)


def _label(name: str) -> str:
    return _LABELS.get(name, labels.word(name).capitalize())


def _shown(name: str, value: Any) -> str:
    if value is None:
        return "—"
    if name.endswith("_cny"):
        return f"¥{value:,.2f}"
    if name.endswith("status") and name != "platform_status":
        return labels.word(value)
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _parcels(before: Sequence[Any], after: Sequence[Any]) -> Iterator[Line]:
    for parcel in after:
        if parcel not in before:
            carrier, number = parcel["carrier"] or "no carrier named", parcel["tracking_number"]
            yield Line(text=f"Parcel: {carrier}, {number or 'no tracking number yet'}")


def _refunds(before: Sequence[Any], after: Sequence[Any]) -> Iterator[Line]:
    old = {one["id"]: one for one in before}
    for one in after:
        was = old.pop(one["id"], None)
        amount = f"Refund of ¥{one['amount_cny'] + one['freight_cny']:,.2f}"
        if was is None:
            yield Line(text=f"{amount}: {labels.word(one['status'])}")
        elif was["status"] != one["status"]:
            yield Line(amount, labels.word(was["status"]), labels.word(one["status"]))
        elif was.get("platform_refund_id") != one.get("platform_refund_id"):
            yield Line(text=f"{amount}: it is {one['platform_refund_id']} there")
    for one in old.values():
        yield Line(text=f"Refund of ¥{one['amount_cny'] + one['freight_cny']:,.2f}: not taken")


def _payment(before: Any, after: Any) -> Iterator[Line]:
    if after is None:
        return
    if before is None or before["id"] != after["id"]:
        yield Line(text=f"Payment of ¥{after['amount_cny']:,.2f} ({labels.word(after['mode'])})")
    elif before["pay_url"] != after["pay_url"]:
        yield Line(text="The link to pay by was made.")
    if after["failure"]:
        yield Line(text=after["failure"]["message"])
