"""Creates, changes and deletes subscriptions; a URL is checked before it is accepted."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from uuid import UUID

from tradewind import ids
from tradewind.audit.model import Actor
from tradewind.audit.record import record
from tradewind.egress.grammar import UrlRejected
from tradewind.egress.guard import AddressBlocked, Lookup, Policy, admit
from tradewind.egress.resolver import LookupFailed
from tradewind.errors import FieldError, InsufficientPermissions, ResourceNotFound, ValidationFailed
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database
from tradewind.storage.transaction import Tx, transaction
from tradewind.webhooks import secret as secrets
from tradewind.webhooks import sql
from tradewind.webhooks.errors import SubscriptionLimitReached, WebhookUrlRejected
from tradewind.webhooks.headers import MASK
from tradewind.webhooks.model import EventFilter, Subscription, SubscriptionChanges

# Announced when deliveries that are queued are no longer wanted.
CANCELLATIONS = "cancellations"


@dataclass(frozen=True, slots=True)
class UrlPolicy:
    """What decides whether a URL may be called, and what else a subscription may have.

    `most` is how many subscriptions an account has. `platforms` has the names and aliases of
    platforms that a filter may list, each with the name that events have.
    """

    policy: Policy
    lookup: Lookup
    most: int
    platforms: Mapping[str, str] = field(default_factory=dict)

    async def check(self, url: str) -> None:
        """Reject a URL that may not be called; one message for every blocked address."""
        try:
            await admit(url, self.policy, self.lookup)
        except (UrlRejected, AddressBlocked, LookupFailed) as error:
            raise WebhookUrlRejected(str(error)) from None

    def check_filter(self, changes: SubscriptionChanges) -> SubscriptionChanges:
        """The same changes with the platforms of the filter as events name them."""
        if changes.filter is None or changes.filter.platforms is None:
            return changes
        names = changes.filter.platforms
        message = f"Must be one of: {', '.join(self.platforms)}."
        unknown = [
            FieldError(f"/filter/platforms/{index}", message)
            for index, name in enumerate(names)
            if name not in self.platforms
        ]
        if unknown:
            raise ValidationFailed.several(unknown)
        platforms = list(dict.fromkeys(self.platforms[name] for name in names))
        return replace(changes, filter=EventFilter(platforms, changes.filter.statuses))


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
    changes = url_policy.check_filter(changes)
    headers = _unmasked(changes.headers or {}, {})
    await url_policy.check(changes.url or "")
    subscription_id, secret = ids.new(), secrets.make()
    async with transaction(db) as tx:
        if await sql.count_for_update(tx, account_id) >= url_policy.most:
            raise SubscriptionLimitReached(url_policy.most)
        await sql.insert_subscription(
            tx,
            subscription_id,
            account_id,
            changes,
            secret=secrets.sealed(keyring, account_id, subscription_id, secret),
            headers=secrets.sealed_headers(keyring, account_id, subscription_id, headers),
        )
        await _audit(tx, by, "webhook.created", account_id, subscription_id, url=changes.url)
        return await get_subscription(tx, account_id, subscription_id), secret


async def change(
    db: Database,
    keyring: Keyring,
    url_policy: UrlPolicy,
    by: Actor,
    account_id: UUID,
    subscription_id: UUID,
    changes: SubscriptionChanges,
    *,
    may_move_headers: bool = True,
) -> Subscription:
    """Change a subscription; from the answer on, every attempt uses it as it is then.

    Values of headers are shown to nobody. Unless the caller `may_move_headers`, they are not sent
    to another URL either.
    """
    changes = url_policy.check_filter(changes)
    if changes.url is not None:
        await url_policy.check(changes.url)
    async with transaction(db) as tx:
        headers = None
        if changes.url is not None and not may_move_headers:
            await _check_move(tx, account_id, subscription_id, changes)
        if changes.headers is not None:
            exists, stored = await sql.lock_sealed_headers(tx, account_id, subscription_id)
            if not exists:
                raise ResourceNotFound(ids.SUBSCRIPTION)
            subscription = (keyring, account_id, subscription_id)
            values = _unmasked(changes.headers, secrets.unsealed_headers(*subscription, stored))
            headers = secrets.sealed_headers(*subscription, values)
        if not await sql.update_subscription(
            tx, account_id, subscription_id, changes, headers=headers
        ):
            raise ResourceNotFound(ids.SUBSCRIPTION)
        await _audit(tx, by, "webhook.changed", account_id, subscription_id, **_audited(changes))
        tx.wake(CANCELLATIONS)
        return await get_subscription(tx, account_id, subscription_id)


async def _check_move(
    tx: Tx, account_id: UUID, subscription_id: UUID, changes: SubscriptionChanges
) -> None:
    """Reject a change that would send stored values of headers to another URL."""
    await sql.lock_sealed_headers(tx, account_id, subscription_id)
    subscription = await get_subscription(tx, account_id, subscription_id)
    if changes.headers is None:
        keeps_values = bool(subscription.header_names)
    else:
        keeps_values = MASK in changes.headers.values()
    if keeps_values and changes.url != subscription.url:
        raise InsufficientPermissions(
            "This webhook has headers with stored values, which an API key with scopes cannot "
            "send to another URL: give all values of `headers` anew, or use a key without scopes."
        )


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


def _unmasked(headers: Mapping[str, str], stored: Mapping[str, str]) -> dict[str, str]:
    """The headers with stored values in place of masks: whoever sends a mask keeps the value."""
    values = {name.lower(): value for name, value in stored.items()}
    unknown = [
        FieldError(f"/headers/{name.replace('~', '~0')}", "Has no stored value; send its value.")
        for name, value in headers.items()
        if value == MASK and name.lower() not in values
    ]
    if unknown:
        raise ValidationFailed.several(unknown)
    return {
        name: values[name.lower()] if value == MASK else value for name, value in headers.items()
    }


def _audited(changes: SubscriptionChanges) -> dict[str, object]:
    """What the audit log says of a change: of headers only their names."""
    changed: dict[str, object] = {
        name: value
        for name in ("url", "events", "is_active", "catch_up", "standard_webhooks")
        if (value := getattr(changes, name)) is not None
    }
    if changes.headers is not None:
        changed["headers"] = list(changes.headers)
    if changes.filter is not None:
        changed["filter"] = asdict(changes.filter) if changes.filter else None
    return changed


async def _audit(
    tx: Tx, by: Actor, action: str, account_id: UUID, subscription_id: UUID, **details: object
) -> None:
    record(
        tx,
        by,
        action,
        account_id=account_id,
        subject=ids.SUBSCRIPTION.show(subscription_id),
        **details,
    )
