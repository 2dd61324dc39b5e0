"""Push notices: what the buyer is told, signed; repeated and shuffled where asked."""

import heapq
import random
from collections import deque
from typing import Any, Protocol
from urllib.parse import urlencode

import msgspec
from msgspec import Struct

from tradewind_simulator import signing, times
from tradewind_simulator.faults import Faults
from tradewind_simulator.ids import Ids
from tradewind_simulator.model import App, Dialect, Order, Seller
from tradewind_simulator.orders import Event
from tradewind_simulator.world import News

_RETRY_SECONDS = (1.0, 5.0)
_KEPT = 5_000
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
_STATUS_MESSAGE, _PRICE_MESSAGE, _REFUND_MESSAGE = 3, 8, 9


class Words(Protocol):
    """How a dialect calls the status of an order."""

    def __call__(self, order: Order) -> str: ...


class Target(Struct, frozen=True, tag="target"):
    """Where the notices of one app go. `secret` empty: the app's own."""

    app: str
    url: str
    secret: str = ""
    duplicates: int = 0
    shuffle: bool = False
    window_seconds: float = 1.0


class Notice(Struct):
    """One notice and how it fared; `answers` has a status for each try, 0 for none."""

    id: int
    app: str
    order: int
    topic: str
    born: float
    headers: dict[str, str]
    body: str
    answers: list[int]
    data: dict[str, Any]
    delivered: bool = False
    confirmed: bool = False


class Notices:
    """The queue. Whoever sends takes what is due and says how it went."""

    def __init__(
        self, apps: dict[str, App], sellers: dict[int, Seller], ids: Ids, chance: random.Random,
        faults: Faults, words: dict[Dialect, Words],
    ) -> None:  # fmt: skip
        self.apps, self.sellers, self.ids, self.chance = apps, sellers, ids, chance
        self.faults = faults
        self.words = words
        self.targets: dict[str, Target] = {}
        self.log: deque[Notice] = deque(maxlen=_KEPT)
        self._queue: list[tuple[float, int, int, Notice]] = []
        self._count = 0

    def clear(self) -> None:
        self.log.clear()
        self._queue.clear()

    def tell(self, news: News, real: float) -> None:
        """Queue a notice and its copies; without a target it is only kept for the replay."""
        app = self.apps[news.order.app]
        target = self.targets.get(app.name)
        notice = self._compose(app, news, target)
        self.log.append(notice)
        if target is None:
            return
        for _ in range(1 + target.duplicates):
            delay = self.chance.uniform(0, target.window_seconds) if target.shuffle else 0.0
            self._push(real + delay, 0, notice)

    def due(self, real: float) -> tuple[Notice, Target, int] | None:
        """The next notice to send now, where to, and how often it was tried."""
        while self._queue and self._queue[0][0] <= real:
            _, _, tries, notice = heapq.heappop(self._queue)
            target = self.targets.get(notice.app)
            if target is not None:
                return notice, target, tries
        return None

    def done(self, notice: Notice, tries: int, status: int, real: float) -> None:
        """A 2xx ends it; otherwise twice more, then it waits to be fetched by the replay API."""
        notice.answers.append(status)
        if 200 <= status < 300:  # noqa: PLR2004
            notice.delivered = True
        elif tries < len(_RETRY_SECONDS):
            self._push(real + _RETRY_SECONDS[tries], tries + 1, notice)

    def undelivered(self, app: str) -> list[Notice]:
        return [n for n in self.log if n.app == app and not n.delivered and not n.confirmed]

    @property
    def waiting(self) -> int:
        return len(self._queue)

    def _push(self, at: float, tries: int, notice: Notice) -> None:
        self._count += 1
        heapq.heappush(self._queue, (at, self._count, tries, notice))

    def _compose(self, app: App, news: News, target: Target | None) -> Notice:
        secret = (target.secret if target else "") or app.secret
        if self.faults.strike("push") is not None:
            secret = secret[::-1] + "?"
        make = _param2 if app.dialect is Dialect.PARAM2 else _taobao
        return make(app, secret, news, self.sellers[news.order.seller], self.ids.next(),
                    self.words[app.dialect](news.order))  # fmt: skip


def _param2(app: App, secret: str, news: News, seller: Seller, number: int, status: str) -> Notice:
    data: dict[str, Any] = {
        "orderId": news.order.id,
        "currentStatus": status,
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
    form = {"message": text, "_aop_signature": signing.param2_notice(secret, text)}
    return Notice(
        id=number,
        app=app.name,
        order=news.order.id,
        topic=TOPICS[news.event],
        born=news.at,
        headers={"Content-Type": "application/x-www-form-urlencoded; charset=UTF-8"},
        body=urlencode(form),
        answers=[],
        data=data,
    )


def _taobao(app: App, secret: str, news: News, seller: Seller, number: int, status: str) -> Notice:
    kind = _STATUS_MESSAGE
    data: dict[str, Any] = {
        "purchase_id": str(news.order.id),
        "outer_purchase_id": news.order.reference,
        "status": status,
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
        answers=[],
        data=data,
    )
