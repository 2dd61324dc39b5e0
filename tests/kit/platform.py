"""A scripted marketplace in the test's process, and orders on it."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, cast
from uuid import UUID

from kit.accounts import insert_account
from kit.orders import APPROVER
from tradewind import ids
from tradewind.orders import advance, sql, sql_leases
from tradewind.orders.advance import GiveBack
from tradewind.orders.lease import HELD, Lease
from tradewind.orders.model import Cause, NewOrder, Order
from tradewind.orders.payments import decide
from tradewind.orders.payments.model import PayMode
from tradewind.orders.person import Person
from tradewind.platforms.contract import Capability, Connector, Traits
from tradewind.platforms.failures import PlatformFailure
from tradewind.platforms.model import (
    Address,
    CancelState,
    Line,
    Payment,
    PaymentState,
    PlatformOrder,
    Refund,
    RefundRequest,
)
from tradewind.platforms.pacing import Purpose
from tradewind.platforms.registry import Platforms
from tradewind.storage.pool import Database
from tradewind.storage.transaction import transaction
from tradewind.web.idempotency import StoredResponse
from tradewind.web.response import Response

UNKEYED: StoredResponse[object] = StoredResponse(None, lambda _: Response())
ADDRESS = Address("张三", "15251667788", "浙江省", "杭州市", "滨江区", "网商路699号")
_TRAITS = Traits("sandbox", "Fake", frozenset(Capability), 20, False, 20)


async def _nothing() -> None:
    pass


@dataclass
class Fake:
    """The connector. What is in `fails`, by the order's id, is raised; `calls` are those to pay."""

    parts: Sequence[PlatformOrder]
    fails: dict[str, PlatformFailure] = field(default_factory=dict)
    found: Payment | PlatformFailure = Payment(PaymentState.UNPAID)  # noqa: RUF009 - it is frozen
    calls: list[tuple[str, int]] = field(default_factory=list)
    cancels: list[str] = field(default_factory=list)
    known_refunds: Sequence[Refund] = ()
    # Runs while an order is being read, or a refund asked for.
    meanwhile: Callable[[], Awaitable[None]] = _nothing
    traits: Traits = _TRAITS
    # Whether accounts have any budget left for refreshes.
    has_budget: bool = True

    @property
    def connector(self) -> Connector:
        return cast("Connector", self)

    @property
    def platforms(self) -> Platforms:
        return cast("Platforms", _Only(self.connector, has_budget=self.has_budget))

    async def read_many(self, order_ids: Sequence[str]) -> Sequence[PlatformOrder]:
        await self.meanwhile()
        return [part for part in self.parts if part.id in order_ids]

    async def modified_between(
        self, _since: datetime, _until: datetime, _page: int
    ) -> tuple[Sequence[PlatformOrder], bool]:
        return self.parts, False

    async def pay(self, order_id: str, amount_fen: int, _operation: str) -> Payment:
        self.calls.append((order_id, amount_fen))
        self._fail(order_id)
        return Payment(PaymentState.PROCESSING)

    async def find_payment(self, _order_id: str, _operation: str) -> Payment:
        if isinstance(self.found, PlatformFailure):
            raise self.found
        return self.found

    async def cancel(self, order_id: str) -> CancelState:
        self.cancels.append(order_id)
        self._fail(order_id)
        return CancelState.REQUESTED

    async def refund(self, request: RefundRequest) -> str:
        await self.meanwhile()
        self._fail(request.order_id)
        return "R1"

    async def refunds(self, _order_id: str) -> Sequence[Refund]:
        return self.known_refunds

    def _fail(self, order_id: str) -> None:
        if order_id in self.fails:
            raise self.fails[order_id]


@dataclass(frozen=True)
class _Only:
    """An installation with one marketplace."""

    only: Connector
    has_budget: bool

    async def connector(self, _platform: str, _purpose: Purpose = Purpose.CHANGE) -> Connector:
        return self.only

    async def may_refresh(self, _platform: str, _account_id: UUID) -> bool:
        return self.has_budget


async def a_buyer(db: Database) -> Person:
    buyer = Person(ids.new(), "buyer@test.example")
    await insert_account(db, buyer.id)
    return buyer


async def placed(db: Database, *parts: PlatformOrder, by: Person | None = None) -> Order:
    """One of our orders, which became these on the platform. It is not due for an hour."""
    by = by or await a_buyer(db)
    lease = Lease()
    wanted = NewOrder("sandbox", [Line("7", None, 1)], ADDRESS, None, None, None, {})
    at = await UNKEYED.check(db)
    order = await advance.accept(db, by, wanted, at, lease, UNKEYED, previewed=True)
    return await advance.record(
        db,
        order,
        GiveBack(lease.id, lambda after: after.now + timedelta(hours=1)),
        lambda known: advance.by_platform(known, parts, Cause("create")),
    )


async def approved(db: Database, *parts: PlatformOrder, mode: PayMode = PayMode.AUTO) -> Order:
    """The same, whose payment is approved and due."""
    order = await placed(db, *parts)
    by = Person(order.account_id, "buyer@test.example")
    async with transaction(db) as tx:
        order = await locked(tx, order)
        step = decide.payment_requested(order, ids.new(), by, mode, None, order.now)
        advance.to(tx, order, step, Cause("payment_requested", by))
    async with transaction(db) as tx:
        order = await locked(tx, order)
        step = decide.payment_approved(order, APPROVER, None, order.now)
        return advance.to(tx, order, step, Cause("payment_approved", APPROVER))


async def locked(tx: Any, order: Order) -> Order:
    result = await sql.lock_order(tx, None, order.id)
    assert result is not None
    return result


async def current(db: Database, order: Order) -> Order:
    """The order as it is stored."""
    async with transaction(db) as tx:
        return await locked(tx, order)


async def held(db: Database, order: Order) -> tuple[Order, Lease]:
    """The order, ours to deal with."""
    lease = Lease()
    taken = await sql_leases.take_lease(db, None, order.id, lease=lease.id, held=HELD)
    assert taken is not None
    return taken, lease


async def due_now(db: Database) -> None:
    """Make every order due that is ever looked at again."""
    statement = "UPDATE purchase_order SET next_sync_at = tradewind_now() WHERE work <> 'none'"
    await db.execute(statement)


async def due_in(db: Database, order_id: UUID) -> timedelta:
    """In how long an order is due; negative where it is."""
    query = "SELECT next_sync_at - tradewind_now() FROM purchase_order WHERE id = $1"
    left: timedelta = await db.fetchval(query, order_id)
    return left
