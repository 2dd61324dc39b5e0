"""A locked account: nothing is approved, and no debit begins."""

import asyncio
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from kit.orders import a_part
from kit.pages import Pages
from kit.platform import Fake, approved, current, due_in, due_now, held
from kit.server import Person
from kit.system import System

from tradewind import ids
from tradewind.accounts import change, sql
from tradewind.audit.model import COMMAND_LINE
from tradewind.orders.payments import pay
from tradewind.orders.payments.model import PaymentStatus, PayMode
from tradewind.platforms.model import Payment, PaymentState
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database
from tradewind.storage.transaction import transaction

pytestmark = pytest.mark.xdist_group("system")

_HOLD = "UPDATE purchase_order SET lease_until = tradewind_now() + interval '1 hour' WHERE id = $1"
_RELEASE = "UPDATE purchase_order SET lease_until = 'epoch' WHERE id = $1"
_SENT = """
    SELECT purchase_order_id FROM payment_request WHERE account_id = $1 AND sent_at IS NOT NULL
"""


@pytest.fixture
def operator(system: System) -> Person:
    return system.api.operator()


@pytest.fixture
def desk(system: System) -> Iterator[Pages]:
    """The dashboard, with the approver signed in."""
    pages = Pages(system.api, system.approver)
    yield pages
    pages.client.close()


def lock(system: System, operator: Person) -> None:
    path = f"/v1/admin/accounts/{system.buyer.id}/lock"
    system.ok("POST", path, by=operator, json={"reason": "Unpaid invoices"})


def unlock(system: System, operator: Person) -> None:
    system.ok("POST", f"/v1/admin/accounts/{system.buyer.id}/unlock", by=operator)


def in_database(system: System, statement: str, order: Any) -> None:
    system.api.fetch(statement, ids.ORDER.read(order["id"]))


def looked_at(system: System, order: Any) -> Any:
    """The stored order after the worker has dealt with it once more."""
    before = system.stored(order["id"])["synced_at"]
    system.due_now(order["id"])
    return system.until_stored(order["id"], lambda row: row["synced_at"] > before)


def test_a_request_of_a_locked_account_is_not_approved(system: System, operator: Person) -> None:
    order = system.order()
    payment = system.request_payment(order["id"])
    path = f"/v1/payments/{payment['id']}"
    lock(system, operator)

    problem = system.refused("POST", f"{path}/approve", 409, "account_locked", by=system.approver)

    assert "locked" in problem["detail"]
    assert "retry_after" not in problem
    stored = system.ok("GET", path, by=system.approver)
    assert (stored["status"], stored["decided_by"]) == ("pending_approval", None)
    unlock(system, operator)
    system.ok("POST", f"{path}/approve", by=system.approver)
    system.until(order["id"], lambda order: order["payment_status"] == "paid")


def test_a_request_of_a_locked_account_can_be_rejected(system: System, operator: Person) -> None:
    payment = system.request_payment(system.order()["id"])
    lock(system, operator)

    path = f"/v1/payments/{payment['id']}/reject"
    rejected = system.ok("POST", path, by=system.approver, json={"reason": "Locked."})

    assert rejected["status"] == "rejected"


def test_the_dashboard_says_that_the_account_is_locked(
    system: System, operator: Person, desk: Pages
) -> None:
    payment = system.request_payment(system.order()["id"])
    path = f"/approvals/{payment['id']}"
    assert "Approve CNY 15.00" in desk.get(path).text
    lock(system, operator)

    page = desk.get(path).text
    refused = desk.post(f"{path}/approve", amount_cny="15")

    assert "not approve it until an operator unlocks the account" in page
    assert f"{path}/approve" not in page
    assert f"{path}/reject" in page
    assert refused.status_code == 409
    assert "no payment of it can be approved" in refused.text
    row = desk.get("/approvals?limit=100").text.partition(f'href="{path}"')[2].partition("</tr>")[0]
    assert "Account locked" in row


def test_what_is_approved_waits_for_the_unlock_and_is_paid_then(
    quiet: System, operator: Person, desk: Pages
) -> None:
    order = quiet.order()
    payment = quiet.request_payment(order["id"])
    in_database(quiet, _HOLD, order)  # so that the worker cannot pay it yet
    quiet.approve(payment["id"])
    lock(quiet, operator)
    in_database(quiet, _RELEASE, order)

    row = looked_at(quiet, order)

    assert (row["payment_status"], quiet.market.debits(order["order_id"])) == ("approved", [])
    assert row["next_sync_at"] - row["synced_at"] > timedelta(minutes=4), (
        "it is not looked at often"
    )
    assert "is not made until an operator unlocks" in desk.get(f"/approvals/{payment['id']}").text
    unlock(quiet, operator)
    quiet.until_stored(order["id"], lambda shown: shown["payment_status"] == "paid")
    assert quiet.market.debits(order["order_id"]) == [1500]


def test_the_order_of_a_locked_account_is_still_followed(quiet: System, operator: Person) -> None:
    paid_by_hand, repriced = quiet.order(), quiet.order()
    for order in (paid_by_hand, repriced):
        in_database(quiet, _HOLD, order)
        quiet.approve(quiet.request_payment(order["id"])["id"])
    lock(quiet, operator)
    quiet.market.advance(paid_by_hand["order_id"], "pay")
    quiet.market.advance(repriced["order_id"], "change_price", fen=1600)
    for order in (paid_by_hand, repriced):
        in_database(quiet, _RELEASE, order)

    assert looked_at(quiet, paid_by_hand)["payment_status"] == "paid"
    assert looked_at(quiet, repriced)["payment_status"] == "unpaid"
    assert quiet.market.debits(repriced["order_id"]) == []


def test_what_is_being_paid_at_the_marketplace_is_followed_to_its_end(
    quiet: System, operator: Person
) -> None:
    placed = quiet.place(quiet.order_body(platform="taobao")).json()
    quiet.market.clock(advance_seconds=2.5)
    order = quiet.until(placed["id"], lambda order: order["status"] == "pending_payment")
    quiet.approve(quiet.request_payment(order["id"])["id"])
    quiet.until_stored(order["id"], lambda row: row["payment_status"] == "processing")
    deadline = time.monotonic() + 20
    while not quiet.market.debits(order["order_id"]) and time.monotonic() < deadline:
        quiet.market.clock(advance_seconds=4)
    lock(quiet, operator)

    quiet.due_now(order["id"])

    quiet.until_stored(order["id"], lambda row: row["payment_status"] == "paid")
    assert len(quiet.market.debits(order["order_id"])) == 1


def test_after_the_answer_to_a_lock_no_debit_begins(quiet: System, operator: Person) -> None:
    orders = [quiet.order() for _ in range(6)]
    payments = [quiet.request_payment(order["id"])["id"] for order in orders]

    def approve(payment: str) -> Any:
        return quiet.call("POST", f"/v1/payments/{payment}/approve", by=quiet.approver)

    with ThreadPoolExecutor(7) as pool:
        approvals = [pool.submit(approve, payment) for payment in payments]
        pool.submit(lock, quiet, operator).result()
        sent = {row[0] for row in quiet.api.fetch(_SENT, quiet.buyer.uuid)}
        answers = [approval.result() for approval in approvals]

    codes = {(answer.status_code, answer.json().get("code")) for answer in answers}
    assert codes <= {(200, None), (409, "account_locked")}
    for order in orders:
        if quiet.stored(order["id"])["payment_status"] == "approved":
            looked_at(quiet, order)
    assert {row[0] for row in quiet.api.fetch(_SENT, quiet.buyer.uuid)} == sent
    unlock(quiet, operator)
    for order, answer in zip(orders, answers, strict=True):
        if answer.status_code == 200:
            quiet.until_stored(order["id"], lambda row: row["payment_status"] == "paid")
        debits = [1500] if answer.status_code == 200 else []
        assert quiet.market.debits(order["order_id"]) == debits


# The same races, one step at a time.


async def lock_owner(db: Database, account_id: Any) -> None:
    await change.lock(db, COMMAND_LINE, account_id, "Unpaid invoices")


async def test_a_lock_during_the_last_look_stops_the_debit(db: Database, keyring: Keyring) -> None:
    part = a_part("P1")
    order = await approved(db, part)
    fake = Fake([part])
    fake.meanwhile = lambda: lock_owner(db, order.account_id)
    await due_now(db)

    await pay.pay(db, fake.connector, *await held(db, order))

    assert (await current(db, order)).payment_status is PaymentStatus.APPROVED
    assert fake.calls == []
    assert await due_in(db, order.id) > timedelta(minutes=4)
    await change.unlock(db, keyring, COMMAND_LINE, order.account_id)
    assert await due_in(db, order.id) <= timedelta(0)


async def test_an_unlock_during_the_last_look_is_not_forgotten(
    db: Database, keyring: Keyring
) -> None:
    """The worker has seen the lock, and gives the order back only after the unlock."""
    part = a_part("P1")
    order = await approved(db, part)
    await lock_owner(db, order.account_id)
    await due_now(db)
    taken, lease = await held(db, order)
    prepared = await pay._read_and_commit(db, Fake([part]).connector, taken)  # noqa: SLF001
    await change.unlock(db, keyring, COMMAND_LINE, order.account_id)

    await pay._give_back(db, prepared.order, lease, paused=True)  # noqa: SLF001

    assert prepared.account_locked
    assert await due_in(db, order.id) <= timedelta(0)


async def test_a_lock_waits_for_a_debit_that_is_being_decided(db: Database) -> None:
    order = await approved(db, a_part("P1"))
    async with transaction(db) as tx:
        accounts = await sql.share_accounts(tx, [order.account_id])
        locking = asyncio.create_task(lock_owner(db, order.account_id))
        await until_one_waits(db)
        assert not locking.done()
        assert accounts[order.account_id].locked_at is None
    await locking

    async with transaction(db) as tx:
        accounts = await sql.share_accounts(tx, [order.account_id])
    assert accounts[order.account_id].locked_at is not None


async def until_one_waits(db: Database) -> None:
    waiting = """
        SELECT 1 FROM pg_stat_activity
         WHERE wait_event_type = 'Lock' AND datname = current_database()
    """
    async with asyncio.timeout(20):
        while not await db.fetchval(waiting):  # noqa: ASYNC110 - PostgreSQL sets no event
            await asyncio.sleep(0.01)


async def test_a_login_does_not_wait_for_a_debit_that_is_being_decided(db: Database) -> None:
    order = await approved(db, a_part("P1"))
    async with transaction(db) as deciding:
        await sql.share_accounts(deciding, [order.account_id])
        async with asyncio.timeout(20), transaction(db) as login:
            assert await sql.lock_account(login, order.account_id) is not None


async def test_what_the_platform_never_saw_is_not_sent_again_while_the_account_is_locked(
    db: Database, keyring: Keyring
) -> None:
    part = a_part("P1")
    order = await approved(db, part)
    fake = Fake([part])
    await due_now(db)
    await pay.pay(db, fake.connector, *await held(db, order))
    fake.calls.clear()
    await lock_owner(db, order.account_id)
    fake.found = Payment(PaymentState.UNPAID)
    await due_now(db)

    await pay.pay(db, fake.connector, *await held(db, order))

    assert fake.calls == []
    assert (await current(db, order)).payment_status is PaymentStatus.PROCESSING
    await change.unlock(db, keyring, COMMAND_LINE, order.account_id)
    await pay.pay(db, fake.connector, *await held(db, order))
    assert fake.calls == [("P1", 1500)]


async def test_a_lock_between_two_parts_stops_the_second(db: Database) -> None:
    parts = [a_part("P1"), a_part("P2")]
    order = await approved(db, *parts)
    fake = Locking(parts)
    fake.lock = lambda: lock_owner(db, order.account_id)
    await due_now(db)

    await pay.pay(db, fake.connector, *await held(db, order))

    assert fake.calls == [("P1", 1500)]
    assert (await current(db, order)).payment_status is PaymentStatus.PROCESSING


class Locking(Fake):
    """A marketplace at which a debit succeeds, while an operator locks the account."""

    lock: Any

    async def pay(self, order_id: str, amount_fen: int, _operation: str) -> Payment:
        self.calls.append((order_id, amount_fen))
        await self.lock()
        return Payment(PaymentState.PAID)


async def test_a_locked_account_is_given_no_payment_link(db: Database) -> None:
    part = a_part("P1")
    order = await approved(db, part, mode=PayMode.LINK)
    await lock_owner(db, order.account_id)
    await due_now(db)

    await pay.pay(db, Fake([part]).connector, *await held(db, order))  # it has no `pay_link`

    payment = (await current(db, order)).payment
    assert payment is not None
    assert payment.pay_url is None
