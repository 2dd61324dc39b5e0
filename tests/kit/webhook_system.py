"""A whole system as its endpoints see it: subscriptions, events on demand, and the log."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from simulator.sandbox_kit import KEYS

from kit.postgres import Postgres
from kit.server import Person
from kit.system import System
from tradewind import clock, ids
from tradewind.events import journal
from tradewind.events.catalogue import ORDER_UPDATED, EventKind, OrderNews, compose
from tradewind.storage.pool import Database
from tradewind.storage.transaction import transaction

_PATIENCE_SECONDS = 20.0


@dataclass(frozen=True)
class Webhook:
    """A subscription and its secret."""

    id: str
    secret: str

    @property
    def path(self) -> str:
        return f"/v1/webhooks/{self.id}"

    @property
    def uuid(self) -> UUID:
        result = ids.SUBSCRIPTION.read(self.id)
        assert result is not None
        return result


class WebhookSystem(System):
    """The buyer's subscriptions."""

    @staticmethod
    def of(system: System) -> "WebhookSystem":
        """The same system with a buyer of one's own; its platforms' secrets are watched for."""
        system.api.launcher.secrets |= {
            secret for app in KEYS.values() for secret in (app.secret, app.access_token)
        }
        return WebhookSystem(
            system.api, system.market, system.api.person(), system.approver, system.skus
        )

    def hook(self, url: str, *, by: Person | None = None, **more: Any) -> Webhook:
        """A new subscription."""
        made = self.ok("POST", "/v1/webhooks", by=by, json={"url": url, **more})
        return self.known(made["id"], made["secret"])

    def rotated(self, hook: Webhook) -> Webhook:
        """The same subscription with a new secret."""
        made = self.ok("POST", f"{hook.path}/rotate-secret")
        return self.known(made["id"], made["secret"])

    def known(self, hook_id: str, secret: str) -> Webhook:
        self.api.launcher.secrets.add(secret)
        return Webhook(hook_id, secret)

    def change(self, hook: Webhook, **wish: Any) -> Any:
        return self.ok("PATCH", hook.path, json=wish)

    def emit(
        self,
        count: int = 1,
        kind: EventKind = ORDER_UPDATED,
        *,
        by: Person | None = None,
        order_id: UUID | None = None,
        ago: timedelta = timedelta(0),
        **news: str,
    ) -> list[str]:
        """Write events into the journal as a change of an order does; their ids."""
        account_id = (by or self.buyer).uuid

        def work(db: Database) -> Awaitable[list[str]]:
            return write_events(db, account_id, count, kind, order_id=order_id, ago=ago, **news)

        return self.api.launcher.postgres.on_database(self.api.database_url, work)

    def now(self) -> datetime:
        moment: datetime = self.api.fetch("SELECT tradewind_now() AS now")[0]["now"]
        return moment

    def pass_time(self, seconds: float) -> None:
        self.api.move_clock(timedelta(seconds=seconds))

    def log(self, hook: Webhook, query: str = "limit=100") -> list[Any]:
        """The attempts of a subscription, the latest first."""
        items: list[Any] = self.ok("GET", f"{hook.path}/deliveries?{query}")["items"]
        return items

    def pending(self, hook: Webhook) -> list[Any]:
        items: list[Any] = self.ok("GET", f"{hook.path}/pending?limit=100")["items"]
        return items

    def health(self, hook: Webhook) -> Any:
        return self.ok("GET", f"{hook.path}/health")

    def logged(self, hook: Webhook, count: int) -> list[Any]:
        """Wait until so many attempts are in the log."""
        result: list[Any] = until(lambda: self.log(hook), lambda log: len(log) >= count)
        return result

    def tried(self, hook: Webhook, attempts: int = 1) -> list[Any]:
        """Wait until something was tried so often, and is not under way any more."""
        log = self.logged(hook, attempts)
        until(lambda: self.pending(hook), lambda rows: not any(row["under_way"] for row in rows))
        return log

    def verdict(self, hook: Webhook, event_id: str) -> str:
        result: str = self.ok("GET", f"{hook.path}/explain?event={event_id}")["verdict"]
        return result


def until(look: Callable[[], Any], good: Callable[[Any], Any]) -> Any:
    """Look until it is as it should become, for a while at the most."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while not good(result := look()):
        assert time.monotonic() < deadline, result
        time.sleep(0.02)
    return result


def emit(
    url: str,
    account_id: UUID,
    count: int = 1,
    kind: EventKind = ORDER_UPDATED,
    *,
    order_id: UUID | None = None,
) -> list[str]:
    """Write events of an account as a change of an order does; their ids."""

    async def work() -> list[str]:
        db = Database(url, size=1, name="test")
        await db.open()
        try:
            return await write_events(db, account_id, count, kind, order_id=order_id)
        finally:
            await db.close()

    return Postgres.run(work())


async def write_events(
    db: Database,
    account_id: UUID,
    count: int,
    kind: EventKind,
    *,
    order_id: UUID | None = None,
    ago: timedelta = timedelta(0),
    platform: str = "sandbox",
    status: str = "paid",
) -> list[str]:
    order_id = order_id or ids.new()
    now = await db.fetchval("SELECT tradewind_now()") - ago
    news = OrderNews(
        id=ids.ORDER.show(order_id),
        platform=platform,
        order_id="1688001",
        status=status,
        payment_status="paid",
        platform_payment_status="paid",
        total_amount_cny=128.5,
        updated_at=clock.show(now),
    )
    events = [compose(account_id, order_id, kind, news, now) for _ in range(count)]
    async with transaction(db) as tx:
        journal.append(tx, events)
    return [ids.EVENT.show(event.id) for event in events]
