"""Notices in the Taobao dialect: JSON with a signature in its header."""

from typing import Any

import msgspec

from tradewind_simulator import signing, times
from tradewind_simulator.model import App, Seller
from tradewind_simulator.notices import Notice
from tradewind_simulator.orders import Event
from tradewind_simulator.taobao.orders import status_word
from tradewind_simulator.world import News

_STATUS_MESSAGE, _PRICE_MESSAGE, _REFUND_MESSAGE = 3, 8, 9


def compose(app: App, secret: str, news: News, seller: Seller, number: int) -> Notice:
    kind = _STATUS_MESSAGE
    data: dict[str, Any] = {
        "purchase_id": str(news.order.id),
        "outer_purchase_id": news.order.reference,
        "status": status_word(news.order),
        "supplier_nick": seller.login,
    }
    if news.event is Event.PRICE:
        kind = _PRICE_MESSAGE
        data["purchase_amount"] = news.order.total_fen
    elif news.event in (Event.REFUND, Event.REFUND_AFTER) and news.order.refunds:
        kind = _REFUND_MESSAGE
        latest = max(news.order.refunds, key=lambda refund: refund.changed_at)
        data["refund_id"] = str(latest.id)
    body = msgspec.json.encode(
        {
            "seller_id": str(app.buyer_id),
            "message_type": kind,
            "data": data,
            "timestamp": times.milliseconds(news.at),
            "site": "taobao_global",
        }
    )
    return Notice(
        id=number,
        app=app.name,
        order=news.order.id,
        topic=str(kind),
        born=news.at,
        headers={
            "Content-Type": "application/json;charset=UTF-8",
            "Authorization": signing.taobao_notice(secret, app.key, body),
        },
        body=body.decode(),
        responses=[],
        data=data,
    )
