"""Makes, changes and ends subscriptions; a URL is checked before it is taken."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from tradewind import ids
from tradewind.audit.model import Actor
from tradewind.audit.record import record
from tradewind.egress.grammar import UrlRefused
from tradewind.egress.guard import AddressRefused, Lookup, Policy, admit
from tradewind.egress.resolver import LookupFailed
from tradewind.errors import ResourceNotFound
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database
from tradewind.storage.transaction import Tx, transaction
from tradewind.webhooks import secret as secrets
from tradewind.webhooks import sql
from tradewind.webhooks.errors import SubscriptionLimitReached, WebhookUrlRejected
from tradewind.webhooks.model import Subscription

# Announced when deliveries that are queued are no longer wanted.
CANCELLATIONS = "cancellations"


@dataclass(frozen=True, slots=True)
class UrlPolicy:
    """What decides whether a URL may be called, and how many subscriptions an account has."""

    policy: Policy
    lookup: Lookup
    most: int

    async def check(self, url: str) -> None:
        """Refuse a URL that may not be called; one message for every blocked address."""
        try:
            await admit(url, self.policy, self.lookup)
        except (UrlRefused, AddressRefused, LookupFailed) as error:
            raise WebhookUrlRejected(str(error)) from None


@dataclass(frozen=True, slots=True)
class Wish:
    """What to change about a subscription; None leaves it as it is."""

    url: str | None = None
    events: Sequence[str] | None = None
    is_active: bool | None = None
    description: str | None = None
    catch_up: bool | None = None


async def get_subscription(
    db: Database | Tx, account_id: UUID, subscription_id: UUID
) -> Subscription:
    """A subscription of the account, or ResourceNotFound."""
    subscription = await sql.find_subscription(db, account_id, subscription_id)
    if subscription is None:
        raise ResourceNotFound(ids.SUBSCRIPTION)
    return subscription


async def subscribe(
    db: Database, keyring: Keyring, door: UrlPolicy, by: Actor, account_id: UUID, wish: Wish
) -> tuple[Subscription, str]:
    """A new subscription, and its secret, which is never shown again."""
    await door.check(wish.url or "")
    subscription_id, secret = ids.new(), secrets.make()
    async with transaction(db) as tx:
        if await sql.count_for_update(tx, account_id) >= door.most:
            raise SubscriptionLimitReached(door.most)
        await sql.insert_subscription(
            tx,
            subscription_id,
            account_id,
            url=wish.url or "",
            events=wish.events or [],
            is_active=wish.is_active is not False,
            description=wish.description or "",
            catch_up=bool(wish.catch_up),
            secret=secrets.sealed(keyring, account_id, subscription_id, secret),
        )
        await _note(tx, by, "webhook.created", account_id, subscription_id, url=wish.url)
        return await get_subscription(tx, account_id, subscription_id), secret


async def change(
    db: Database, door: UrlPolicy, by: Actor, account_id: UUID, subscription_id: UUID, wish: Wish
) -> Subscription:
    """Change a subscription; from the answer on, every attempt uses it as it is then."""
    if wish.url is not None:
        await door.check(wish.url)
    async with transaction(db) as tx:
        if not await sql.update_subscription(
            tx,
            account_id,
            subscription_id,
            url=wish.url,
            events=wish.events,
            is_active=wish.is_active,
            description=wish.description,
            catch_up=wish.catch_up,
        ):
            raise ResourceNotFound(ids.SUBSCRIPTION)
        changed = {
            name: value
            for name in ("url", "events", "is_active", "catch_up")
            if (value := getattr(wish, name)) is not None
        }
        await _note(tx, by, "webhook.changed", account_id, subscription_id, **changed)
        tx.wake(CANCELLATIONS)
        return await get_subscription(tx, account_id, subscription_id)


async def rotate(
    db: Database, keyring: Keyring, by: Actor, account_id: UUID, subscription_id: UUID
) -> tuple[Subscription, str]:
    """A new secret; from the answer on, no attempt is signed with the old one."""
    secret = secrets.make()
    async with transaction(db) as tx:
        value = secrets.sealed(keyring, account_id, subscription_id, secret)
        if not await sql.replace_secret(tx, account_id, subscription_id, value):
            raise ResourceNotFound(ids.SUBSCRIPTION)
        await _note(tx, by, "webhook.secret_rotated", account_id, subscription_id)
        return await get_subscription(tx, account_id, subscription_id), secret


async def unsubscribe(db: Database, by: Actor, account_id: UUID, subscription_id: UUID) -> None:
    """Delete a subscription; what is pending for it is cancelled."""
    async with transaction(db) as tx:
        if not await sql.delete_subscription(tx, account_id, subscription_id):
            raise ResourceNotFound(ids.SUBSCRIPTION)
        await _note(tx, by, "webhook.deleted", account_id, subscription_id)
        tx.wake(CANCELLATIONS)


async def _note(
    tx: Tx, by: Actor, action: str, account_id: UUID, subscription_id: UUID, **details: Any
) -> None:
    await record(
        tx,
        by,
        action,
        account_id=account_id,
        subject=ids.SUBSCRIPTION.show(subscription_id),
        **details,
    )
