"""Subscriptions over HTTP: create, list, change, rotate and delete."""

from functools import partial

from tradewind import clock, ids
from tradewind.audit.model import Actor
from tradewind.auth.model import Buyer
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database
from tradewind.web.endpoint import Routes
from tradewind.web.paging import Page, PageQuery
from tradewind.web.response import NO_STORE, Response, location
from tradewind.web.scopes import FULL_ACCESS, Scope
from tradewind.webhooks import sql, subscribe
from tradewind.webhooks.errors import SubscriptionLimitReached, WebhookUrlRejected
from tradewind.webhooks.subscribe import UrlPolicy
from tradewind.webhooks.wire import (
    WEBHOOKS,
    NewSubscriptionOut,
    RotatedOut,
    SubscriptionIn,
    SubscriptionOut,
    SubscriptionPatch,
    standard_secret,
)

routes = Routes("/v1/webhooks", tag="Webhooks")


@routes.get(scope=Scope.READ)
async def list_webhooks(caller: Buyer, query: PageQuery, db: Database) -> Page[SubscriptionOut]:
    """List your subscriptions, newest first. Secrets are not shown."""
    read = partial(sql.list_subscriptions, db, caller.account_id)
    return await WEBHOOKS.page(query.cursor, query.limit, read, SubscriptionOut.of)


@routes.post(
    scope=Scope.WEBHOOKS,
    status=201,
    returns=NewSubscriptionOut,
    errors=(WebhookUrlRejected, SubscriptionLimitReached),
    headers={"Location": "The subscription's path."},
)
async def create_webhook(
    caller: Buyer, body: SubscriptionIn, db: Database, keyring: Keyring, url_policy: UrlPolicy
) -> Response:
    """Subscribe a URL to events. The answer holds the signing secret, this once."""
    actor = Actor.of(caller)
    subscription, secret = await subscribe.subscribe(
        db, keyring, url_policy, actor, caller.account_id, body.changes()
    )
    shown = NewSubscriptionOut.with_secret(subscription, secret)
    return Response(shown, headers=[NO_STORE, location("webhooks", shown.id)])


@routes.get("/{id}", scope=Scope.READ)
async def get_webhook(
    subscription_id: ids.SubscriptionId, caller: Buyer, db: Database
) -> SubscriptionOut:
    """Look at a subscription."""
    return SubscriptionOut.of(
        await subscribe.get_subscription(db, caller.account_id, subscription_id)
    )


@routes.patch("/{id}", scope=Scope.WEBHOOKS, errors=(WebhookUrlRejected,))
async def update_webhook(
    subscription_id: ids.SubscriptionId,
    caller: Buyer,
    body: SubscriptionPatch,
    db: Database,
    keyring: Keyring,
    url_policy: UrlPolicy,
) -> SubscriptionOut:
    """Change a subscription.

    Every attempt that is made after the answer, a retry included, uses the new values. Switching
    it off cancels what is pending; switching it on again forgets its failures. `headers` replaces
    all headers; a value of asterisks, as you read it, keeps the stored one.
    """
    actor = Actor.of(caller)
    return SubscriptionOut.of(
        await subscribe.change(
            db,
            keyring,
            url_policy,
            actor,
            caller.account_id,
            subscription_id,
            body.changes(),
            may_move_headers=caller.scopes is None,
        )
    )


@routes.delete("/{id}", scope=Scope.WEBHOOKS, status=204)
async def delete_webhook(subscription_id: ids.SubscriptionId, caller: Buyer, db: Database) -> None:
    """Delete a subscription. What is pending for it is cancelled."""
    await subscribe.unsubscribe(db, Actor.of(caller), caller.account_id, subscription_id)


@routes.post("/{id}/rotate-secret", scope=FULL_ACCESS, returns=RotatedOut)
async def rotate_webhook_secret(
    subscription_id: ids.SubscriptionId, caller: Buyer, db: Database, keyring: Keyring
) -> Response:
    """Issue a new secret. From the answer on nothing is signed with the old one.

    To rotate without a gap, add a second subscription with the same URL, accept both secrets, and
    delete the first.
    """
    actor = Actor.of(caller)
    subscription, secret = await subscribe.rotate(
        db, keyring, actor, caller.account_id, subscription_id
    )
    rotated_at = subscription.secret_rotated_at or subscription.updated_at
    shown = RotatedOut(
        id=ids.SUBSCRIPTION.show(subscription.id),
        secret=secret,
        standard_webhooks_secret=standard_secret(subscription, secret),
        rotated_at=clock.show(rotated_at),
    )
    return Response(shown, headers=[NO_STORE])
