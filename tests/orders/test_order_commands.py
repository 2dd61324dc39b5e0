"""Commands on orders: what changes between the read of an order and its save is never lost."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from uuid import UUID

import asyncpg
import pytest
from kit.orders import a_part
from kit.platform import UNKEYED, Fake, a_buyer, approved, current, held, placed

from tradewind.audit.model import COMMAND_LINE
from tradewind.auth.errors import AccountLocked
from tradewind.egress.client import Client
from tradewind.errors import InsufficientPermissions, ResourceNotFound
from tradewind.orders.errors import InvalidTransition
from tradewind.orders.model import Order
from tradewind.orders.payments import pay
from tradewind.orders.payments.approve import approve
from tradewind.orders.payments.errors import PaymentAccountLocked
from tradewind.orders.payments.model import PaymentRequest, PaymentStatus
from tradewind.orders.payments.modes import PayModes
from tradewind.orders.payments.request import request_payment
from tradewind.orders.person import Person
from tradewind.platforms.registry import Platforms
from tradewind.settings.settings import DEVELOPMENT_SECRET
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database
from tradewind.storage.transaction import Tx
from tradewind.web.idempotency import IdempotencyKey, RepeatedRequest, StoredResponse
from tradewind.web.response import Response

_BUMP = "UPDATE purchase_order SET version = version + 1 WHERE id = $1"
_ONE_WAITS = """
    SELECT EXISTS (SELECT FROM pg_stat_activity
                    WHERE datname = current_database() AND wait_event_type = 'Lock')
"""
_LOCK = "UPDATE account SET locked_at = tradewind_now(), lock_reason = 'x' WHERE id = $1"


@dataclass(frozen=True)
class Interrupted:
    """Idempotency of a request in which something happens after its order was read."""

    stored: StoredResponse[object]
    meanwhile: Callable[[], Awaitable[object]]

    async def check(self, db: Database | Tx) -> datetime:
        return await self.stored.check(db)

    async def check_with(
        self, db: Database, query: str, args: Sequence[object]
    ) -> asyncpg.Record | None:
        row = await self.stored.check_with(db, query, args)
        await self.meanwhile()
        return row

    def store(self, tx: Tx, result: object) -> None:
        self.stored.store(tx, result)


def keyed(account_id: UUID, key: str = "one") -> StoredResponse[object]:
    request = IdempotencyKey(account_id, "a route", key, b"content")
    return StoredResponse(request, lambda _: Response({"done": True}, 201))


Request = Callable[[Person, Order, Interrupted | StoredResponse[object]], Awaitable[PaymentRequest]]


@pytest.fixture
async def ask(db: Database) -> AsyncIterator[Request]:
    """Requests the payment of an order."""
    client = Client()
    modes = PayModes(Platforms(db, Keyring([DEVELOPMENT_SECRET]), client, {}), {})

    async def request_it(
        by: Person, order: Order, idempotency: Interrupted | StoredResponse[object]
    ) -> PaymentRequest:
        return await request_payment(db, COMMAND_LINE, by, order.id, modes, None, idempotency)

    yield request_it
    await client.close()


async def written(db: Database) -> tuple[int, int, int]:
    """How many audit entries, stored responses and payment requests there are."""
    row = await db.fetchrow(
        """
        SELECT (SELECT count(*) FROM audit WHERE action = 'payment.requested'),
               (SELECT count(*) FROM idempotency_key),
               (SELECT count(*) FROM payment_request)
        """
    )
    assert row is not None
    return row[0], row[1], row[2]


@pytest.fixture
async def buyer(db: Database) -> Person:
    return await a_buyer(db)


async def test_an_order_that_changed_since_it_was_read_is_decided_on_again(
    db: Database, buyer: Person, ask: Request
) -> None:
    order = await placed(db, a_part("A"), by=buyer)
    meanwhile = partial(db.execute, _BUMP, order.id)

    await ask(buyer, order, Interrupted(keyed(buyer.id), meanwhile))

    after = await current(db, order)
    assert (after.version, after.payment_status) == (
        order.version + 2,
        PaymentStatus.PENDING_APPROVAL,
    )
    assert await written(db) == (1, 1, 1)


async def test_what_a_sync_changed_without_a_new_version_is_not_overwritten(
    db: Database, buyer: Person, ask: Request
) -> None:
    order = await placed(db, a_part("A"), by=buyer)
    statement = """
        UPDATE purchase_order
           SET synced_at = tradewind_now(), platform_status = 'seen by nobody'
         WHERE id = $1
        """
    meanwhile = partial(db.execute, statement, order.id)

    await ask(buyer, order, Interrupted(keyed(buyer.id), meanwhile))

    assert (await current(db, order)).platform_status == "seen by nobody"


async def test_nothing_is_written_for_a_command_that_came_too_late(
    db: Database, buyer: Person, ask: Request
) -> None:
    order = await placed(db, a_part("A"), by=buyer)
    meanwhile = partial(ask, buyer, order, UNKEYED)

    with pytest.raises(InvalidTransition):
        await ask(buyer, order, Interrupted(keyed(buyer.id), meanwhile))

    assert await written(db) == (1, 0, 1)


async def test_a_repeat_that_overlaps_the_first_gets_its_response(
    db: Database, buyer: Person, ask: Request
) -> None:
    order = await placed(db, a_part("A"), by=buyer)
    meanwhile = partial(ask, buyer, order, keyed(buyer.id))

    with pytest.raises(RepeatedRequest) as repeated:
        await ask(buyer, order, Interrupted(keyed(buyer.id), meanwhile))

    assert repeated.value.response.encoded() == b'{"done":true}'
    assert await written(db) == (1, 1, 1)


async def test_a_repeat_gets_its_response_even_if_there_is_no_such_order(
    db: Database, buyer: Person, ask: Request
) -> None:
    order = await placed(db, a_part("A"), by=buyer)
    await ask(buyer, order, keyed(buyer.id))
    stranger = await a_buyer(db)

    with pytest.raises(RepeatedRequest):
        await ask(stranger, order, keyed(buyer.id))
    with pytest.raises(ResourceNotFound):
        await ask(stranger, order, keyed(buyer.id, "another"))


@pytest.mark.parametrize(
    ("statement", "whose", "error"),
    [
        (_LOCK, "buyer", PaymentAccountLocked),
        (_LOCK, "approver", AccountLocked),
        (
            "UPDATE account SET roles = ARRAY['buyer'] WHERE id = $1",
            "approver",
            InsufficientPermissions,
        ),
    ],
)
async def test_an_approval_ends_with_a_lock_or_role_that_changed_since_it_was_checked(
    db: Database,
    buyer: Person,
    ask: Request,
    statement: str,
    whose: str,
    error: type[Exception],
) -> None:
    order = await placed(db, a_part("A"), by=buyer)
    payment = await ask(buyer, order, UNKEYED)
    approver = await a_buyer(db)
    await db.execute("UPDATE account SET roles = ARRAY['approver'] WHERE id = $1", approver.id)
    changed = {"buyer": buyer, "approver": approver}[whose]
    meanwhile = partial(db.execute, statement, changed.id)

    with pytest.raises(error):
        await approve(db, COMMAND_LINE, approver, payment.id, None, Interrupted(UNKEYED, meanwhile))

    assert (await current(db, order)).payment_status is PaymentStatus.PENDING_APPROVAL


async def test_no_debit_begins_if_the_account_is_locked_while_the_order_is_read(
    db: Database,
) -> None:
    order, lease = await held(db, await approved(db, a_part("A")))

    async def lock() -> None:
        await db.execute(_LOCK, order.account_id)

    fake = Fake([a_part("A")], meanwhile=lock)

    await pay.pay(db, fake.connector, order, lease)

    assert fake.calls == []
    assert (await current(db, order)).payment_status is PaymentStatus.APPROVED


async def test_a_debit_waits_for_a_lock_of_its_account_that_is_about_to_commit(
    db: Database, database_url: str
) -> None:
    order, lease = await held(db, await approved(db, a_part("A")))
    fake = Fake([a_part("A")])
    connection = await asyncpg.connect(database_url)
    async with connection.transaction():
        await connection.execute("SELECT FROM account WHERE id = $1 FOR UPDATE", order.account_id)
        await connection.execute(_LOCK, order.account_id)
        paying = asyncio.create_task(pay.pay(db, fake.connector, order, lease))
        async with asyncio.timeout(10):
            while not paying.done() and not await db.fetchval(_ONE_WAITS):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
    await connection.close()
    await paying

    assert fake.calls == []
    assert (await current(db, order)).payment_status is PaymentStatus.APPROVED
