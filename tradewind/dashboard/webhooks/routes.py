"""Webhooks, in a browser: list with health, make, change, rotate, switch and delete."""

from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

import asyncpg
import msgspec

from tradewind import clock, ids
from tradewind.audit.model import Actor
from tradewind.auth.model import Buyer
from tradewind.dashboard.shell import charts
from tradewind.dashboard.shell.flash import Shown
from tradewind.dashboard.shell.forms import errors_of
from tradewind.dashboard.shell.render import Renderer
from tradewind.dashboard.webhooks import queries as sql_webhooks
from tradewind.dashboard.webhooks.request_code import VERIFY_OPENSSL, VERIFY_PLAIN, VERIFY_PYTHON
from tradewind.delivery import log, replay
from tradewind.delivery.health import health_of
from tradewind.delivery.sql_log import Filters
from tradewind.delivery.wire import DeliveryOut, JobOut, PendingOut, WebhookHealthOut
from tradewind.errors import Conflict, Invalid, ValidationFailed
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database
from tradewind.web import problems
from tradewind.web.endpoint import Routes
from tradewind.web.inputs import read_values
from tradewind.web.paging import Item, Page, PageQuery, Row, page, read_cursor
from tradewind.web.request import Request
from tradewind.web.response import Response
from tradewind.web.site import Form
from tradewind.webhooks import sql, subscribe
from tradewind.webhooks.model import Subscription
from tradewind.webhooks.subscribe import UrlPolicy, get_subscription
from tradewind.webhooks.wire import BOTH, SubscriptionIn, SubscriptionPatch

routes = Routes("/webhooks", tag="Dashboard", hidden=True, pages=True)

_FEW = 8
_SNIPPETS = {"python": VERIFY_PYTHON, "plain": VERIFY_PLAIN, "openssl": VERIFY_OPENSSL}


class WebhookForm(Form):
    """What a webhook is made or changed by."""

    url: str = ""
    events: list[str] = msgspec.field(default_factory=list)
    description: str = ""
    catch_up: bool = False


class SwitchForm(Form):
    """On or off."""

    on: bool = False


@routes.get(media_type="text/html")
async def show_webhooks(
    request: Request, caller: Buyer, query: PageQuery, db: Database, renderer: Renderer
) -> Response:
    """Every webhook, and how each does."""
    found = await sql.list_subscriptions(
        db,
        caller.account_id,
        below=read_cursor("webhooks", query.cursor, UUID),
        limit=query.limit + 1,
    )
    shown = page("webhooks", found, query.limit, key=lambda one: one.id, show=lambda one: one)
    healths = [
        WebhookHealthOut.of(webhook, health)
        for webhook, health in zip(shown.items, await health_of(db, shown.items), strict=True)
    ]
    after = f"/webhooks?limit={query.limit}&cursor={shown.next_cursor}"
    return renderer.page(
        "webhooks.html",
        request,
        caller,
        webhooks=list(zip(shown.items, healths, strict=True)),
        states=[state(one) for one in shown.items],
        next_url=after if shown.has_more else None,
        first_url="/webhooks" if query.cursor else None,
    )


@routes.get("/new", media_type="text/html")
async def show_new(request: Request, caller: Buyer, renderer: Renderer) -> Response:
    """The form for a new webhook."""
    return _form(request, caller, renderer, WebhookForm(events=list(BOTH)))


@routes.post("/new", media_type="text/html")
async def make_webhook(
    request: Request,
    caller: Buyer,
    body: WebhookForm,
    db: Database,
    keyring: Keyring,
    door: UrlPolicy,
    renderer: Renderer,
) -> Response:
    """Make it, and show its secret on the page that follows."""
    try:
        wanted = read_values(SubscriptionIn, **_read(body))
        made, secret = await subscribe.subscribe(
            db, keyring, door, Actor.of(caller, request), caller.account_id, wanted.changes()
        )
    except (Invalid, Conflict) as refusal:
        return _form(request, caller, renderer, body, refusal=refusal)
    return renderer.to(
        caller,
        address(made.id),
        "The webhook was made. Keep its secret, then send a test.",
        secret=_shown(made.id, secret, "The signing secret of your new webhook"),
    )


@routes.get("/{subscription_id}/edit", media_type="text/html")
async def show_edit(
    request: Request,
    subscription_id: ids.SubscriptionId,
    caller: Buyer,
    db: Database,
    renderer: Renderer,
) -> Response:
    """The form to change a webhook."""
    webhook = await get_subscription(db, caller.account_id, subscription_id)
    filled = WebhookForm(
        url=webhook.url,
        events=list(webhook.events),
        description=webhook.description,
        catch_up=webhook.catch_up,
    )
    return _form(request, caller, renderer, filled, webhook=webhook)


@routes.post("/{subscription_id}/edit", media_type="text/html")
async def change_webhook(
    request: Request,
    subscription_id: ids.SubscriptionId,
    caller: Buyer,
    body: WebhookForm,
    db: Database,
    door: UrlPolicy,
    renderer: Renderer,
) -> Response:
    """Change it. A URL that stays as it was is not looked up again."""
    webhook = await get_subscription(db, caller.account_id, subscription_id)
    try:
        given = _read(body)
        if given["url"] == webhook.url:
            del given["url"]
        wish = read_values(SubscriptionPatch, **given).changes()
        actor = Actor.of(caller, request)
        await subscribe.change(db, door, actor, caller.account_id, subscription_id, wish)
    except Invalid as refusal:
        return _form(request, caller, renderer, body, webhook=webhook, refusal=refusal)
    return renderer.to(
        caller, address(subscription_id), "Changed. Every attempt from now on uses this."
    )


@routes.get("/{subscription_id}", media_type="text/html")
async def show_webhook(
    request: Request,
    subscription_id: ids.SubscriptionId,
    caller: Buyer,
    db: Database,
    renderer: Renderer,
) -> Response:
    """One webhook: how it does, what is pending, what was tried and recovered lately."""
    account = caller.account_id
    webhook = await get_subscription(db, account, subscription_id)
    hours = await sql_webhooks.attempts_by_hour(db, account, subscription_id)
    pending = await log.list_pending(db, account, subscription_id, limit=_FEW + 1)
    attempts = await log.list_attempts(db, account, subscription_id, Filters(), limit=_FEW + 1)
    jobs = await replay.list_replays(db, account, subscription_id, limit=_FEW)
    [health] = await health_of(db, [webhook])
    return renderer.page(
        "webhook.html",
        request,
        caller,
        webhook=webhook,
        state=state(webhook),
        health=WebhookHealthOut.of(webhook, health),
        pending=_page(pending, PendingOut.of),
        attempts=_page(attempts, DeliveryOut.of),
        jobs=[JobOut.of(job) for job in jobs],
        snippets=_SNIPPETS,
        **_chart(hours),
    )


@routes.post("/{subscription_id}/rotate", media_type="text/html")
async def rotate_secret(
    request: Request,
    subscription_id: ids.SubscriptionId,
    caller: Buyer,
    body: Form,
    db: Database,
    keyring: Keyring,
    renderer: Renderer,
) -> Response:
    """A new secret, shown on the page that follows."""
    actor = Actor.of(caller, request)
    _, secret = await subscribe.rotate(db, keyring, actor, caller.account_id, subscription_id)
    return renderer.to(
        caller,
        address(subscription_id),
        "The secret was replaced: nothing is signed with the old one any more.",
        secret=_shown(subscription_id, secret, "The new signing secret"),
    )


@routes.post("/{subscription_id}/switch", media_type="text/html")
async def switch_webhook(
    request: Request,
    subscription_id: ids.SubscriptionId,
    caller: Buyer,
    body: SwitchForm,
    db: Database,
    door: UrlPolicy,
    renderer: Renderer,
) -> Response:
    """Off, which cancels what is pending, or on again, which forgets failures."""
    actor = Actor.of(caller, request)
    wish = SubscriptionPatch(is_active=body.on).changes()
    await subscribe.change(db, door, actor, caller.account_id, subscription_id, wish)
    said = (
        "The webhook is on. What it missed meanwhile can be recovered."
        if body.on
        else "The webhook is off: what was pending is cancelled."
    )
    return renderer.to(caller, address(subscription_id), said)


@routes.post("/{subscription_id}/delete", media_type="text/html")
async def delete_webhook(
    request: Request,
    subscription_id: ids.SubscriptionId,
    caller: Buyer,
    body: Form,
    db: Database,
    renderer: Renderer,
) -> Response:
    """Delete it; what is pending for it is cancelled."""
    await subscribe.unsubscribe(db, Actor.of(caller, request), caller.account_id, subscription_id)
    return renderer.to(caller, "/webhooks", "The webhook was deleted.")


def _page(rows: Sequence[Row], show: Callable[[Row], Item]) -> Page[Item]:
    """The first few, and whether there are more."""
    shown = [show(row) for row in rows[:_FEW]]
    return Page(items=shown, has_more=len(rows) > _FEW, next_cursor=None)


def address(subscription_id: UUID) -> str:
    """Where the page of a webhook is."""
    return f"/webhooks/{ids.SUBSCRIPTION.show(subscription_id)}"


def state(webhook: Subscription) -> str:
    """One word for how a webhook is: off says more than how it did before."""
    if webhook.is_active:
        return str(webhook.health)
    return "disabled" if webhook.disabled_reason else "inactive"


def _read(body: WebhookForm) -> dict[str, Any]:
    """The form as the API takes it; what people forget most is told in their words."""
    if not body.url.strip():
        raise ValidationFailed("/url", "Say where events go: a URL that begins with https://")
    if not body.events:
        raise ValidationFailed("/events", "Choose at least one kind of event.")
    return {
        "url": body.url.strip(),
        "events": body.events,
        "description": body.description.strip(),
        "catch_up": body.catch_up,
    }


def _form(
    request: Request,
    caller: Buyer,
    renderer: Renderer,
    form: WebhookForm,
    *,
    webhook: Subscription | None = None,
    refusal: Invalid | Conflict | None = None,
) -> Response:
    return renderer.page(
        "webhook_form.html",
        request,
        caller,
        status=200 if refusal is None else problems.status_of(type(refusal)),
        webhook=webhook,
        form=form,
        errors={} if refusal is None else errors_of(refusal),
    )


def _shown(subscription_id: UUID, secret: str, label: str) -> Shown:
    return Shown("webhook_secret", secret, label, subject=ids.SUBSCRIPTION.show(subscription_id))


def _chart(hours: Sequence[asyncpg.Record]) -> dict[str, Any]:
    """Attempts of the last day by hour, as a chart and as its table."""
    labels = [clock.show(row["hour"])[11:16] for row in hours]
    series = [
        charts.Series("Delivered", "good", [row["delivered"] for row in hours]),
        charts.Series("Failed", "bad", [row["failed"] for row in hours]),
    ]
    total = int(sum(sum(one.values) for one in series))
    svg = charts.stacked_bars(
        labels,
        series,
        title="Attempts of the last 24 hours",
        desc=f"{total} attempts by hour.",
        moments=[row["hour"] for row in hours],
    )
    rows = [
        [f"{clock.show(row['hour'])[:16].replace('T', ' ')}", row["delivered"], row["failed"]]
        for row in hours
    ]
    return {"chart": svg, "chart_rows": rows, "chart_series": series, "chart_total": total}
