"""Pushes: whether they come from the marketplace, and which orders they are about."""

import hashlib
import hmac
from collections.abc import Mapping

from tradewind.platforms.contract import NoticeRejected
from tradewind.platforms.failures import UnreadableResponse
from tradewind.platforms.model import Notice
from tradewind.platforms.taobao.gateway import sign_push
from tradewind.platforms.taobao.values import Json, decode, identity, record, text, values

_KINDS = {"3": "order_status", "8": "price_change", "9": "refund"}
# What the data of a message names its order by is not documented; these are the names in use.
_ONE = ("purchase_id", "purchase_order_id", "purchaseId", "purchaseOrderId")
_SEVERAL = ("purchase_ids", "purchase_order_ids", "purchaseIds", "purchaseOrderIds")


def read(app_key: str, secret: str, headers: Mapping[str, str], body: bytes) -> Notice:
    """The notice, or NoticeRefused. Nothing of it is looked at before its signature is right."""
    given = next((headers[name] for name in headers if name.lower() == "authorization"), "")
    expected = sign_push(secret, app_key, body)
    if not hmac.compare_digest(given.strip().encode(), expected.encode()):
        raise NoticeRejected("The signature is missing or wrong.")
    try:
        message = record(decode(body))
    except UnreadableResponse:
        raise NoticeRejected("The message is not JSON.") from None
    kind = _KINDS.get(text(message.get("message_type")) or "")
    if kind is None:
        raise NoticeRejected("The message is of no kind that we know.")
    order_ids = _orders(record(message.get("data")))
    if not order_ids:
        raise NoticeRejected("The message names no order.")
    # A message has no id of its own; the same bytes again are the same message.
    return Notice(hashlib.sha256(body).hexdigest()[:32], kind, order_ids)


def _orders(data: Json) -> tuple[str, ...]:
    lone = [data.get(name) for name in _ONE]
    listed = [one for name in _SEVERAL for one in values(data.get(name))]
    return tuple(dict.fromkeys(found for raw in (*lone, *listed) if (found := identity(raw))))
