"""A test rig for one marketplace: its real connector in front of a real simulator."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from simulator.sandbox_kit import Market

from tradewind.egress.client import Client, Reply
from tradewind.platforms.access import PlatformAccess
from tradewind.platforms.contract import Capability, Connector
from tradewind.platforms.failures import PlatformFailure, Rejected
from tradewind.platforms.marketplace import Marketplace
from tradewind.platforms.model import (
    Address,
    Line,
    OrderRequest,
    Payment,
    PaymentState,
    Placed,
    PlatformOrder,
    PlatformOrderStatus,
)
from tradewind.platforms.paced_client import PacedClient
from tradewind.platforms.registry import MARKETPLACES

T = TypeVar("T")

# Each dialect once: the sandbox is the connector of 1688 under another name.
PLATFORMS = ("alibaba", "taobao")
# Below the simulator's address, as the settings of an installation would say it.

# Magic products, by what happens to whoever buys them.
PLAIN, OUT_OF_STOCK, PRICE_RISES, PAYMENT_FAILS = 1, 2, 3, 4
PAYMENT_TIMES_OUT, PAYMENT_SEEMS_TO_FAIL, SPLITS = 5, 6, 7
SELLER_CLOSES, SELLER_CLOSES_PAID, PRICE_RAISED, CREATE_TIMES_OUT = 8, 9, 10, 11
SELLS_OUT, CLOSES_SOON, SHIPS_IN_PARTS, REFUND_REFUSED = 12, 13, 14, 15
MINIMUM_100, BY_TENS, PRICE_ZERO, DELISTED, OTHER_SELLER = 16, 17, 18, 19, 20

ADDRESS = Address("张三", "15251667788", "浙江省", "杭州市", "滨江区", "网商路699号", "310000")

# World time after which a new order can be paid and cancelled, and after which a payment, a
# cancel or a magic seller has come to its end, whichever platform it is.
BUILT_SECONDS = 11.0
SETTLED_SECONDS = 6.0
SOON_SECONDS = 31.0

# How long the connector waits for an answer: as a rule, and before a marketplace that hangs.
_PATIENCE_SECONDS = 5.0
HASTY_SECONDS = 0.5
_POLL_SECONDS = 0.05
_POLLS = 200


async def _no_pace(_: float) -> None:
    """The simulator bears any speed."""


class HastyClient(PacedClient):
    """The real client with a deadline that a test sets: a hanging marketplace must not block it."""

    patience = _PATIENCE_SECONDS

    async def post(
        self,
        operation: str,
        path: str,
        prepare: Callable[[], tuple[bytes, Sequence[str]]],
        *,
        safe: bool,
        seconds: float = 10.0,
    ) -> Reply:
        patience = min(seconds, self.patience)
        return await super().post(operation, path, prepare, safe=safe, seconds=patience)


class Keys:
    """Hands out the demo credentials, and refreshes them when they are refused."""

    def __init__(self, marketplace: Marketplace, client: PacedClient) -> None:
        assert marketplace.demo is not None
        assert marketplace.demo.access_token is not None
        assert marketplace.demo.refresh_token is not None
        self.app_key, self.app_secret = marketplace.demo.app_key, marketplace.demo.app_secret
        self.access_token = marketplace.demo.access_token
        self.refresh_token = marketplace.demo.refresh_token
        self.refreshes = 0
        self._oauth, self._client = marketplace.oauth, client

    async def access(self, refused: str | None) -> PlatformAccess:
        if refused == self.access_token:
            self.refreshes += 1
            tokens = await self._oauth.refresh(
                self._client, self.app_key, self.app_secret, self.refresh_token
            )
            self.access_token, self.refresh_token = tokens.access_token, tokens.refresh_token
        return PlatformAccess(self.app_key, self.app_secret, self.access_token)


@dataclass
class Stand:
    """Everything that a test of one platform needs; `market` is the simulator behind it."""

    platform: str
    market: Market
    marketplace: Marketplace
    client: HastyClient
    keys: Keys
    connector: Connector
    _lines: dict[tuple[int, int], Line] = field(default_factory=dict)

    def can(self, capability: Capability) -> bool:
        return capability in self.connector.traits.capabilities

    async def line(self, spell: int = PLAIN, quantity: int = 1, colour: int = 0) -> Line:
        """A line of a magic product, by the SKU id that its detail shows."""
        known = self._lines.get((spell, colour))
        if known is None:
            shown = await self.connector.detail(magic(spell), "en")
            known = Line(magic(spell), shown.skus[colour].id, 1)
            self._lines[spell, colour] = known
        return Line(known.product_id, known.sku_id, quantity)

    async def draft(self, *lines: Line, reference: str = "") -> OrderRequest:
        """What these lines, or else one plain piece, would be ordered as."""
        return OrderRequest(reference or new_reference(), lines or (await self.line(),), ADDRESS)

    async def placed(self, *lines: Line) -> Placed:
        """New orders that can be paid and cancelled."""
        placed = await self.connector.create(await self.draft(*lines))
        self.wait(BUILT_SECONDS)
        return placed

    async def order(self, *lines: Line) -> PlatformOrder:
        """One new order that can be paid and cancelled."""
        (order_id,) = (await self.placed(*lines)).order_ids
        return await self.connector.read_one(order_id)

    async def paid(self, *lines: Line) -> PlatformOrder:
        order = await self.order(*lines)
        await self.connector.pay(order.id, order.total_fen, new_operation())
        return await self.later(order.id)

    async def later(self, order_id: str, seconds: float = SETTLED_SECONDS) -> PlatformOrder:
        """The order after some time of the simulated world."""
        self.wait(seconds)
        return await self.connector.read_one(order_id)

    def hurry(self) -> None:
        """From now on, wait only briefly for an answer."""
        self.client.patience = HASTY_SECONDS

    def wait(self, seconds: float) -> None:
        self.market.clock(advance_seconds=seconds)

    def advance(self, order_id: str, to: str, **details: Any) -> None:
        self.market.advance(order_id, to, **details)

    def fault(self, operation: str, mode: str, **more: Any) -> None:
        self.market.fault(operation, mode, **more)

    def heal(self) -> None:
        self.market.control("faults", method="DELETE")

    def count(self, counter: str) -> int:
        """How often something happened at the simulator, for all of its apps."""
        number: int = self.market.state()["counters"].get(counter, 0)
        return number

    def made(self, reference: str) -> set[str]:
        """The orders that the simulator really has under a reference."""
        orders = self.market.client.get("/_control/state", params={"reference": reference})
        return {order["id"] for order in orders.json()["orders"]}

    def debits(self, order_id: str) -> list[int]:
        """Every time that the simulator took money for an order, in fen."""
        return self.market.debits(order_id)


@asynccontextmanager
async def standing(platform: str, market: Market) -> AsyncIterator[Stand]:
    marketplace = MARKETPLACES[platform]
    http = Client()
    url = market.url + (marketplace.simulator_path or "")
    client = HastyClient(platform, url, http, _no_pace)
    keys = Keys(marketplace, client)
    connector = marketplace.connect(client, keys.access)
    try:
        yield Stand(platform, market, marketplace, client, keys, connector)
    finally:
        await http.close()


def magic(spell: int) -> str:
    return str(900000000000 + spell)


def new_reference() -> str:
    return f"T-{uuid.uuid4().hex}"


def new_operation() -> str:
    return f"op-{uuid.uuid4().hex}"


# How an order may look just after it was placed.
NOT_SEEN_YET = frozenset({PlatformOrderStatus.CREATING, PlatformOrderStatus.PENDING_PAYMENT})


def adds_up(order: PlatformOrder) -> bool:
    return order.goods_fen + order.freight_fen - order.discount_fen == order.total_fen


async def outcome(call: Awaitable[T]) -> T | PlatformFailure:
    """What came of a call, whether it was answered or failed in one of the known ways."""
    try:
        return await call
    except PlatformFailure as failure:
        return failure


def is_refused(payment: Payment | PlatformFailure) -> bool:
    """Whether a payment was definitely not made; the contract leaves two ways to say so."""
    if isinstance(payment, Payment):
        return payment.state is PaymentState.FAILED
    return isinstance(payment, Rejected)


async def until(seen: Callable[[], Awaitable[bool]]) -> None:
    """Wait for what the simulator does in real time; fail when it never does."""
    for _ in range(_POLLS):
        if await seen():
            return
        await asyncio.sleep(_POLL_SECONDS)
    raise AssertionError("It never happened.")
