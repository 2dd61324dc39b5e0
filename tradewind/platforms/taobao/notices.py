"""Notices of Taobao Global: verifies them, and reads which orders they are about."""

import hashlib
import hmac
from collections.abc import Mapping

from tradewind.platforms.contract import NoticeRejected
from tradewind.platforms.failures import UnreadableResponse
from tradewind.platforms.model import Notice
from tradewind.platforms.taobao.gateway import sign_notice
from tradewind.platforms.taobao.values import Json, decode, identity, record, text, values

_KINDS = {"3": "order_status", "8": "price_change", "9": "refund"}
# The names of the fields that hold order ids are not documented; these are in use.
_ID_FIELDS = ("purchase_id", "purchase_order_id", "purchaseId", "purchaseOrderId")
_ID_LIST_FIELDS = ("purchase_ids", "purchase_order_ids", "purchaseIds", "purchaseOrderIds")


def read(app_key: str, secret: str, headers: Mapping[str, str], body: bytes) -> Notice:
    """Verify a notice, then read it; NoticeRejected if its signature is wrong."""
    signature = next((headers[name] for name in headers if name.lower() == "authorization"), "")
    expected = sign_notice(secret, app_key, body)
    if not hmac.compare_digest(signature.strip().encode(), expected.encode()):
        raise NoticeRejected("The signature is missing or wrong.")
    try:
        message = record(decode(body))
    except UnreadableResponse:
        raise NoticeRejected("The message is not JSON.") from None
    kind = _KINDS.get(text(message.get("message_type")) or "")
    if kind is None:
        raise NoticeRejected("The message type is unknown.")
    order_ids = _orders(record(message.get("data")))
    if not order_ids:
        raise NoticeRejected("The message names no order.")
    # A message has no id; the same bytes are the same message.
    return Notice(hashlib.sha256(body).hexdigest()[:32], kind, order_ids)


def _orders(data: Json) -> tuple[str, ...]:
    single = [data.get(name) for name in _ID_FIELDS]
    listed = [element for name in _ID_LIST_FIELDS for element in values(data.get(name))]
    return tuple(dict.fromkeys(number for raw in (*single, *listed) if (number := identity(raw))))
