"""Finds what a text names, for whom it is shown to: one page, or several things to choose from.

An id of somebody else and one that does not exist are the same here: nothing is found.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from tradewind import ids
from tradewind.accounts import sql as account_sql
from tradewind.audit import sql as audit_sql
from tradewind.auth.api_keys import sql as key_sql
from tradewind.auth.model import Role
from tradewind.dashboard.admin import queries as sql_desk
from tradewind.dashboard.search import queries as sql_search
from tradewind.orders import sql_lists
from tradewind.orders.payments import sql as payment_sql
from tradewind.storage.pool import Database
from tradewind.web.caller import Caller
from tradewind.webhooks import sql as webhook_sql

MOST = 20
# How far the clock of the database may be from that of the process that made an id.
_ABOUT = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Found:
    """What a text names: where to go if it is one thing, else what to choose from."""

    where: str | None = None
    orders: Sequence[Any] = ()
    accounts: Sequence[Any] = ()


async def find(db: Database, caller: Caller, text: str) -> Found:
    """What `text` names, as far as the caller may see it."""
    look = _Look(db, caller)
    for kind, page_of in (
        (ids.ORDER, look.order),
        (ids.EVENT, look.event),
        (ids.DELIVERY, look.delivery),
        (ids.SUBSCRIPTION, look.webhook),
        (ids.API_KEY, look.key),
        (ids.ACCOUNT, look.account),
        (ids.PAYMENT, look.payment),
        (ids.REFUND, look.refund),
        (ids.JOB, look.job),
    ):
        value = kind.read(text) if text.startswith(kind.prefix) else None
        if value is not None:
            return Found(await page_of(value))
    if ids.REQUEST.read(text) is not None and text.startswith(ids.REQUEST.prefix):
        return Found(await look.request(text))
    return await look.named(text)


class _Look:
    """One caller's looks. Each answers with the path of a page, or None."""

    def __init__(self, db: Database, caller: Caller) -> None:
        self._db = db
        self._me = caller.account_id
        self._buys = Role.BUYER in caller.roles
        self._approves = Role.APPROVER in caller.roles
        self._operates = Role.OPERATOR in caller.roles

    async def order(self, order_id: UUID) -> str | None:
        order = await sql_lists.find_order(self._db, None, order_id)
        return None if order is None else await self._order_page(order.id, order.account_id)

    async def event(self, event_id: UUID) -> str | None:
        order_id = await sql_search.order_of_event(self._db, self._whose, event_id)
        return None if order_id is None else await self.order(order_id)

    async def delivery(self, delivery_id: UUID) -> str | None:
        if not self._buys:
            return None
        webhook = await sql_search.webhook_of_delivery(
            self._db, self._me, delivery_id, about=_made_at(delivery_id), within=_ABOUT
        )
        if webhook is None:
            return None
        shown = ids.DELIVERY.show(delivery_id)
        return f"/webhooks/{ids.SUBSCRIPTION.show(webhook)}/deliveries/{shown}"

    async def webhook(self, webhook_id: UUID) -> str | None:
        found = await webhook_sql.find_subscription(self._db, None, webhook_id)
        if found is None:
            return None
        shown = ids.SUBSCRIPTION.show(webhook_id)
        if self._buys and found.account_id == self._me:
            return f"/webhooks/{shown}"
        return f"/endpoints?webhook={shown}" if self._operates else None

    async def key(self, key_id: UUID) -> str | None:
        owner = await key_sql.find_owner(self._db, key_id)
        if owner is None:
            return None
        if owner == self._me:
            return "/keys"
        return f"/accounts/{ids.ACCOUNT.show(owner)}" if self._operates else None

    async def account(self, account_id: UUID) -> str | None:
        if self._operates and await account_sql.find_account(self._db, account_id=account_id):
            return f"/accounts/{ids.ACCOUNT.show(account_id)}"
        return "/account" if account_id == self._me else None

    async def payment(self, payment_id: UUID) -> str | None:
        found = await payment_sql.find_payment(self._db, payment_id)
        if found is None:
            return None
        if self._approves:
            return f"/approvals/{ids.PAYMENT.show(payment_id)}"
        return await self._order_page(found[1].id, found[1].account_id)

    async def refund(self, refund_id: UUID) -> str | None:
        order_id = await sql_search.order_of_refund(
            self._db, self._whose, refund_id, asked_at=_made_at(refund_id) - _ABOUT
        )
        return None if order_id is None else await self.order(order_id)

    async def job(self, job_id: UUID) -> str | None:
        webhook = await sql_search.webhook_of_job(self._db, self._whose, job_id)
        return None if webhook is None else await self.webhook(webhook)

    async def request(self, text: str) -> str | None:
        """What a request did, if it is in the audit log: for operators only."""
        if not self._operates:
            return None
        acts = await audit_sql.list_entries(
            self._db,
            account_id=None,
            actions=None,
            after=None,
            before=None,
            below=None,
            limit=1,
            about=text,
        )
        return f"/audit?about={text}" if acts else None

    async def named(self, text: str) -> Found:
        """What people and platforms call things: an order's other names, and accounts."""
        orders: Sequence[Any] = ()
        if self._buys or self._operates:
            orders = await sql_search.orders_named(self._db, self._whose, text, limit=MOST)
        accounts: Sequence[Any] = ()
        if self._operates:
            accounts = await sql_desk.list_accounts(
                self._db,
                text=text,
                roles=None,
                plans=None,
                locked=None,
                below=None,
                limit=MOST,
            )
            exact = [one for one in accounts if one["email"] == text.lower()]
            accounts = exact or accounts
        where = None
        if len(orders) == 1 and not accounts:
            where = await self._order_page(orders[0]["id"], orders[0]["account_id"])
        elif len(accounts) == 1 and not orders:
            where = f"/accounts/{ids.ACCOUNT.show(accounts[0]['id'])}"
        return Found(where, orders, accounts)

    @property
    def _whose(self) -> UUID | None:
        """Whose things are looked through: one's own; an operator's look is at all."""
        return None if self._operates else self._me

    async def _order_page(self, order_id: UUID, owner: UUID) -> str | None:
        if self._buys and owner == self._me:
            return f"/orders/{ids.ORDER.show(order_id)}"
        if self._operates:
            return f"/admin/orders/{ids.ORDER.show(order_id)}"
        if self._approves:
            payment = await sql_search.payment_of_order(self._db, order_id)
            return None if payment is None else f"/approvals/{ids.PAYMENT.show(payment)}"
        return None


def _made_at(value: UUID) -> datetime:
    """When an id was made, which its first 48 bits tell; made-up ones may leave the calendar."""
    millis = min(value.int >> 80, 32_503_680_000_000)
    return datetime.fromtimestamp(millis / 1000, UTC)
