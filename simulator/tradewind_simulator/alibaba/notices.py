"""Notices in the 1688 dialect: a signed form, and the replay of those that did not arrive."""

from typing import Any
from urllib.parse import urlencode

import msgspec

from tradewind_simulator import signing, times
from tradewind_simulator.alibaba import errors
from tradewind_simulator.alibaba.orders import status_word
from tradewind_simulator.calls import Call, Operation
from tradewind_simulator.model import App, Seller
from tradewind_simulator.notices import Notice
from tradewind_simulator.orders import Event
from tradewind_simulator.world import News

_BUYER_VIEW = "ORDER_BUYER_VIEW_"
TOPICS = {
    Event.MADE: _BUYER_VIEW + "BUYER_MAKE",
    Event.PRICE: _BUYER_VIEW + "ORDER_PRICE_MODIFY",
    Event.PAID: _BUYER_VIEW + "ORDER_PAY",
    Event.SENT: _BUYER_VIEW + "ANNOUNCE_SENDGOODS",
    Event.PART_SENT: _BUYER_VIEW + "PART_PART_SENDGOODS",
    Event.RECEIVED: _BUYER_VIEW + "ORDER_COMFIRM_RECEIVEGOODS",
    Event.SUCCESS: _BUYER_VIEW + "ORDER_SUCCESS",
    Event.BUYER_CLOSED: _BUYER_VIEW + "ORDER_BUYER_CLOSE",
    Event.SELLER_CLOSED: _BUYER_VIEW + "ORDER_SELLER_CLOSE",
    Event.SYSTEM_CLOSED: _BUYER_VIEW + "ORDER_BOPS_CLOSE",
    Event.REFUND: _BUYER_VIEW + "ORDER_BUYER_REFUND_IN_SALES",
    Event.REFUND_AFTER: _BUYER_VIEW + "ORDER_REFUND_AFTER_SALES",
}


def compose(app: App, secret: str, news: News, seller: Seller, number: int) -> Notice:
    data: dict[str, Any] = {
        "orderId": news.order.id,
        "currentStatus": status_word(news.order),
        "buyerMemberId": app.member_id,
        "sellerMemberId": seller.member_id,
        "msgSendTime": times.readable(news.at),
    }
    if news.event in (Event.REFUND, Event.REFUND_AFTER) and news.order.refunds:
        latest = max(news.order.refunds, key=lambda refund: refund.changed_at)
        data |= {"refundId": f"TQ{latest.id}", "refundAction": latest.status.value}
    message = {
        "bizKey": str(news.order.id),
        "data": data,
        "gmtBorn": times.milliseconds(news.at),
        "msgId": number,
        "type": TOPICS[news.event],
        "userInfo": app.member_id,
    }
    text = msgspec.json.encode(message).decode()
    form = {"message": text, "_aop_signature": signing.alibaba_notice(secret, text)}
    return Notice(
        id=number,
        app=app.name,
        order=news.order.id,
        topic=TOPICS[news.event],
        born=news.at,
        headers={"Content-Type": "application/x-www-form-urlencoded; charset=UTF-8"},
        body=urlencode(form),
        responses=[],
        data=data,
    )


_NAMESPACE = "cn.alibaba.open"
_FEWEST, _MOST = 20, 200


def _message(call: Call, notice: Notice) -> dict[str, Any]:
    return {
        "msgId": notice.id,
        "type": notice.topic,
        "userInfo": call.app.member_id,
        "data": notice.data,
        "gmtBorn": times.milliseconds(notice.born),
    }


def _waiting(call: Call) -> list[Notice]:
    wanted = call.params.get("type", "")
    waiting = call.notices.undelivered(call.app.name)
    return [notice for notice in waiting if not wanted or notice.topic == wanted]


def cursor(call: Call) -> dict[str, Any]:
    """Return the next notices and mark them as received."""
    quantity = min(max(call.number("quantity", _FEWEST), _FEWEST), _MOST)
    handed = _waiting(call)[:quantity]
    for notice in handed:
        notice.confirmed = True
    return {"pushMessageList": [_message(call, notice) for notice in handed]}


def query(call: Call) -> dict[str, Any]:
    """Return a page of notices, which stay until they are confirmed."""
    size = min(max(call.number("pageSize", _FEWEST), 1), _MOST)
    page = max(call.number("page", 1), 1)
    waiting = _waiting(call)
    here = waiting[(page - 1) * size : page * size]
    messages = [_message(call, notice) for notice in here]
    return {"pushMessagePage": {"totalCount": len(waiting), "datas": messages}}


def confirm(call: Call) -> dict[str, Any]:
    wanted = set(call.read("msgIdList", list[int]))
    for notice in call.notices.undelivered(call.app.name):
        if notice.id in wanted:
            notice.confirmed = True
    return {"isSuccess": True}


OPERATIONS = {
    f"{_NAMESPACE}/{name}": Operation(name, alias, run, errors.notice_error, needs_token=False)
    for name, alias, run in (
        ("push.cursor.messageList", "messages", cursor),
        ("push.query.messageList", "messages", query),
        ("push.message.confirm", "messages", confirm),
    )
}
