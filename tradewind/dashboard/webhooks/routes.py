"""Webhooks, in a browser: list with health, create, change and delete, and replays."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import get_args

import msgspec

from tradewind import ids
from tradewind.audit.model import Actor
from tradewind.auth.model import Buyer
from tradewind.dashboard.admin import queries as admin_queries
from tradewind.dashboard.shell.charts import attempts_by_hour_chart
from tradewind.dashboard.shell.forms import errors_of, read_time, required_text
from tradewind.dashboard.shell.labels import label, marketplace
from tradewind.dashboard.shell.render import PageResult, PageRoutes, Redirect, TemplatePage
from tradewind.dashboard.shell.session import FlashSecret
from tradewind.dashboard.webhooks import queries
from tradewind.dashboard.webhooks.views import (
    VERIFY_OPENSSL,
    VERIFY_PLAIN,
    VERIFY_PYTHON,
    read_headers,
    replay_presets,
    show_filter,
    show_headers,
    webhook_path,
    webhook_state,
)
from tradewind.delivery import log, replay
from tradewind.delivery.health import health_of
from tradewind.delivery.model import Total
from tradewind.delivery.retry_policy import RetryPolicy
from tradewind.delivery.sql_log import AttemptFilters
from tradewind.delivery.wire import RecoverIn
from tradewind.errors import ApiError, Conflict, Invalid, ValidationFailed
from tradewind.storage import sql as storage_sql
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database
from tradewind.web.inputs import read_values
from tradewind.web.paging import PageQuery
from tradewind.web.request import Request
from tradewind.web.site import Form
from tradewind.webhooks import sql, subscribe
from tradewind.webhooks.model import Subscription
from tradewind.webhooks.secret import standard_form
from tradewind.webhooks.subscribe import UrlPolicy, get_subscription
from tradewind.webhooks.wire import (
    BOTH,
    WEBHOOKS,
    OrderStatusName,
    SubscriptionIn,
    SubscriptionPatch,
)

routes = PageRoutes("/webhooks")

_RECENT = 8
_REPLAYS = 20
_SNIPPETS = {"python": VERIFY_PYTHON, "plain": VERIFY_PLAIN, "openssl": VERIFY_OPENSSL}


class WebhookForm(Form):
    """The settings of a webhook."""

    url: str = ""
    events: list[str] = msgspec.field(default_factory=list)
    description: str = ""
    catch_up: bool = False
    headers: str = ""
    standard_webhooks: bool = False
    platforms: list[str] = msgspec.field(default_factory=list)
    statuses: list[str] = msgspec.field(default_factory=list)


class SwitchForm(Form):
    """Whether to enable or disable a webhook."""

    on: bool = False


class ReplayForm(Form):
    """The events to replay; as a query, those to preview."""

    since: str = ""
    until: str = ""
    order: str = ""
    include: str = "undelivered"


@dataclass(frozen=True, slots=True)
class ReplayPreview:
    """The number of events that a replay would send, and the end of its window."""

    total: Total
    until: datetime


@routes.get()
async def show_webhooks(caller: Buyer, query: PageQuery, db: Database) -> TemplatePage:
    """List the webhooks with their health."""
    read = partial(sql.list_subscriptions, db, caller.account_id)
    shown = await WEBHOOKS.rows(query.cursor, query.limit, read)
    return TemplatePage(
        "webhooks/webhooks.html",
        webhooks=list(zip(shown.items, await health_of(db, shown.items), strict=True)),
        webhook_state=webhook_state,
        next_cursor=shown.next_cursor,
    )


@routes.get("/new")
async def show_new(caller: Buyer, url_policy: UrlPolicy) -> TemplatePage:
    """Show the form for a new webhook. People want missed events replayed, so it is ticked."""
    form = WebhookForm(events=list(BOTH), catch_up=True)
    return _form_page(form, None, url_policy)


@routes.post("/new")
async def create_webhook(
    caller: Buyer, body: WebhookForm, db: Database, keyring: Keyring, url_policy: UrlPolicy
) -> PageResult:
    """Create a webhook and show its secret on the next page."""
    try:
        settings = read_values(SubscriptionIn, **_read(body)).changes()
        webhook, secret = await subscribe.subscribe(
            db, keyring, url_policy, Actor.of(caller), caller.account_id, settings
        )
    except (Invalid, Conflict) as error:
        page = await show_new(caller, url_policy)
        return page.rejected(error, _form_errors(error), form=body)
    return Redirect(
        webhook_path(webhook.id),
        "Webhook created. Save its signing secret, then send a test.",
        secret=_shown_once(webhook, secret, "Signing secret of the new webhook"),
    )


@routes.get("/{subscription_id}/edit")
async def show_edit(
    subscription_id: ids.SubscriptionId, caller: Buyer, db: Database, url_policy: UrlPolicy
) -> TemplatePage:
    """Show the form to edit a webhook."""
    webhook = await get_subscription(db, caller.account_id, subscription_id)
    form = WebhookForm(
        url=webhook.url,
        events=list(webhook.events),
        description=webhook.description,
        catch_up=webhook.catch_up,
        headers=show_headers(webhook.header_names),
        standard_webhooks=webhook.standard_webhooks,
        platforms=list((webhook.filter and webhook.filter.platforms) or ()),
        statuses=list((webhook.filter and webhook.filter.statuses) or ()),
    )
    return _form_page(form, webhook, url_policy)


@routes.post("/{subscription_id}/edit")
async def edit_webhook(
    subscription_id: ids.SubscriptionId,
    caller: Buyer,
    body: WebhookForm,
    db: Database,
    keyring: Keyring,
    url_policy: UrlPolicy,
) -> PageResult:
    """Change a webhook. An unchanged URL is not checked again."""
    webhook = await get_subscription(db, caller.account_id, subscription_id)
    try:
        values = _read(body)
        if values["url"] == webhook.url:
            del values["url"]
        settings = read_values(SubscriptionPatch, **values).changes()
        actor = Actor.of(caller)
        await subscribe.change(
            db, keyring, url_policy, actor, caller.account_id, subscription_id, settings
        )
    except Invalid as error:
        page = await show_edit(subscription_id, caller, db, url_policy)
        return page.rejected(error, _form_errors(error), form=body)
    return Redirect(
        webhook_path(subscription_id),
        "Webhook saved. Every attempt from now on uses the new settings.",
    )


@routes.get("/{subscription_id}")
async def show_webhook(
    subscription_id: ids.SubscriptionId, caller: Buyer, db: Database
) -> TemplatePage:
    """Show a webhook: health, attempts by hour, recent attempts, pending deliveries, replays."""
    account = caller.account_id
    webhook = await get_subscription(db, account, subscription_id)
    [health] = await health_of(db, [webhook])
    attempts = await log.list_attempts(
        db, account, subscription_id, AttemptFilters(), limit=_RECENT
    )
    pending = await log.list_pending(db, account, subscription_id, limit=_RECENT + 1)
    hours = await queries.attempts_by_hour(db, account, subscription_id)
    return TemplatePage(
        "webhooks/webhook.html",
        webhook=webhook,
        filter_text=show_filter(webhook.filter),
        state=webhook_state(webhook, health),
        last_failure=(await admin_queries.webhook_states(db, [webhook.id])).get(webhook.id),
        health=health,
        attempts=attempts,
        pending=pending[:_RECENT],
        has_more_pending=len(pending) > _RECENT,
        replays=await replay.list_replays(db, account, subscription_id, limit=_RECENT),
        snippets=_SNIPPETS,
        chart=attempts_by_hour_chart(hours),
    )


@routes.post("/{subscription_id}/rotate")
async def rotate_secret(
    subscription_id: ids.SubscriptionId, caller: Buyer, body: Form, db: Database, keyring: Keyring
) -> Redirect:
    """Rotate the signing secret and show the new one on the next page."""
    actor = Actor.of(caller)
    webhook, secret = await subscribe.rotate(db, keyring, actor, caller.account_id, subscription_id)
    return Redirect(
        webhook_path(subscription_id),
        "Signing secret rotated. The old secret no longer signs anything.",
        secret=_shown_once(webhook, secret, "New signing secret"),
    )


@routes.post("/{subscription_id}/switch")
async def switch_webhook(
    subscription_id: ids.SubscriptionId,
    caller: Buyer,
    body: SwitchForm,
    db: Database,
    keyring: Keyring,
    url_policy: UrlPolicy,
) -> Redirect:
    """Enable a webhook, which clears its failures, or disable it, which cancels deliveries."""
    actor = Actor.of(caller)
    settings = SubscriptionPatch(is_active=body.on).changes()
    await subscribe.change(
        db, keyring, url_policy, actor, caller.account_id, subscription_id, settings
    )
    message = (
        "Webhook enabled. You can replay the events it missed."
        if body.on
        else "Webhook disabled. Pending deliveries were cancelled."
    )
    return Redirect(webhook_path(subscription_id), message)


@routes.post("/{subscription_id}/delete")
async def delete_webhook(
    subscription_id: ids.SubscriptionId, caller: Buyer, body: Form, db: Database
) -> Redirect:
    """Delete a webhook; its pending deliveries are cancelled."""
    await subscribe.unsubscribe(db, Actor.of(caller), caller.account_id, subscription_id)
    return Redirect("/webhooks", "Webhook deleted.")


def _form_page(
    form: WebhookForm, webhook: Subscription | None, url_policy: UrlPolicy
) -> TemplatePage:
    return TemplatePage(
        "webhooks/form.html",
        webhook=webhook,
        form=form,
        platforms=[
            (name, marketplace(name)) for name in dict.fromkeys(url_policy.platforms.values())
        ],
        statuses=[(status, label(status)) for status in get_args(OrderStatusName)],
        options_open=bool(
            form.headers or form.standard_webhooks or form.platforms or form.statuses
        ),
    )


def _form_errors(error: ApiError) -> Mapping[str, str]:
    """The messages by field: those about a header name it, and a filter has two fields."""
    messages = dict(errors_of(error))
    for field_error in error.facts.get("errors", ()):
        pointer = str(field_error["pointer"])
        _, field, *rest = pointer.split("/") if pointer else ("", "")
        if field == "headers" and rest:
            name = rest[0].replace("~1", "/").replace("~0", "~")
            messages["headers"] = f"{name}: {field_error['message']}"
        if field == "filter":
            messages[rest[0] if rest else "platforms"] = str(field_error["message"])
    return messages


def _shown_once(webhook: Subscription, secret: str, name: str) -> FlashSecret:
    standard = standard_form(secret) if webhook.standard_webhooks else None
    return FlashSecret(secret, name, standard, "The same for libraries of Standard Webhooks")


def _read(body: WebhookForm) -> dict[str, object]:
    """The form as the API takes it."""
    url = required_text("url", body.url, "Enter a URL that starts with https://")
    if not body.events:
        raise ValidationFailed("/events", "Select at least one event type.")
    return {
        "url": url,
        "events": body.events,
        "description": body.description.strip(),
        "catch_up": body.catch_up,
        "headers": read_headers(body.headers),
        "standard_webhooks": body.standard_webhooks,
        "filter": {"platforms": body.platforms or None, "statuses": body.statuses or None},
    }


@routes.get("/{subscription_id}/recover", expensive=True)
async def show_replay(
    request: Request,
    subscription_id: ids.SubscriptionId,
    caller: Buyer,
    query: ReplayForm,
    db: Database,
    policy: RetryPolicy,
) -> TemplatePage:
    """List the replays, and preview a new one."""
    webhook = await get_subscription(db, caller.account_id, subscription_id)
    now = await storage_sql.now(db)
    preview: ReplayPreview | None = None
    errors: Mapping[str, str] = {}
    if query.since or request.method == "POST":
        try:
            window = _read_replay(query)
            window.until = window.until or now
            total = await replay.preview(
                db, policy, caller.account_id, subscription_id, window.request()
            )
            preview = ReplayPreview(total, window.until)
        except Invalid as error:
            errors = errors_of(error)
    return TemplatePage(
        "webhooks/replay.html",
        errors=errors,
        webhook=webhook,
        query=query,
        preview=preview,
        replays=await replay.list_replays(db, caller.account_id, subscription_id, limit=_REPLAYS),
        presets=replay_presets(now, webhook.failing_since),
    )


@routes.post("/{subscription_id}/recover", expensive=True)
async def start_replay(
    request: Request,
    subscription_id: ids.SubscriptionId,
    caller: Buyer,
    body: ReplayForm,
    db: Database,
    policy: RetryPolicy,
) -> PageResult:
    """Replay the previewed events. The form carries the end of the preview's window."""
    path = f"{webhook_path(subscription_id)}/recover"
    try:
        wanted = _read_replay(body).request()
        _, total = await replay.request(db, policy, caller.account_id, subscription_id, wanted)
    except Invalid:
        # The preview of the same events has the same error, and shows it.
        return await show_replay(request, subscription_id, caller, body, db, policy)
    except Conflict as error:
        return Redirect(path, error.detail, tone="bad")
    events = "1 event" if total.count == 1 else f"{total.count:,} events"
    message = f"Replay started: {events}." if total.is_exact else "Replay started."
    return Redirect(path, message)


@routes.post("/{subscription_id}/recover/{job_id}/cancel")
async def cancel_replay(
    subscription_id: ids.SubscriptionId, job_id: ids.JobId, caller: Buyer, body: Form, db: Database
) -> Redirect:
    """Cancel a replay."""
    await replay.cancel(db, caller.account_id, subscription_id, job_id)
    message = "Replay cancelled. Events that were not sent yet will not be sent."
    return Redirect(f"{webhook_path(subscription_id)}/recover", message)


def _read_replay(query: ReplayForm) -> RecoverIn:
    """The form as the API takes it."""
    since = read_time("since", query.since)
    if since is None:
        raise ValidationFailed("/since", "Enter a start time.")
    return read_values(
        RecoverIn,
        since=since,
        until=read_time("until", query.until),
        order=query.order.strip() or None,
        include=query.include or "undelivered",
    )
