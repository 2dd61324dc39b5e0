"""The queue of notices: signed, retried, and repeated or shuffled on request."""

import heapq
import random
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from tradewind_simulator.faults import Faults
from tradewind_simulator.ids import Ids
from tradewind_simulator.model import App, Dialect, Seller
from tradewind_simulator.world import News

_RETRY_SECONDS = (1.0, 5.0)
_KEPT = 5_000


class Target(Struct, frozen=True, tag="target"):
    """Where the notices of an application go. `secret` empty: the application's own."""

    app: str
    url: str
    secret: str = ""
    duplicates: int = 0
    shuffle: bool = False
    window_seconds: float = 1.0


class Notice(Struct):
    """A notice; `responses` has the status of each attempt, 0 for no response."""

    id: int
    app: str
    order: int
    topic: str
    born: float
    headers: dict[str, str]
    body: str
    responses: list[int]
    data: dict[str, Any]
    delivered: bool = False
    confirmed: bool = False


# How a dialect words and signs a notice: app, secret, news, seller, number of the notice.
Compose = Callable[[App, str, News, Seller, int], Notice]


class Notices:
    """The queue: the sender takes notices that are due and reports the result."""

    def __init__(
        self, apps: dict[str, App], sellers: dict[int, Seller], ids: Ids, chance: random.Random,
        faults: Faults, compose: Mapping[Dialect, Compose],
    ) -> None:  # fmt: skip
        self.apps, self.sellers, self.ids, self.chance = apps, sellers, ids, chance
        self.faults = faults
        self.compose = compose
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
        """Return the next notice to send, its target, and the number of attempts."""
        while self._queue and self._queue[0][0] <= real:
            _, _, tries, notice = heapq.heappop(self._queue)
            target = self.targets.get(notice.app)
            if target is not None:
                return notice, target, tries
        return None

    def done(self, notice: Notice, tries: int, status: int, real: float) -> None:
        """Record an attempt: a 2xx is final, otherwise two more follow, then the replay API."""
        notice.responses.append(status)
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
        seller = self.sellers[news.order.seller]
        return self.compose[app.dialect](app, secret, news, seller, self.ids.next())
