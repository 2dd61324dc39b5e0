"""Deliveries over HTTP: log, pending deliveries, resend, replay, health, explain and test."""

from functools import partial
from typing import Annotated
from uuid import UUID

from msgspec import Meta

from tradewind import ids
from tradewind.auth.model import Buyer
from tradewind.delivery import log, replay
from tradewind.delivery.errors import NotActive, ReplayRunning, TestDeliveriesLimited
from tradewind.delivery.explain import explain_event
from tradewind.delivery.health import health_of
from tradewind.delivery.model import Replay
from tradewind.delivery.resend import resend
from tradewind.delivery.retry_policy import RetryPolicy
from tradewind.delivery.test_delivery import send_test
from tradewind.delivery.wire import (
    DELIVERIES,
    PENDING_DELIVERIES,
    DeliveriesQuery,
    DeliveryDetailOut,
    DeliveryOut,
    ExplainOut,
    JobOut,
    PendingOut,
    RecoverIn,
    RecoverOut,
    TestIn,
    TestOut,
    WebhookHealthOut,
)
from tradewind.egress.sender import Sender
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database
from tradewind.web.endpoint import Routes
from tradewind.web.inputs import Input
from tradewind.web.paging import CursorList, Page, PageQuery
from tradewind.web.scopes import Scope
from tradewind.webhooks.errors import SigningSecretUnreadable
from tradewind.webhooks.subscribe import get_subscription

routes = Routes("/v1/webhooks", tag="Deliveries")

_REPLAYS: CursorList[Replay] = CursorList("recoveries", UUID, key=lambda replay: replay.id)


class ExplainQuery(Input):
    """About which event."""

    event: Annotated[str, Meta(examples=["evt_06EJ4KQZC5T9XN4R5ZJ2V7M8QW"])]


@routes.get("/{id}/deliveries", scope=Scope.READ, expensive=True)
async def list_deliveries(
    subscription_id: ids.SubscriptionId, caller: Buyer, query: DeliveriesQuery, db: Database
) -> Page[DeliveryOut]:
    """List attempts, newest first.

    They are kept for 30 days unless the operator set another time.
    """
    read = partial(log.list_attempts, db, caller.account_id, subscription_id, query.filters())
    return await DELIVERIES.page(query.cursor, query.limit, read, DeliveryOut.of)


@routes.get("/{id}/deliveries/{dlv}", scope=Scope.READ)
async def get_delivery(
    subscription_id: ids.SubscriptionId, delivery_id: ids.DeliveryId, caller: Buyer, db: Database
) -> DeliveryDetailOut:
    """Look at one attempt: what was sent, byte for byte, and what came back."""
    return DeliveryDetailOut.of_detail(
        await log.get_attempt(db, caller.account_id, subscription_id, delivery_id)
    )


@routes.post(
    "/{id}/deliveries/{dlv}/redeliver", scope=Scope.WEBHOOKS, status=202, errors=(NotActive,)
)
async def redeliver(
    subscription_id: ids.SubscriptionId, delivery_id: ids.DeliveryId, caller: Buyer, db: Database
) -> PendingOut:
    """Deliver the same event once more: the same bytes, with three attempts of its own."""
    return PendingOut.of(await resend(db, caller.account_id, subscription_id, delivery_id))


@routes.get("/{id}/pending", scope=Scope.READ, expensive=True)
async def list_pending(
    subscription_id: ids.SubscriptionId, caller: Buyer, query: PageQuery, db: Database
) -> Page[PendingOut]:
    """List deliveries that are not over, by when they are due.

    Deliveries that were cancelled because the subscription was switched off, or no longer lists the
    event, are left out as soon as that change was answered.
    """
    read = partial(log.list_pending, db, caller.account_id, subscription_id)
    return await PENDING_DELIVERIES.page(query.cursor, query.limit, read, PendingOut.of)


@routes.post(
    "/{id}/recover",
    scope=Scope.WEBHOOKS,
    status=202,
    errors=(NotActive, ReplayRunning),
    expensive=True,
)
async def recover_webhook(
    subscription_id: ids.SubscriptionId,
    caller: Buyer,
    body: RecoverIn,
    db: Database,
    policy: RetryPolicy,
) -> RecoverOut:
    """Replay what was missed: failed, cancelled, and older than the subscription too.

    It is paced so that live events do not wait behind it. `dry_run` only counts. Counting stops at
    10,000: `count_is_exact` is false then, and a replay delivers the rest too.
    """
    requested, account_id = body.request(), caller.account_id
    if body.dry_run:
        total = await replay.preview(db, policy, account_id, subscription_id, requested)
        return RecoverOut(id=None, count=total.count, count_is_exact=total.is_exact)
    replay_id, total = await replay.request(db, policy, account_id, subscription_id, requested)
    return RecoverOut(id=ids.JOB.show(replay_id), count=total.count, count_is_exact=total.is_exact)


@routes.get("/{id}/recover", scope=Scope.READ, expensive=True)
async def list_recoveries(
    subscription_id: ids.SubscriptionId, caller: Buyer, query: PageQuery, db: Database
) -> Page[JobOut]:
    """List the replays of a subscription, newest first, with how far each has come."""
    read = partial(replay.list_replays, db, caller.account_id, subscription_id)
    return await _REPLAYS.page(query.cursor, query.limit, read, JobOut.of)


@routes.get("/{id}/recover/{job}", scope=Scope.READ)
async def get_recovery(
    subscription_id: ids.SubscriptionId, job_id: ids.JobId, caller: Buyer, db: Database
) -> JobOut:
    """See how far a replay has come."""
    return JobOut.of(await replay.get_replay(db, caller.account_id, subscription_id, job_id))


@routes.delete("/{id}/recover/{job}", scope=Scope.WEBHOOKS)
async def cancel_recovery(
    subscription_id: ids.SubscriptionId, job_id: ids.JobId, caller: Buyer, db: Database
) -> JobOut:
    """Cancel a replay. What it has queued and not yet sent is not sent."""
    return JobOut.of(await replay.cancel(db, caller.account_id, subscription_id, job_id))


@routes.get("/{id}/health", scope=Scope.READ, expensive=True)
async def get_webhook_health(
    subscription_id: ids.SubscriptionId, caller: Buyer, db: Database
) -> WebhookHealthOut:
    """See how an endpoint did in the last 24 hours."""
    subscription = await get_subscription(db, caller.account_id, subscription_id)
    [health] = await health_of(db, [subscription])
    return WebhookHealthOut.of(subscription, health)


@routes.get("/{id}/explain", scope=Scope.READ, expensive=True)
async def explain_delivery(
    subscription_id: ids.SubscriptionId, caller: Buyer, query: ExplainQuery, db: Database
) -> ExplainOut:
    """Say why an event was, or was not, delivered to this subscription."""
    subscription = await get_subscription(db, caller.account_id, subscription_id)
    event_id = ids.EVENT.read(query.event)
    [explanation] = await explain_event(db, caller.account_id, [subscription], event_id)
    return ExplainOut.of(query.event, explanation)


@routes.post(
    "/{id}/test", scope=Scope.WEBHOOKS, errors=(TestDeliveriesLimited, SigningSecretUnreadable)
)
async def test_webhook(
    subscription_id: ids.SubscriptionId,
    caller: Buyer,
    body: TestIn | None,
    db: Database,
    keyring: Keyring,
    sender: Sender,
) -> TestOut:
    """Send a test delivery at once, and say step by step how far it came.

    It is sent to a subscription that is switched off as well. The answer is 200 even if the
    endpoint failed. Each subscription can be tested 10 times a minute.
    """
    event = body.event if body else None
    return TestOut.of(
        await send_test(db, keyring, sender, caller.account_id, subscription_id, event)
    )
