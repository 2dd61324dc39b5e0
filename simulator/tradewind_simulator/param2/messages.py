"""Replay of notices that did not arrive, in the 1688 dialect."""

from typing import Any

from tradewind_simulator import times
from tradewind_simulator.answers import Refused
from tradewind_simulator.calls import Call, Operation
from tradewind_simulator.notices import Notice

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
    """What is handed out counts as received: the same call again gives what is left."""
    quantity = min(max(call.number("quantity", _FEWEST), _FEWEST), _MOST)
    handed = _waiting(call)[:quantity]
    for notice in handed:
        notice.confirmed = True
    return {"pushMessageList": [_message(call, notice) for notice in handed]}


def query(call: Call) -> dict[str, Any]:
    """A page of them, which stay until they are confirmed."""
    size = min(max(call.number("pageSize", _FEWEST), 1), _MOST)
    page = max(call.number("page", 1), 1)
    waiting = _waiting(call)
    here = waiting[(page - 1) * size : page * size]
    shown = [_message(call, notice) for notice in here]
    return {"pushMessagePage": {"totalCount": len(waiting), "datas": shown}}


def confirm(call: Call) -> dict[str, Any]:
    wanted = set(call.read("msgIdList", list[int]))
    for notice in call.notices.undelivered(call.app.name):
        if notice.id in wanted:
            notice.confirmed = True
    return {"isSuccess": True}


def refuse(refused: Refused) -> dict[str, Any]:
    return {"error_code": refused.code, "error_message": refused.message}


OPERATIONS = {
    f"{_NAMESPACE}/{name}": Operation(name, alias, run, refuse, needs_token=False)
    for name, alias, run in (
        ("push.cursor.messageList", "messages", cursor),
        ("push.query.messageList", "messages", query),
        ("push.message.confirm", "messages", confirm),
    )
}
