"""Orders from the cart: one order for each group, each line once, however often it is requested."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from time import monotonic
from uuid import UUID

from tradewind import ids
from tradewind.background.background_tasks import BackgroundTasks
from tradewind.cart import sql
from tradewind.cart.choose import choose_address, choose_groups
from tradewind.cart.errors import CartChanged, CheckoutUnfinished
from tradewind.cart.model import CartSelection, Checkout, CheckoutGroup, GroupError
from tradewind.cart.preview import GROUP_ERRORS, new_order
from tradewind.errors import existing
from tradewind.orders.get_order import get_order
from tradewind.orders.idempotency import Idempotency, Statement
from tradewind.orders.model import Order
from tradewind.orders.person import Person
from tradewind.orders.place import place_order
from tradewind.platforms.fan_out import fan_out
from tradewind.platforms.registry import Platforms
from tradewind.storage import sql as storage_sql
from tradewind.storage.pool import Database
from tradewind.storage.transaction import Tx, transaction
from tradewind.web.idempotency import IdempotencyKey, IdempotencyKeyReused, RequestInFlight

# No group is begun later than this; a request that is repeated goes on with the rest.
_SECONDS = 20.0
# Longer than a checkout takes; after it, that of a process that died can be continued.
_LEASE = timedelta(seconds=40)


async def check_out(
    db: Database,
    platforms: Platforms,
    background_tasks: BackgroundTasks,
    by: Person,
    key: IdempotencyKey,
    selection: CartSelection,
    idempotency: Idempotency[Checkout],
) -> Checkout:
    """Place an order for each group. A repeat with the same key orders what is still missing.

    A group that fails does not undo the others. The lines of a group leave the cart in the
    transaction that accepts its order, so no line is ordered twice, whatever runs at the same time.
    """
    await idempotency.check(db)
    checkout = await _begin(db, platforms, by.id, key, selection)
    started_at = monotonic()

    async def order(group: CheckoutGroup) -> CheckoutGroup:
        if group.order_id is not None:
            return replace(group, order=await get_order(db, by.id, group.order_id))
        if monotonic() - started_at > _SECONDS:
            return replace(group, error=GroupError.of(CheckoutUnfinished(), group.group))
        try:
            placed = await _place_group(db, platforms, background_tasks, by, checkout, group)
        except GROUP_ERRORS as error:
            return replace(group, error=GroupError.of(error, group.group))
        return replace(group, order_id=placed.id, order=placed, error=None)

    groups = await fan_out(partial(order, group) for group in checkout.groups)
    errors = {group.number: group.error for group in groups if group.error is not None}
    await sql.end_checkout(db, checkout.id, errors)
    checkout = replace(checkout, groups=groups, in_progress=False)
    if checkout.is_complete:
        async with transaction(db) as tx:
            idempotency.store(tx, checkout)
    return checkout


async def get_checkout(db: Database, account_id: UUID, checkout_id: UUID) -> Checkout:
    """A checkout with the orders as they are now, or ResourceNotFound."""
    checkout = existing(await sql.find_checkout(db, account_id, checkout_id), ids.CHECKOUT)
    groups = [
        group
        if group.order_id is None
        else replace(group, order=await get_order(db, account_id, group.order_id))
        for group in checkout.groups
    ]
    return replace(checkout, groups=groups)


async def find_checkout_id(db: Database, key: IdempotencyKey) -> UUID | None:
    """The id of the checkout that was begun with a key."""
    return await sql.find_checkout_id(db, key.account_id, key.route, key.key)


async def _begin(
    db: Database,
    platforms: Platforms,
    account_id: UUID,
    key: IdempotencyKey,
    selection: CartSelection,
) -> Checkout:
    """The checkout of this key, which no other process works on now."""
    async with transaction(db) as tx:
        checkout = await sql.lock_checkout(tx, account_id, key.route, key.key)
        if checkout is not None:
            if checkout.fingerprint != key.fingerprint:
                raise IdempotencyKeyReused
            if checkout.in_progress:
                raise RequestInFlight
            await sql.lease_checkout(tx, checkout.id, lease=_LEASE)
            return checkout
        checkout = await _new_checkout(tx, platforms, account_id, key, selection)
        if not await sql.insert_checkout(tx, checkout, key.route, key.key, lease=_LEASE):
            raise RequestInFlight  # another process has just begun it
        return checkout


async def _new_checkout(
    tx: Tx, platforms: Platforms, account_id: UUID, key: IdempotencyKey, selection: CartSelection
) -> Checkout:
    groups = await choose_groups(tx, platforms, account_id, selection.line_ids)
    expected = selection.expected_fen
    if expected is not None and len(expected) != len(groups):
        raise CartChanged
    return Checkout(
        id=ids.new(),
        account_id=account_id,
        fingerprint=key.fingerprint,
        address=await choose_address(tx, account_id, selection.address),
        created_at=await storage_sql.now(tx),
        in_progress=True,
        groups=[
            CheckoutGroup(number, group, expected[number] if expected else None, None, None)
            for number, group in enumerate(groups)
        ],
    )


async def _place_group(
    db: Database,
    platforms: Platforms,
    background_tasks: BackgroundTasks,
    by: Person,
    checkout: Checkout,
    group: CheckoutGroup,
) -> Order:
    wanted = new_order(group.group, checkout.address, group.expected_fen)
    acceptance = _Acceptance(checkout, group)
    return await place_order(db, platforms, background_tasks, by, wanted, acceptance)


@dataclass(frozen=True, slots=True)
class _Acceptance:
    """Accepts the order of a group in the transaction that takes its lines out of the cart.

    It is the port of `orders/idempotency.py`: the lines, which can be taken once, are the key.
    """

    checkout: Checkout
    group: CheckoutGroup

    async def check(self, db: Database) -> datetime:
        return await storage_sql.now(db)

    async def claim(self, tx: Tx) -> None:
        pass

    def store(self, tx: Tx, result: Order, *, pending: timedelta | None = None) -> None:
        pass

    async def store_with(
        self,
        db: Database,
        result: Order,
        effect: Statement,
        *,
        pending: timedelta,  # noqa: ARG002 - of the port
    ) -> None:
        lines = self.group.group.lines
        async with transaction(db) as tx:
            await sql.lock_cart(tx, self.checkout.account_id)
            if await sql.take_lines(tx, self.checkout.account_id, lines) != len(lines):
                raise CartChanged
            await tx.execute(effect.sql, *effect.args)
            await sql.set_order(tx, self.checkout.id, self.group.number, result.id)

    async def replace(self, db: Database, result: Order) -> bool:  # noqa: ARG002
        return True

    def replacement(self, result: Order) -> None:
        pass

    async def release(self, tx: Tx) -> None:
        pass
