"""What became of an order since a moment, in few words. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from tradewind.dashboard.shell.labels import word

# These only say again what others do, or are what somebody looks at already.
_SAID_ELSEWHERE = frozenset(
    {"payment", "payment_status", "platform_orders", "platform_status", "platform_payment_status"}
)
_NAMES: Mapping[str, str] = {
    "total_amount_cny": "total",
    "goods_amount_cny": "goods",
    "paid_amount_cny": "paid",
    "refunded_amount_cny": "refunded",
    "freight_cny": "freight",
    "discount_cny": "discount",
    "cancel_requested": "cancellation asked for",
    "pay_before": "time to pay",
    "order_id": "platform's id",
}


def told(rows: Iterable[Any]) -> list[str]:
    """One short line for each field that is not as it was; of several changes, first and last."""
    first: dict[str, Any] = {}
    last: dict[str, Any] = {}
    for row in rows:
        for field, change in _fields(row["changes"]):
            first.setdefault(field, change.get("from"))
            last[field] = change.get("to")
    return [
        _line(field, first[field], last[field]) for field in last if first[field] != last[field]
    ]


def _fields(changes: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    read = msgspec.json.decode(changes) if isinstance(changes, str | bytes) else changes
    for field, change in read.items():
        if field not in _SAID_ELSEWHERE and isinstance(change, Mapping):
            yield field, change


def _line(field: str, before: Any, after: Any) -> str:
    name = _NAMES.get(field, field.replace("_", " "))
    if field.endswith("_cny"):
        return f"{name} {_yuan(before)} → {_yuan(after)}"
    if field in {"status", "order_id"} and before is None:
        return f"{name} {word(after) if field == 'status' else after}"
    if isinstance(after, bool):
        return name if after else f"{name}: no longer"
    if field in {"status", "close_reason"}:
        return f"{name} {word(before)} → {word(after)}"
    return f"{name} changed"


def _yuan(cny: float | None) -> str:
    return "—" if cny is None else f"¥{cny:,.2f}"
