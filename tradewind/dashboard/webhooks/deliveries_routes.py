"""Deliveries, in a browser: the log, one attempt, pending ones, resend, explain and test."""

from collections.abc import Mapping, Sequence
from functools import partial
from uuid import UUID

import msgspec

from tradewind import ids
from tradewind.auth.model import Buyer
from tradewind.dashboard.shell.forms import errors_of, read_time
from tradewind.dashboard.shell.labels import choices
from tradewind.dashboard.shell.render import PageRoutes, Redirect, TemplatePage
from tradewind.dashboard.shell.urls import local_path
from tradewind.dashboard.webhooks.views import (
    advice_about,
    request_view,
    response_view,
    test_steps,
    webhook_path,
)
from tradewind.delivery import log
from tradewind.delivery.errors import TestDeliveriesLimited
from tradewind.delivery.explain import Explanation, explain_event
from tradewind.delivery.model import AttemptDetail, DeliveryTrigger, LoggedAttempt
from tradewind.delivery.resend import resend
from tradewind.delivery.sql_log import AttemptFilters
from tradewind.delivery.test_delivery import send_test
from tradewind.delivery.wire import DELIVERIES, PENDING_DELIVERIES, DeliveriesQuery
from tradewind.egress.result import Outcome
from tradewind.egress.sender import Sender
from tradewind.errors import Conflict, Invalid, ResourceNotFound, ValidationFailed, existing
from tradewind.events.catalogue import EventKind
from tradewind.exports.export import export_deliveries
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database
from tradewind.web.download import csv_download
from tradewind.web.inputs import Input, read_values
from tradewind.web.paging import PageQuery
from tradewind.web.response import Response
from tradewind.web.site import Form
from tradewind.webhooks import sql as webhook_sql
from tradewind.webhooks.errors import SigningSecretUnreadable
from tradewind.webhooks.model import Subscription
from tradewind.webhooks.subscribe import get_subscription

routes = PageRoutes("/webhooks")

_MOST = 50
_UNKNOWN_EVENT = (
    "There is no event with this ID in this account. An event ID starts with evt_ and is in the "
    "body of a delivery. Old events are not stored."
)


class LogQuery(Input):
    """The filters of the log; a time without a zone is UTC, status codes are comma-separated."""

    outcome: list[str] = msgspec.field(default_factory=list)
    result: list[str] = msgspec.field(default_factory=list)
    event: list[str] = msgspec.field(default_factory=list)
    order: str = ""
    event_id: str = ""
    status_code: str = ""
    started_after: str = ""
    started_before: str = ""
    cursor: str | None = None
    limit: int = 25


class ExplainPageQuery(Input):
    """The event to explain."""

    event: str = ""


class TestQuery(Input):
    """The attempt of a test to show."""

    delivery: str | None = None


class ResendForm(Form):
    """The page to return to."""

    back: str = ""


class SelectedForm(ResendForm):
    """The selected attempts, and the page to return to."""

    delivery: list[str] = msgspec.field(default_factory=list)


class TestForm(Form):
    """The event type of a test."""

    event: EventKind | None = None


@routes.get("/{subscription_id}/deliveries", expensive=True)
async def show_log(
    subscription_id: ids.SubscriptionId, caller: Buyer, query: LogQuery, db: Database
) -> TemplatePage:
    """List the attempts; every filter is in the URL."""
    webhook = await get_subscription(db, caller.account_id, subscription_id)
    errors: Mapping[str, str] = {}
    attempts: Sequence[LoggedAttempt] = ()
    cursor = None
    try:
        api_query = _as_api_query(query)
        read = partial(
            log.list_attempts, db, caller.account_id, subscription_id, api_query.filters()
        )
        shown = await DELIVERIES.rows(api_query.cursor, api_query.limit, read)
        attempts, cursor = shown.items, shown.next_cursor
    except Invalid as error:
        errors = errors_of(error)
    return TemplatePage(
        "webhooks/deliveries.html",
        webhook=webhook,
        attempts=attempts,
        query=query,
        errors=errors,
        outcomes=choices(Outcome),
        next_cursor=cursor,
    )


def _as_api_query(query: LogQuery) -> DeliveriesQuery:
    """The filters as the query of the API, or an error about a field."""
    codes = [code for code in query.status_code.replace(",", " ").split() if code]
    for code in codes:
        if not (code.isascii() and code.isdigit() and 100 <= int(code[:9]) <= 999):  # noqa: PLR2004
            raise ValidationFailed("?status_code", "Enter status codes such as 503.")
    if not 1 <= query.limit <= _MOST:
        raise ValidationFailed("?limit", f"Must be from 1 to {_MOST}.")
    values = {
        "outcome": query.outcome,
        "result": query.result,
        "event": query.event,
        "status_code": codes,
        "cursor": query.cursor,
    }
    filled = {name: value for name, value in values.items() if value}
    api_query = read_values(DeliveriesQuery, **filled)
    api_query.limit = query.limit
    api_query.order = query.order.strip() or None
    api_query.event_id = query.event_id.strip() or None
    api_query.started_after = read_time("started_after", query.started_after)
    api_query.started_before = read_time("started_before", query.started_before)
    return api_query


@routes.get("/{subscription_id}/deliveries/export", expensive=True)
async def export_log(
    subscription_id: ids.SubscriptionId, caller: Buyer, query: LogQuery, db: Database
) -> Response:
    """Export the log as CSV, with its filters."""
    filters = _as_api_query(query).filters()
    return csv_download(
        await export_deliveries(db, caller.account_id, subscription_id, filters, bom=True)
    )


@routes.get("/{subscription_id}/deliveries/{delivery_id}")
async def show_attempt(
    subscription_id: ids.SubscriptionId, delivery_id: ids.DeliveryId, caller: Buyer, db: Database
) -> TemplatePage:
    """Show an attempt: request, response, and how to fix what failed."""
    account = caller.account_id
    webhook = await get_subscription(db, account, subscription_id)
    attempt = await log.get_attempt(db, account, subscription_id, delivery_id)
    others: Sequence[LoggedAttempt] = ()
    if attempt.trigger is not DeliveryTrigger.TEST:
        filters = AttemptFilters(event_id=attempt.event_id)
        others = await log.list_attempts(db, account, subscription_id, filters, limit=_MOST)
    return TemplatePage(
        "webhooks/attempt.html",
        webhook=webhook,
        attempt=attempt,
        others=[other for other in others if other.id != attempt.id],
        advice=advice_about(attempt),
        sent=request_view(attempt),
        received=response_view(attempt),
        can_resend=attempt.trigger is not DeliveryTrigger.TEST,
    )


@routes.post("/{subscription_id}/deliveries/{delivery_id}/redeliver")
async def resend_event(
    subscription_id: ids.SubscriptionId,
    delivery_id: ids.DeliveryId,
    caller: Buyer,
    body: ResendForm,
    db: Database,
) -> Redirect:
    """Resend the event of an attempt."""
    path = f"{webhook_path(subscription_id)}/deliveries/{ids.DELIVERY.show(delivery_id)}"
    path = local_path(body.back, default=path)
    try:
        await resend(db, caller.account_id, subscription_id, delivery_id)
    except Conflict as error:
        return Redirect(path, error.detail, tone="bad")
    return Redirect(path, "The event is being resent.")


@routes.post("/{subscription_id}/redeliver")
async def resend_selected(
    subscription_id: ids.SubscriptionId, caller: Buyer, body: SelectedForm, db: Database
) -> Redirect:
    """Resend the events of the selected attempts, each event once."""
    account = caller.account_id
    path = local_path(body.back, default=f"{webhook_path(subscription_id)}/deliveries")
    await get_subscription(db, account, subscription_id)
    if not body.delivery:
        return Redirect(path, "Select at least one attempt.", tone="bad")
    resent: set[UUID] = set()
    skipped = 0
    for delivery_id in filter(None, map(ids.DELIVERY.read, dict.fromkeys(body.delivery))):
        try:
            attempt = await log.get_attempt(db, account, subscription_id, delivery_id)
            if attempt.event_id not in resent:
                await resend(db, account, subscription_id, delivery_id)
                resent.add(attempt.event_id)
        except ResourceNotFound:
            skipped += 1
        except Conflict as error:
            return Redirect(path, error.detail, tone="bad")
    count = len(resent)
    message = "1 event is being resent." if count == 1 else f"{count} events are being resent."
    if skipped:
        message += f" {skipped} skipped: a test, or an event that is no longer stored."
    return Redirect(path, message, tone="good" if resent else "bad")


@routes.get("/{subscription_id}/pending", expensive=True)
async def show_pending(
    subscription_id: ids.SubscriptionId, caller: Buyer, query: PageQuery, db: Database
) -> TemplatePage:
    """List the pending deliveries by the time of their next attempt."""
    webhook = await get_subscription(db, caller.account_id, subscription_id)
    read = partial(log.list_pending, db, caller.account_id, subscription_id)
    shown = await PENDING_DELIVERIES.rows(query.cursor, query.limit, read)
    return TemplatePage(
        "webhooks/pending.html", webhook=webhook, pending=shown.items, next_cursor=shown.next_cursor
    )


@routes.get("/explain", expensive=True)
async def explain_for_all(caller: Buyer, query: ExplainPageQuery, db: Database) -> TemplatePage:
    """Explain what happened to an event at every webhook."""
    webhooks = await webhook_sql.list_subscriptions(db, caller.account_id, below=None, limit=_MOST)
    return await _explain(caller, query, db, webhooks, None)


@routes.get("/{subscription_id}/explain", expensive=True)
async def explain_for_webhook(
    subscription_id: ids.SubscriptionId, caller: Buyer, query: ExplainPageQuery, db: Database
) -> TemplatePage:
    """Explain what happened to an event at one webhook."""
    webhook = await get_subscription(db, caller.account_id, subscription_id)
    return await _explain(caller, query, db, [webhook], webhook)


async def _explain(
    caller: Buyer,
    query: ExplainPageQuery,
    db: Database,
    webhooks: Sequence[Subscription],
    webhook: Subscription | None,
) -> TemplatePage:
    explanations: Sequence[tuple[Subscription, Explanation]] = ()
    errors = {}
    if event := query.event.strip():
        try:
            event_id = ids.EVENT.read(event)
            results = await explain_event(db, caller.account_id, webhooks, event_id)
            explanations = list(zip(webhooks, results, strict=True))
        except ResourceNotFound:
            errors["event"] = _UNKNOWN_EVENT
    return TemplatePage(
        "webhooks/explain.html",
        status=404 if errors else 200,
        webhook=webhook,
        event=query.event,
        explanations=explanations,
        has_webhooks=bool(webhooks),
        errors=errors,
    )


@routes.get("/{subscription_id}/test")
async def show_test(
    subscription_id: ids.SubscriptionId, caller: Buyer, query: TestQuery, db: Database
) -> TemplatePage:
    """Show the form for a test, and the result of the test that was just sent."""
    webhook = await get_subscription(db, caller.account_id, subscription_id)
    attempt: AttemptDetail | None = None
    if query.delivery is not None:
        delivery_id = existing(ids.DELIVERY.read(query.delivery), ids.DELIVERY)
        attempt = await log.get_attempt(db, caller.account_id, subscription_id, delivery_id)
    return TemplatePage(
        "webhooks/test.html",
        webhook=webhook,
        attempt=attempt,
        advice=advice_about(attempt) if attempt else "",
        sent=request_view(attempt) if attempt else None,
        received=response_view(attempt) if attempt else None,
    )


@routes.post("/{subscription_id}/test")
async def send_test_delivery(
    subscription_id: ids.SubscriptionId,
    caller: Buyer,
    body: TestForm,
    db: Database,
    keyring: Keyring,
    sender: Sender,
) -> Redirect:
    """Send a test. Its steps are not in the log: the flash cookie carries them to the page."""
    path = f"{webhook_path(subscription_id)}/test"
    try:
        trial = await send_test(db, keyring, sender, caller.account_id, subscription_id, body.event)
    except (TestDeliveriesLimited, SigningSecretUnreadable) as error:
        return Redirect(path, error.detail, tone="bad")
    delivery = ids.DELIVERY.show(trial.delivery_id)
    return Redirect(f"{path}?delivery={delivery}", delivery=delivery, steps=test_steps(trial))
