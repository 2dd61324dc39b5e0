"""Replays, in a browser: preview the missed events, replay them, and follow the progress."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from tradewind import ids
from tradewind.auth.model import Buyer
from tradewind.dashboard.shell.forms import errors_of, read_time, time_input
from tradewind.dashboard.shell.render import Renderer
from tradewind.dashboard.webhooks.views import replay_presets, webhook_path
from tradewind.delivery import replay, sql_log
from tradewind.delivery.replay import Total
from tradewind.delivery.retry_policy import RetryPolicy
from tradewind.delivery.wire import RecoverIn
from tradewind.errors import Conflict, Invalid, ValidationFailed
from tradewind.storage.pool import Database
from tradewind.web.endpoint import Routes
from tradewind.web.inputs import Input, read_values
from tradewind.web.request import Request
from tradewind.web.response import Response
from tradewind.web.site import Form
from tradewind.webhooks.subscribe import get_subscription

routes = Routes("/webhooks", tag="Dashboard", hidden=True, pages=True)

_REPLAYS = 20


class ReplayQuery(Input):
    """The events to preview."""

    since: str = ""
    until: str = ""
    order: str = ""
    include: str = "undelivered"


class ReplayForm(Form):
    """The events to replay, as they were previewed."""

    since: str = ""
    until: str = ""
    order: str = ""
    include: str = "undelivered"


@dataclass(frozen=True, slots=True)
class ReplayPreview:
    """The number of events that a replay would send, and the end of its window."""

    total: Total
    until: datetime


@routes.get("/{subscription_id}/recover", media_type="text/html", expensive=True)
async def show_replay(
    request: Request,
    subscription_id: ids.SubscriptionId,
    caller: Buyer,
    query: ReplayQuery,
    db: Database,
    renderer: Renderer,
    policy: RetryPolicy,
) -> Response:
    """List the replays, and preview a new one."""
    return await _page(request, subscription_id, caller, query, db, renderer, policy)


@routes.post("/{subscription_id}/recover", media_type="text/html", expensive=True)
async def start_replay(
    request: Request,
    subscription_id: ids.SubscriptionId,
    caller: Buyer,
    body: ReplayForm,
    db: Database,
    renderer: Renderer,
    policy: RetryPolicy,
) -> Response:
    """Replay the previewed events. The form carries the end of the preview's window."""
    query = ReplayQuery(since=body.since, until=body.until, order=body.order, include=body.include)
    path = f"{webhook_path(subscription_id)}/recover"
    try:
        wanted = _read(query).request()
        _, total = await replay.request(db, policy, caller.account_id, subscription_id, wanted)
    except Invalid as error:
        return await _page(
            request, subscription_id, caller, query, db, renderer, policy, error=error
        )
    except Conflict as error:
        return renderer.redirect(caller, path, error.detail, tone="bad")
    events = "1 event" if total.count == 1 else f"{total.count:,} events"
    message = f"Replay started: {events}." if total.is_exact else "Replay started."
    return renderer.redirect(caller, path, message)


@routes.post("/{subscription_id}/recover/{job_id}/cancel", media_type="text/html")
async def cancel_replay(
    subscription_id: ids.SubscriptionId,
    job_id: ids.JobId,
    caller: Buyer,
    body: Form,
    db: Database,
    renderer: Renderer,
) -> Response:
    """Cancel a replay."""
    await replay.cancel(db, caller.account_id, subscription_id, job_id)
    message = "Replay cancelled. Events that were not sent yet will not be sent."
    return renderer.redirect(caller, f"{webhook_path(subscription_id)}/recover", message)


async def _page(
    request: Request,
    subscription_id: UUID,
    caller: Buyer,
    query: ReplayQuery,
    db: Database,
    renderer: Renderer,
    policy: RetryPolicy,
    *,
    error: Invalid | None = None,
) -> Response:
    webhook = await get_subscription(db, caller.account_id, subscription_id)
    now = await sql_log.now(db)
    preview: ReplayPreview | None = None
    errors: Mapping[str, str] = {} if error is None else errors_of(error)
    if query.since and error is None:
        try:
            window = _read(query)
            window.until = window.until or now
            total = await replay.preview(
                db, policy, caller.account_id, subscription_id, window.request()
            )
            preview = ReplayPreview(total, window.until)
        except Invalid as invalid:
            errors = errors_of(invalid)
    return renderer.page(
        "webhooks/replay.html",
        request,
        caller,
        status=422 if errors else 200,
        webhook=webhook,
        query=query,
        errors=errors,
        times={name: time_input(getattr(query, name)) for name in ("since", "until")},
        preview=preview,
        replays=await replay.list_replays(db, caller.account_id, subscription_id, limit=_REPLAYS),
        presets=replay_presets(now, webhook.failing_since),
    )


def _read(query: ReplayQuery) -> RecoverIn:
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
