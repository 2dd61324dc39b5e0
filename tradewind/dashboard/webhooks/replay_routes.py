"""Recovery, in a browser: count what was missed, deliver it again, and see how far it is."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from tradewind import ids
from tradewind.auth.model import Buyer
from tradewind.dashboard.shell.form_times import for_input, read_moment, spelled
from tradewind.dashboard.shell.forms import errors_of
from tradewind.dashboard.shell.render import Renderer
from tradewind.dashboard.webhooks.routes import address, state
from tradewind.delivery import replay, sql_log
from tradewind.delivery.retry_policy import RetryPolicy
from tradewind.delivery.wire import JobOut, RecoverIn, RecoverOut
from tradewind.errors import Conflict, Invalid, ValidationFailed
from tradewind.storage.pool import Database
from tradewind.web.endpoint import Routes
from tradewind.web.inputs import Input, read_values
from tradewind.web.request import Request
from tradewind.web.response import Response
from tradewind.web.site import Form
from tradewind.webhooks.subscribe import get_subscription

routes = Routes("/webhooks", tag="Dashboard", hidden=True, pages=True)

_JOBS = 20


class RecoverQuery(Input):
    """Which events to count, before they are delivered again."""

    since: str = ""
    until: str = ""
    order: str = ""
    include: str = "undelivered"


class RecoverForm(Form):
    """What was counted, and is wanted."""

    since: str = ""
    until: str = ""
    order: str = ""
    include: str = "undelivered"


@routes.get("/{subscription_id}/recover", media_type="text/html", expensive=True)
async def show_recover(
    request: Request,
    subscription_id: ids.SubscriptionId,
    caller: Buyer,
    query: RecoverQuery,
    db: Database,
    renderer: Renderer,
    policy: RetryPolicy,
) -> Response:
    """Recoveries and how far they are; and how many events a new one would deliver."""
    return await _recover_page(request, subscription_id, caller, query, db, renderer, policy)


@routes.post("/{subscription_id}/recover", media_type="text/html", expensive=True)
async def begin_recovery(
    request: Request,
    subscription_id: ids.SubscriptionId,
    caller: Buyer,
    body: RecoverForm,
    db: Database,
    renderer: Renderer,
    policy: RetryPolicy,
) -> Response:
    """Deliver what was counted. Until when is what it was then, so that it is the same."""
    asked = RecoverQuery(since=body.since, until=body.until, order=body.order, include=body.include)
    where = f"{address(subscription_id)}/recover"
    try:
        wish = _wish(asked)
        _, begun = await replay.request(
            db, policy, caller.account_id, subscription_id, wish.request()
        )
    except Invalid as refusal:
        return await _recover_page(
            request, subscription_id, caller, asked, db, renderer, policy, refusal=refusal
        )
    except Conflict as refusal:
        return renderer.to(caller, where, refusal.detail, tone="bad")
    how_many = f": {begun.count:,} in all" if begun.is_exact else ""
    return renderer.to(caller, where, f"The recovery has begun{how_many}.")


@routes.post("/{subscription_id}/recover/{job_id}/cancel", media_type="text/html")
async def cancel_recovery(
    subscription_id: ids.SubscriptionId,
    job_id: ids.JobId,
    caller: Buyer,
    body: Form,
    db: Database,
    renderer: Renderer,
) -> Response:
    """Cancel a recovery."""
    await replay.cancel(db, caller.account_id, subscription_id, job_id)
    said = "The recovery was cancelled: what it had not sent yet is not sent."
    return renderer.to(caller, f"{address(subscription_id)}/recover", said)


async def _recover_page(
    request: Request,
    subscription_id: UUID,
    caller: Buyer,
    query: RecoverQuery,
    db: Database,
    renderer: Renderer,
    policy: RetryPolicy,
    *,
    refusal: Invalid | None = None,
) -> Response:
    webhook = await get_subscription(db, caller.account_id, subscription_id)
    now = await sql_log.now(db)
    counted: RecoverOut | None = None
    until = now
    errors: Any = {} if refusal is None else errors_of(refusal)
    if query.since and refusal is None:
        try:
            wish = _wish(query, dry_run=True)
            wish.until = until = wish.until or now
            total = await replay.preview(
                db, policy, caller.account_id, subscription_id, wish.request()
            )
            counted = RecoverOut(id=None, count=total.count, count_is_exact=total.is_exact)
        except Invalid as wrong:
            errors = errors_of(wrong)
    jobs = await replay.list_replays(db, caller.account_id, subscription_id, limit=_JOBS)
    return renderer.page(
        "webhook_recover.html",
        request,
        caller,
        status=422 if errors else 200,
        webhook=webhook,
        state=state(webhook),
        query=query,
        errors=errors,
        moments={name: for_input(getattr(query, name)) for name in ("since", "until")},
        counted=counted,
        until=until,
        jobs=[JobOut.of(job) for job in jobs],
        presets=_presets(now, webhook.failing_since),
    )


def _presets(now: datetime, failing_since: datetime | None) -> list[tuple[str, str]]:
    """Times that people mean most often, with how each is spelled."""
    spans = (("Last hour", 1), ("Last 24 hours", 24), ("Last 7 days", 168), ("Last 30 days", 720))
    found = [(label, now - timedelta(hours=hours)) for label, hours in spans]
    if failing_since is not None:
        found.insert(0, ("Since it began to fail", failing_since))
    return [(label, spelled(moment)) for label, moment in found]


def _wish(query: RecoverQuery, *, dry_run: bool = False) -> RecoverIn:
    since = read_moment("since", query.since)
    if since is None:
        raise ValidationFailed("/since", "Say since when.")
    until = read_moment("until", query.until)
    return read_values(
        RecoverIn,
        since=since,
        until=until,
        order=query.order.strip() or None,
        include=query.include or "undelivered",
        dry_run=dry_run,
    )
