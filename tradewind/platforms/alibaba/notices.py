"""Notices of 1688: a signed form that names orders to read again."""

import hmac
from collections.abc import Iterator
from urllib.parse import parse_qsl

from tradewind.platforms.alibaba import gateway, values
from tradewind.platforms.contract import NoticeRejected
from tradewind.platforms.failures import UnreadableResponse
from tradewind.platforms.model import Notice, NoticeSubject

_MOST_FIELDS = 20
_MOST_ORDERS = 100
_LONGEST_ID = 64
_SUBJECTS = {
    "ORDER_BUYER_VIEW_BUYER_MAKE": NoticeSubject.CREATED,
    "ORDER_BUYER_VIEW_ORDER_PAY": NoticeSubject.PAID,
}
# The fields that name orders: at the top, in ORDER_BATCH_PAY's `batchPay`, in a parcel's list.
_ORDER_ID_FIELDS = frozenset({"orderid", "orderids", "orderidlist", "tradeid"})


def read(secret: str, body: bytes) -> Notice:
    """Verify and read a notice; NoticeRejected if its signature is wrong."""
    form = _form(body)
    signature = form.get(gateway.SIGNATURE, "").upper().encode()
    expected = gateway.sign_notice(secret, form).encode()
    if not secret or not hmac.compare_digest(signature, expected):
        raise NoticeRejected("The notice is not signed with our application's secret.")
    try:
        message = values.decode(form.get("message", "").encode())
        kind = values.need(message.get("type"), "type")
        return Notice(
            id=values.need(message.get("msgId"), "msgId")[:_LONGEST_ID],
            kind=kind,
            order_ids=tuple(dict.fromkeys(_order_ids(message.get("data"))))[:_MOST_ORDERS],
            subject=_SUBJECTS.get(kind, NoticeSubject.OTHER),
        )
    except (UnreadableResponse, RecursionError):
        raise NoticeRejected("The notice is signed, but unreadable.") from None


def _form(body: bytes) -> dict[str, str]:
    """Read the form; a field that is there twice could be read by us and not be the signed copy."""
    try:
        fields = parse_qsl(
            body.decode(), keep_blank_values=True, max_num_fields=_MOST_FIELDS, errors="strict"
        )
    except ValueError:
        raise NoticeRejected("The notice is not a form.") from None
    form = dict(fields)
    if len(form) != len(fields):
        raise NoticeRejected("The notice has a field twice.")
    return form


def _order_ids(data: object) -> Iterator[str]:
    if isinstance(data, list):
        for element in data:
            yield from _order_ids(element)
    elif isinstance(data, dict):
        for name, value in data.items():
            if name.lower() in _ORDER_ID_FIELDS:
                yield from _ids_in(value)
            else:
                yield from _order_ids(value)


def _ids_in(value: object) -> Iterator[str]:
    """Yield the ids in a value: a single id, a list, or several in a string."""
    for element in value if isinstance(value, list) else [value]:
        for part in (values.text(element) or "").replace(";", ",").split(","):
            if part.strip().isdecimal() and len(part.strip()) < _LONGEST_ID:
                yield part.strip()
