"""Creates, changes and deletes subscriptions; a URL is checked before it is accepted."""

from dataclasses import dataclass
from uuid import UUID

from tradewind import ids
from tradewind.audit.model import Actor
from tradewind.audit.record import record
from tradewind.egress.grammar import UrlRejected
from tradewind.egress.guard import AddressBlocked, Lookup, Policy, admit
from tradewind.egress.resolver import LookupFailed
from tradewind.errors import ResourceNotFound
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database
from tradewind.storage.transaction import Tx, transaction
from tradewind.webhooks import secret as secrets
from tradewind.webhooks import sql
from tradewind.webhooks.errors import SubscriptionLimitReached, WebhookUrlRejected
from tradewind.webhooks.model import Subscription, SubscriptionChanges

# Announced when deliveries that are queued are no longer wanted.
CANCELLATIONS = "cancellations"


@dataclass(frozen=True, slots=True)
class UrlPolicy:
    """What decides whether a URL may be called, and how many subscriptions an account has."""

    policy: Policy
    lookup: Lookup
    most: int

    async def check(self, url: str) -> None:
        """Reject a URL that may not be called; one message for every blocked address."""
        try:
            await admit(url, self.policy, self.lookup)
        except (UrlRejected, AddressBlocked, LookupFailed) as error:
            raise WebhookUrlRejected(str(error)) from None


async def get_subscription(
    db: Database | Tx, account_id: UUID, subscription_id: UUID
) -> Subscription:
    """A subscription of the account, or ResourceNotFound."""
    subscription = await sql.find_subscription(db, account_id, subscription_id)
    if subscription is None:
        raise ResourceNotFound(ids.SUBSCRIPTION)
    return subscription


async def subscribe(
    db: Database,
    keyring: Keyring,
    url_policy: UrlPolicy,
    by: Actor,
    account_id: UUID,
    changes: SubscriptionChanges,
) -> tuple[Subscription, str]:
    """A new subscription, and its secret, which is never shown again."""
    await url_policy.check(changes.url or "")
    subscription_id, secret = ids.new(), secrets.make()
    async with transaction(db) as tx:
        if await sql.count_for_update(tx, account_id) >= url_policy.most:
            raise SubscriptionLimitReached(url_policy.most)
        await sql.insert_subscription(
            tx,
            subscription_id,
            account_id,
            url=changes.url or "",
            events=changes.events or [],
            is_active=changes.is_active is not False,
            description=changes.description or "",
            catch_up=bool(changes.catch_up),
            secret=secrets.sealed(keyring, account_id, subscription_id, secret),
        )
        await _audit(tx, by, "webhook.created", account_id, subscription_id, url=changes.url)
        return await get_subscription(tx, account_id, subscription_id), secret


async def change(
    db: Database,
    url_policy: UrlPolicy,
    by: Actor,
    account_id: UUID,
    subscription_id: UUID,
    changes: SubscriptionChanges,
) -> Subscription:
    """Change a subscription; from the answer on, every attempt uses it as it is then."""
    if changes.url is not None:
        await url_policy.check(changes.url)
    async with transaction(db) as tx:
        if not await sql.update_subscription(tx, account_id, subscription_id, changes):
            raise ResourceNotFound(ids.SUBSCRIPTION)
        changed = {
            name: value
            for name in ("url", "events", "is_active", "catch_up")
            if (value := getattr(changes, name)) is not None
        }
        await _audit(tx, by, "webhook.changed", account_id, subscription_id, **changed)
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
        await _audit(tx, by, "webhook.secret_rotated", account_id, subscription_id)
        return await get_subscription(tx, account_id, subscription_id), secret


async def unsubscribe(db: Database, by: Actor, account_id: UUID, subscription_id: UUID) -> None:
    """Delete a subscription; what is pending for it is cancelled."""
    async with transaction(db) as tx:
        if not await sql.delete_subscription(tx, account_id, subscription_id):
            raise ResourceNotFound(ids.SUBSCRIPTION)
        await _audit(tx, by, "webhook.deleted", account_id, subscription_id)
        tx.wake(CANCELLATIONS)


async def _audit(
    tx: Tx, by: Actor, action: str, account_id: UUID, subscription_id: UUID, **details: object
) -> None:
    await record(
        tx,
        by,
        action,
        account_id=account_id,
        subject=ids.SUBSCRIPTION.show(subscription_id),
        **details,
    )
