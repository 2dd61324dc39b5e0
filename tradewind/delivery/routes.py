"""Deliveries over HTTP: the log, what is pending, again, recovery, health, why, and a test."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import asyncpg

from tradewind import ids
from tradewind.auth.model import Buyer
from tradewind.delivery import replay, sql_log, sql_replays
from tradewind.delivery.errors import NotActive, RecoveryRunning, TestDeliveriesLimited
from tradewind.delivery.explain import explain
from tradewind.delivery.health import health_of
from tradewind.delivery.replay import Span
from tradewind.delivery.test_delivery import try_out
from tradewind.delivery.wire import (
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
    read_id,
)
from tradewind.egress.sender import Sender
from tradewind.errors import ResourceNotFound, ValidationFailed
from tradewind.events.catalogue import ORDER_UPDATED, PAYMENT_UPDATED
from tradewind.events.journal import DELIVERIES
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database
from tradewind.storage.transaction import transaction
from tradewind.web import limits
from tradewind.web.endpoint import Routes
from tradewind.web.inputs import Input, check_moment
from tradewind.web.limits import Rate
from tradewind.web.paging import Page, PageQuery, page, read_cursor
from tradewind.web.response import Response
from tradewind.webhooks.errors import SigningSecretUnreadable
from tradewind.webhooks.routes import mine

routes = Routes("/v1/webhooks", tag="Deliveries")

_TESTS = Rate(10, 10)
# An attempt starts soon after its id is made; clocks differ a little.
_ABOUT = timedelta(hours=1)
LOG_KEPT = timedelta(days=30)


class ExplainQuery(Input):
    """About which event."""

    event: str


@routes.get("/{id}/deliveries", errors=(ResourceNotFound,), expensive=True)
async def list_deliveries(
    subscription_id: ids.SubscriptionId, caller: Buyer, query: DeliveriesQuery, db: Database
) -> Page[DeliveryOut]:
    """List attempts, newest first. They are kept for 30 days."""
    await mine(db, caller.account_id, subscription_id)
    rows = await sql_log.list_attempts(
        db,
        caller.account_id,
        subscription_id,
        query.filters(),
        below=read_cursor("deliveries", query.cursor, tuple[datetime, UUID]),
        limit=query.limit + 1,
    )
    return page(
        "deliveries",
        rows,
        query.limit,
        key=lambda row: (row["started_at"], row["id"]),
        show=DeliveryOut.of,
    )


@routes.get("/{id}/deliveries/{dlv}", errors=(ResourceNotFound,))
async def get_delivery(
    subscription_id: ids.SubscriptionId, delivery_id: ids.DeliveryId, caller: Buyer, db: Database
) -> DeliveryDetailOut:
    """Look at one attempt: what was sent, byte for byte, and what came back."""
    return DeliveryDetailOut.of_all(
        await _attempt(db, caller.account_id, subscription_id, delivery_id)
    )


async def _attempt(
    db: Database, account_id: UUID, subscription_id: UUID, delivery_id: UUID
) -> asyncpg.Record:
    await mine(db, account_id, subscription_id)
    millis = delivery_id.int >> 80
    try:
        about = datetime.fromtimestamp(millis / 1000, UTC)
    except (OverflowError, ValueError, OSError):
        raise ResourceNotFound(ids.DELIVERY) from None
    found = await sql_log.find_attempt(
        db, account_id, subscription_id, delivery_id, about=about, within=_ABOUT
    )
    if found is None:
        raise ResourceNotFound(ids.DELIVERY)
    return found


@routes.post(
    "/{id}/deliveries/{dlv}/redeliver",
    status=202,
    returns=PendingOut,
    errors=(ResourceNotFound, NotActive),
)
async def redeliver(
    subscription_id: ids.SubscriptionId, delivery_id: ids.DeliveryId, caller: Buyer, db: Database
) -> Response:
    """Deliver the same event once more: the same bytes, with three attempts of its own."""
    attempt = await _attempt(db, caller.account_id, subscription_id, delivery_id)
    subscription = await mine(db, caller.account_id, subscription_id)
    if not subscription.is_active:
        raise NotActive
    async with transaction(db) as tx:
        queued = await sql_replays.queue_one(
            tx, caller.account_id, subscription_id, attempt["event_id"]
        )
        if queued is None:
            raise ResourceNotFound(ids.EVENT)
        tx.wake(DELIVERIES)
    return Response(PendingOut.of(queued))


@routes.get("/{id}/pending", errors=(ResourceNotFound,), expensive=True)
async def list_pending(
    subscription_id: ids.SubscriptionId, caller: Buyer, query: PageQuery, db: Database
) -> Page[PendingOut]:
    """List deliveries that are not over, by when they are due.

    What was cancelled, since the subscription was switched off or no longer lists the event, is not
    among them from the answer to that change on.
    """
    await mine(db, caller.account_id, subscription_id)
    rows = await sql_log.list_pending(
        db,
        caller.account_id,
        subscription_id,
        above=read_cursor("pending", query.cursor, tuple[datetime, UUID]),
        limit=query.limit + 1,
    )
    return page(
        "pending",
        rows,
        query.limit,
        key=lambda row: (row["due_at"], row["id"]),
        show=PendingOut.of,
    )


@routes.post(
    "/{id}/recover",
    status=202,
    returns=RecoverOut,
    errors=(ResourceNotFound, NotActive, RecoveryRunning),
    expensive=True,
)
async def recover_webhook(
    subscription_id: ids.SubscriptionId, caller: Buyer, body: RecoverIn, db: Database
) -> RecoverOut:
    """Deliver what was missed: failed, cancelled, and older than the subscription too.

    It is done at a measured pace, so that live events do not wait behind it. `dry_run` only counts.
    Counting stops at 10,000: `count_is_exact` is false then, and a recovery delivers the rest too.
    """
    subscription = await mine(db, caller.account_id, subscription_id)
    for pointer, moment in (("/since", body.since), ("/until", body.until)):
        if moment is not None:
            check_moment(pointer, moment)
    now = await sql_log.now(db)
    until = body.until or now
    if until <= body.since:
        raise ValidationFailed("/until", "This is not after since.")
    order_id = read_id(ids.ORDER, "/order", body.order)
    # What is older than the log cannot be known to be undelivered.
    since = body.since if body.include == "all" else max(body.since, now - LOG_KEPT)
    span = Span(since, until, order_id, everything=body.include == "all")
    if body.dry_run:
        total = await replay.count(db, caller.account_id, subscription_id, span)
        return RecoverOut(id=None, count=total.count, count_is_exact=total.is_exact)
    if not subscription.is_active:
        raise NotActive
    begun = await replay.begin(db, caller.account_id, subscription_id, span)
    if begun is None:
        raise RecoveryRunning
    job_id, total = begun
    return RecoverOut(id=ids.JOB.show(job_id), count=total.count, count_is_exact=total.is_exact)


@routes.get("/{id}/recover", errors=(ResourceNotFound,), expensive=True)
async def list_recoveries(
    subscription_id: ids.SubscriptionId, caller: Buyer, query: PageQuery, db: Database
) -> Page[JobOut]:
    """List the recoveries of a subscription, newest first, with how far each has come."""
    await mine(db, caller.account_id, subscription_id)
    rows = await sql_replays.list_jobs(
        db,
        caller.account_id,
        subscription_id,
        below=read_cursor("recoveries", query.cursor, UUID),
        limit=query.limit + 1,
    )
    return page("recoveries", rows, query.limit, key=lambda row: row["id"], show=JobOut.of)


@routes.get("/{id}/recover/{job}", errors=(ResourceNotFound,))
async def get_recovery(
    subscription_id: ids.SubscriptionId, job_id: ids.JobId, caller: Buyer, db: Database
) -> JobOut:
    """See how far a recovery has come."""
    row = await sql_replays.find_job(db, caller.account_id, subscription_id, job_id)
    if row is None:
        raise ResourceNotFound(ids.JOB)
    return JobOut.of(row)


@routes.delete("/{id}/recover/{job}", returns=JobOut, errors=(ResourceNotFound,))
async def cancel_recovery(
    subscription_id: ids.SubscriptionId, job_id: ids.JobId, caller: Buyer, db: Database
) -> JobOut:
    """Cancel a recovery. What it has queued and not yet sent is not sent."""
    async with transaction(db) as tx:
        if not await sql_replays.cancel_job(tx, caller.account_id, subscription_id, job_id):
            raise ResourceNotFound(ids.JOB)
    row = await sql_replays.find_job(db, caller.account_id, subscription_id, job_id)
    if row is None:
        raise ResourceNotFound(ids.JOB)
    return JobOut.of(row)


@routes.get("/{id}/health", errors=(ResourceNotFound,), expensive=True)
async def get_webhook_health(
    subscription_id: ids.SubscriptionId, caller: Buyer, db: Database
) -> WebhookHealthOut:
    """See how a receiver did in the last 24 hours."""
    return await health_of(db, await mine(db, caller.account_id, subscription_id))


@routes.get("/{id}/explain", errors=(ResourceNotFound,), expensive=True)
async def explain_delivery(
    subscription_id: ids.SubscriptionId, caller: Buyer, query: ExplainQuery, db: Database
) -> ExplainOut:
    """Say why an event was, or was not, delivered to this subscription."""
    subscription = await mine(db, caller.account_id, subscription_id)
    event_id = ids.EVENT.read(query.event)
    event = event_id and await sql_log.find_event(db, caller.account_id, event_id)
    if not event or event_id is None:
        raise ResourceNotFound(ids.EVENT)
    account = caller.account_id
    queued = await sql_log.find_queued(db, account, subscription_id, event_id)
    attempts = await sql_log.attempts_of(db, account, subscription_id, event_id)
    why = explain(subscription, event["type"], event["created_at"], queued, attempts)
    return ExplainOut(
        event_id=query.event,
        verdict=why.verdict,
        explanation=why.sentence,
        attempts=[DeliveryOut.of(row) for row in attempts],
    )


@routes.post(
    "/{id}/test", errors=(ResourceNotFound, TestDeliveriesLimited, SigningSecretUnreadable)
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
    subscription = await mine(db, caller.account_id, subscription_id)
    granted, budget = await limits.take(db, f"webhook test:{subscription.id}", _TESTS)
    if not granted:
        raise TestDeliveriesLimited(budget)
    first = PAYMENT_UPDATED if subscription.events[0] == PAYMENT_UPDATED else ORDER_UPDATED
    event = (body.event if body else None) or first
    return TestOut.of(await try_out(db, keyring, sender, subscription, event), subscription.url)
