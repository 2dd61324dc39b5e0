"""Results of tools: the few fields that an agent needs, cut to size, as text and as data. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Json = Mapping[str, Any]

LONGEST_TEXT = 300
MOST_ROWS = 20
MOST_SKUS = 50
_LONGEST_RESULT = 24_000
_ELLIPSIS = "…"


def cut(value: Any, longest: int = LONGEST_TEXT) -> Any:
    """A text in one line and at most this long; any other value as it is."""
    if not isinstance(value, str):
        return value
    line = " ".join("".join(c if c.isprintable() else " " for c in value).split())
    return line if len(line) <= longest else line[: longest - 1] + _ELLIPSIS


def pick(source: Json, *names: str) -> dict[str, Any]:
    """These fields of an object, with texts cut; a missing one is None."""
    return {name: cut(source.get(name)) for name in names}


def lines(rows: Iterable[Json]) -> str:
    """A line for each row: `field=value` of what is known."""
    return "\n".join(
        " ".join(f"{name}={_word(value)}" for name, value in row.items() if value not in (None, []))
        for row in rows
    )


def bounded(text: str) -> str:
    return text if len(text) <= _LONGEST_RESULT else text[:_LONGEST_RESULT] + "\n(cut off)"


def product(source: Json) -> dict[str, Any]:
    seller = source.get("seller") or {}
    return {
        **pick(source, "id", "platform", "title_translated", "title", "price_cny", "price_max_cny"),
        **pick(source, "min_order_quantity", "sold", "url"),
        "seller": cut(seller.get("name")),
    }


def product_details(source: Json) -> dict[str, Any]:
    """A product with its variants; its description and pictures are left out."""
    skus = source.get("skus") or []
    return {
        **product(source),
        "stock": source.get("stock"),
        "price_ranges": list(source.get("price_ranges") or [])[:MOST_ROWS],
        "skus": [
            {
                **pick(sku, "id", "price_cny", "stock"),
                "attributes": _pairs(sku.get("attributes") or {}),
            }
            for sku in skus[:MOST_SKUS]
        ],
        "skus_left_out": max(0, len(skus) - MOST_SKUS),
    }


def order(source: Json) -> dict[str, Any]:
    payment = source.get("payment")
    items: Sequence[Json] = source.get("items") or []
    shipments: Sequence[Json] = source.get("shipments") or []
    return {
        **pick(source, "id", "platform", "order_id", "status", "payment_status", "waiting_for"),
        **pick(source, "total_amount_cny", "external_id", "created_at", "updated_at", "pay_before"),
        "failure": source.get("failure") and cut(source["failure"].get("message")),
        "payment": payment and payment_request(payment),
        "items": [
            pick(item, "product_id", "sku_id", "quantity", "title_translated", "unit_price_cny")
            for item in items[:MOST_ROWS]
        ],
        "shipments": [
            pick(shipment, "carrier", "tracking_number", "shipped_at")
            for shipment in shipments[:MOST_ROWS]
        ],
    }


def order_line(source: Json) -> dict[str, Any]:
    """An order in a list."""
    whole = order(source)
    for name in ("items", "shipments", "payment"):
        del whole[name]
    return whole


def payment_request(source: Json) -> dict[str, Any]:
    """A payment request. The URL at which a person pays is left out."""
    by, decided_by = source.get("requested_by") or {}, source.get("decided_by") or {}
    return {
        **pick(source, "id", "status", "amount_cny", "requested_at", "note", "decided_at"),
        "requested_by": by.get("email"),
        "agent": by.get("agent"),
        "decided_by": decided_by.get("email"),
        "reason": cut(source.get("reason")),
    }


def address(source: Json) -> dict[str, Any]:
    """An address to choose by: without its phone number and street."""
    return pick(source, "id", "label", "name", "province", "city", "district", "is_default")


def preview(source: Json) -> dict[str, Any]:
    return {
        "total_amount_cny": source.get("total_amount_cny"),
        "sellers": [
            pick(part, "id", "goods_amount_cny", "freight_cny", "discount_cny", "total_amount_cny")
            for part in (source.get("sellers") or [])[:MOST_ROWS]
        ],
        "unavailable_items": [
            pick(item, "product_id", "sku_id", "reason")
            for item in (source.get("unavailable_items") or [])[:MOST_ROWS]
        ],
    }


def change(source: Json) -> dict[str, Any]:
    by = source.get("by") or {}
    moves = {
        name: f"{_word(move.get('from'))} → {_word(move.get('to'))}"
        for name, move in (source.get("changes") or {}).items()
        if not isinstance(move.get("to"), dict | list)
    }
    return {**pick(source, "at", "cause"), "by": by.get("email"), "agent": by.get("agent"), **moves}


def event(source: Json) -> dict[str, Any]:
    news = source["data"]["order"]
    return {
        **pick(source, "id", "event", "created_at"),
        "order": news["id"],
        **pick(news, "status", "payment_status", "total_amount_cny"),
    }


def explanation(source: Json) -> dict[str, Any]:
    return {
        **pick(source, "event_id", "verdict"),
        "explanation": cut(source.get("explanation"), 1000),
        "attempts": [
            {
                **pick(attempt, "id", "attempt", "outcome", "status_code", "started_at"),
                "error": attempt.get("error") and cut(attempt["error"].get("message")),
                "next_attempt_at": attempt.get("next_attempt_at"),
            }
            for attempt in (source.get("attempts") or [])[:MOST_ROWS]
        ],
    }


def _pairs(attributes: Json) -> str:
    return str(cut(", ".join(f"{name}: {value}" for name, value in attributes.items())))


def _word(value: Any) -> str:
    if isinstance(value, str) and " " not in value and value:
        return value
    if isinstance(value, dict):
        inner = ", ".join(f"{k}: {_word(v)}" for k, v in value.items() if v not in (None, []))
        return f"{{{inner}}}"
    if isinstance(value, list):
        return "[" + "; ".join(_word(item) for item in value) + "]"
    return repr(value) if isinstance(value, str) else str(value)
