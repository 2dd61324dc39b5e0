"""Deliveries, in a browser: the log, one attempt inspected, what is pending, and once more."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

import msgspec

from tradewind import ids
from tradewind.auth.model import Buyer
from tradewind.dashboard.shell.form_times import for_input, read_moment
from tradewind.dashboard.shell.forms import errors_of, local_path
from tradewind.dashboard.shell.labels import word
from tradewind.dashboard.shell.render import Renderer
from tradewind.dashboard.webhooks import request_code
from tradewind.dashboard.webhooks.advice import advice_about
from tradewind.dashboard.webhooks.routes import address, state
from tradewind.delivery import log
from tradewind.delivery.resend import resend
from tradewind.delivery.wire import DeliveriesQuery, DeliveryDetailOut, DeliveryOut, PendingOut
from tradewind.egress.result import Outcome
from tradewind.errors import Conflict, Invalid, ResourceNotFound, ValidationFailed
from tradewind.storage.pool import Database
from tradewind.web.endpoint import Routes
from tradewind.web.inputs import Input, read_values
from tradewind.web.paging import Page, PageQuery, page, read_cursor
from tradewind.web.request import Request
from tradewind.web.response import Response
from tradewind.web.site import Form
from tradewind.webhooks.subscribe import get_subscription

routes = Routes("/webhooks", tag="Dashboard", hidden=True, pages=True)

_MOST = 50
_OUTCOMES = [(outcome.value, word(outcome.value)) for outcome in Outcome]


class LogQuery(Input):
    """The filters of the log, lenient: a time without a zone is UTC, several codes in one field."""

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


class SelectedForm(Form):
    """Attempts that were ticked, and the page that they were ticked on."""

    delivery: list[str] = msgspec.field(default_factory=list)
    back: str = ""


class AgainForm(Form):
    """Where to go afterwards."""

    back: str = ""


@routes.get("/{subscription_id}/deliveries", media_type="text/html", expensive=True)
async def show_log(
    request: Request,
    subscription_id: ids.SubscriptionId,
    caller: Buyer,
    query: LogQuery,
    db: Database,
    renderer: Renderer,
) -> Response:
    """The log of attempts; every filter is in the address."""
    webhook = await get_subscription(db, caller.account_id, subscription_id)
    base = f"{address(subscription_id)}/deliveries"
    errors: Any = {}
    found: Page[Any] = Page(items=[], has_more=False, next_cursor=None)
    try:
        found = await _attempts(db, caller, subscription_id, _wanted(query))
    except Invalid as refusal:
        errors = errors_of(refusal)
    chosen = _chosen(query)
    return renderer.page(
        "webhook_deliveries.html",
        request,
        caller,
        status=422 if errors else 200,
        webhook=webhook,
        state=state(webhook),
        attempts=found.items,
        query=query,
        errors=errors,
        outcomes=_OUTCOMES,
        is_filtered=bool(chosen),
        moments={name: for_input(getattr(query, name)) for name in _MOMENTS},
        next_url=_link(base, chosen, limit=query.limit, cursor=found.next_cursor)
        if found.has_more
        else None,
        first_url=_link(base, chosen) if query.cursor else None,
    )


@routes.get("/{subscription_id}/deliveries/{delivery_id}", media_type="text/html")
async def inspect(
    request: Request,
    subscription_id: ids.SubscriptionId,
    delivery_id: ids.DeliveryId,
    caller: Buyer,
    db: Database,
    renderer: Renderer,
) -> Response:
    """One attempt: what was sent, what came back, and what to do about it."""
    webhook = await get_subscription(db, caller.account_id, subscription_id)
    attempt = DeliveryDetailOut.of_detail(
        await log.get_attempt(db, caller.account_id, subscription_id, delivery_id)
    )
    event_id = ids.EVENT.read(attempt.event_id)
    others: Sequence[Any] = []
    if event_id is not None:
        same = DeliveriesQuery(event_id=attempt.event_id, limit=_MOST)
        others = (await _attempts(db, caller, subscription_id, same)).items
    sent, answer = attempt.request, attempt.response
    by_name = {header.name: header.value for header in sent.headers}
    was_sent = sent.url is not None and sent.body is not None and bool(sent.headers)
    posted = (sent.url or "", sent.headers, sent.body or "")
    return renderer.page(
        "webhook_delivery.html",
        request,
        caller,
        webhook=webhook,
        state=state(webhook),
        attempt=attempt,
        others=[one for one in others if one.id != attempt.id],
        advice=advice_about(attempt),
        sent_at=by_name.get("X-Service-Timestamp"),
        signature=by_name.get("X-Service-Signature"),
        body_bytes=len((sent.body or "").encode()),
        body_pretty=request_code.pretty(sent.body),
        answer_pretty=request_code.pretty(answer.body) if answer else None,
        curl=request_code.curl_as_sent(*posted) if was_sent else None,
        curl_now=request_code.curl_signed_now(*posted) if was_sent else None,
        can_redeliver=event_id is not None,
    )


@routes.post("/{subscription_id}/deliveries/{delivery_id}/redeliver", media_type="text/html")
async def redeliver_one(
    subscription_id: ids.SubscriptionId,
    delivery_id: ids.DeliveryId,
    caller: Buyer,
    body: AgainForm,
    db: Database,
    renderer: Renderer,
) -> Response:
    """Deliver the same event once more."""
    shown = ids.DELIVERY.show(delivery_id)
    where = local_path(body.back, otherwise=f"{address(subscription_id)}/deliveries/{shown}")
    try:
        await resend(db, caller.account_id, subscription_id, delivery_id)
    except Conflict as refusal:
        return renderer.to(caller, where, refusal.detail, tone="bad")
    return renderer.to(caller, where, "The event is being delivered again.")


@routes.post("/{subscription_id}/redeliver", media_type="text/html")
async def redeliver_selected(
    subscription_id: ids.SubscriptionId,
    caller: Buyer,
    body: SelectedForm,
    db: Database,
    renderer: Renderer,
) -> Response:
    """Deliver the events of the ticked attempts once more, each event once."""
    where = local_path(body.back, otherwise=f"{address(subscription_id)}/deliveries")
    await get_subscription(db, caller.account_id, subscription_id)
    if not body.delivery:
        said = "Nothing was ticked: tick the attempts whose events to deliver again."
        return renderer.to(caller, where, said, tone="bad")
    queued: set[UUID] = set()
    left_out = 0
    for delivery_id in filter(None, map(ids.DELIVERY.read, dict.fromkeys(body.delivery))):
        try:
            attempt = await log.get_attempt(db, caller.account_id, subscription_id, delivery_id)
            if attempt.event_id not in queued:
                await resend(db, caller.account_id, subscription_id, delivery_id)
                queued.add(attempt.event_id)
        except ResourceNotFound:
            left_out += 1
        except Conflict as refusal:
            return renderer.to(caller, where, refusal.detail, tone="bad")
    said = f"{_events(len(queued))} being delivered again."
    if left_out:
        said += f" {left_out} left out: a test, or an event that is no longer kept."
    return renderer.to(caller, where, said, tone="good" if queued else "bad")


@routes.get("/{subscription_id}/pending", media_type="text/html", expensive=True)
async def show_pending(
    request: Request,
    subscription_id: ids.SubscriptionId,
    caller: Buyer,
    query: PageQuery,
    db: Database,
    renderer: Renderer,
) -> Response:
    """What is still to be delivered, and when."""
    webhook = await get_subscription(db, caller.account_id, subscription_id)
    rows = await log.list_pending(
        db,
        caller.account_id,
        subscription_id,
        above=read_cursor("pending", query.cursor, tuple[datetime, UUID]),
        limit=query.limit + 1,
    )
    found = page(
        "pending", rows, query.limit, key=lambda row: (row.due_at, row.id), show=PendingOut.of
    )
    base = f"{address(subscription_id)}/pending"
    return renderer.page(
        "webhook_pending.html",
        request,
        caller,
        webhook=webhook,
        state=state(webhook),
        pending=found.items,
        next_url=_link(base, {}, limit=query.limit, cursor=found.next_cursor)
        if found.has_more
        else None,
        first_url=base if query.cursor else None,
    )


async def _attempts(
    db: Database, caller: Buyer, subscription_id: UUID, query: DeliveriesQuery
) -> Page[DeliveryOut]:
    rows = await log.list_attempts(
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
        key=lambda row: (row.started_at, row.id),
        show=DeliveryOut.of,
    )


_MOMENTS = ("started_after", "started_before")


def _wanted(query: LogQuery) -> DeliveriesQuery:
    """The filters as the API reads them, or which of them is wrong."""
    codes = [code for code in query.status_code.replace(",", " ").split() if code]
    for code in codes:
        if not (code.isascii() and code.isdigit() and 100 <= int(code[:9]) <= 999):  # noqa: PLR2004
            raise ValidationFailed("?status_code", "A status code is a number like 503.")
    given: dict[str, Any] = {
        "outcome": query.outcome,
        "result": query.result,
        "event": query.event,
        "status_code": codes,
        "cursor": query.cursor,
    }
    if not 1 <= query.limit <= _MOST:
        raise ValidationFailed("?limit", f"From 1 to {_MOST}.")
    wanted = read_values(DeliveriesQuery, **{name: value for name, value in given.items() if value})
    wanted.limit = query.limit
    wanted.order = query.order.strip() or None
    wanted.event_id = query.event_id.strip() or None
    wanted.started_after = read_moment("started_after", query.started_after)
    wanted.started_before = read_moment("started_before", query.started_before)
    return wanted


def _chosen(query: LogQuery) -> dict[str, Any]:
    """The filters that are set, as they stand in an address."""
    names = ("outcome", "result", "event", "order", "event_id", "status_code", *_MOMENTS)
    return {name: value for name in names if (value := getattr(query, name))}


def _link(base: str, chosen: dict[str, Any], **more: Any) -> str:
    query = urlencode({**chosen, **more}, doseq=True)
    return f"{base}?{query}" if query else base


def _events(count: int) -> str:
    return "1 event is" if count == 1 else f"{count} events are"
