"""Pushes of 1688: a signed form that names orders to look at again."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qsl

from tradewind.platforms.alibaba import gateway, values
from tradewind.platforms.contract import NoticeRejected
from tradewind.platforms.failures import UnreadableResponse
from tradewind.platforms.model import Notice

_MOST_FIELDS = 20
_MOST_ORDERS = 100
_LONGEST_ID = 64
# Where topics name their orders: on their own, in ORDER_BATCH_PAY's `batchPay`, in a parcel's list.
_NAMES = frozenset({"orderid", "orderids", "orderidlist", "tradeid"})


def read(secret: str, body: bytes) -> Notice:
    """What the push says, once its signature is right; NoticeRefused otherwise."""
    form = _form(body)
    given = form.get(gateway.SIGNATURE, "")
    if not secret or not gateway.same_signature(given.upper(), gateway.sign_push(secret, form)):
        raise NoticeRejected("The push is not signed with our application's secret.")
    try:
        message = values.decode(form.get("message", "").encode())
        found = dict.fromkeys(_order_ids(message.get("data")))
        return Notice(
            id=values.need(message.get("msgId"), "msgId")[:_LONGEST_ID],
            kind=values.need(message.get("type"), "type"),
            order_ids=tuple(found)[:_MOST_ORDERS],
        )
    except (UnreadableResponse, RecursionError):
        raise NoticeRejected("The push is signed, but nobody can read it.") from None


def _form(body: bytes) -> dict[str, str]:
    """Each field once: a second `message` could be read by us and not be the one signed."""
    try:
        fields = parse_qsl(
            body.decode(), keep_blank_values=True, max_num_fields=_MOST_FIELDS, errors="strict"
        )
    except ValueError:
        raise NoticeRejected("The push is not a form.") from None
    form = dict(fields)
    if len(form) != len(fields):
        raise NoticeRejected("The push has a field twice.")
    return form


def _order_ids(data: Any) -> Iterator[str]:
    if isinstance(data, list):
        for one in data:
            yield from _order_ids(one)
    elif isinstance(data, dict):
        for name, value in data.items():
            if name.lower() in _NAMES:
                yield from _named(value)
            else:
                yield from _order_ids(value)


def _named(value: Any) -> Iterator[str]:
    """One id, a list of them, or several in one string."""
    for one in value if isinstance(value, list) else [value]:
        for part in (values.text(one) or "").replace(";", ",").split(","):
            if part.strip().isdecimal() and len(part.strip()) < _LONGEST_ID:
                yield part.strip()
