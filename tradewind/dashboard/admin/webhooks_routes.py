"""Receivers and the queue of all accounts, in a browser, for operators."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal
from uuid import UUID

from msgspec import Meta

from tradewind import ids
from tradewind.auth.model import Operator
from tradewind.dashboard.admin import queries as sql_desk
from tradewind.dashboard.shell.charts import Series, stacked_bars
from tradewind.dashboard.shell.listing import choices, first_page, next_page
from tradewind.dashboard.shell.render import Renderer
from tradewind.delivery import sql_log
from tradewind.delivery.model import QueuedSubscription
from tradewind.storage.pool import Database
from tradewind.web.endpoint import Routes
from tradewind.web.inputs import Input
from tradewind.web.paging import PageQuery, page, read_cursor
from tradewind.web.request import Request
from tradewind.web.response import Response
from tradewind.webhooks import sql as webhooks
from tradewind.webhooks.model import Health, Subscription

routes = Routes("", tag="Dashboard", hidden=True, pages=True)

_MOST = 200
_MEANT: Mapping[str, Sequence[str]] = {
    "trouble": [Health.FAILING, Health.DISABLED],
    "all": list(Health),
}
_KINDS = [("trouble", "failing or disabled"), *choices(Health), ("all", "all")]


class EndpointsQuery(PageQuery):
    """Which receivers to list; without a choice, those in trouble."""

    health: Literal["trouble", "ok", "failing", "disabled", "all"] = "trouble"
    webhook: Annotated[str, Meta(pattern=ids.SUBSCRIPTION.pattern)] | None = None


class QueueQuery(Input):
    """How to look at the queue."""

    by: Literal["webhook", "account"] = "webhook"
    only: Literal["failing"] | None = None


@routes.get("/endpoints", media_type="text/html", expensive=True)
async def show_endpoints(
    request: Request, caller: Operator, query: EndpointsQuery, db: Database, renderer: Renderer
) -> Response:
    """Receivers of all accounts: whose they are, since when they fail, and with what."""
    found, cursor = await _found(db, query)
    return renderer.page(
        "endpoints.html",
        request,
        caller,
        query=query,
        kinds=_KINDS,
        endpoints=found,
        owners=await sql_desk.names(db, [one.account_id for one in found]),
        states=await sql_desk.receivers(db, [one.id for one in found]),
        next_url=next_page(request, cursor),
        first_url=first_page(request),
    )


async def _found(db: Database, query: EndpointsQuery) -> tuple[Sequence[Subscription], str | None]:
    if query.webhook is not None:
        named = ids.SUBSCRIPTION.read(query.webhook)
        one = named and await webhooks.find_subscription(db, None, named)
        return ([one] if one else []), None
    rows = await webhooks.list_all(
        db,
        health=_MEANT.get(query.health, [query.health]),
        below=read_cursor("all webhooks", query.cursor, UUID),
        limit=query.limit + 1,
    )
    listed = page("all webhooks", rows, query.limit, key=lambda one: one.id, show=lambda one: one)
    return listed.items, listed.next_cursor


@routes.get("/queue", media_type="text/html", expensive=True)
async def show_queue(
    request: Request, caller: Operator, query: QueueQuery, db: Database, renderer: Renderer
) -> Response:
    """What waits to be delivered, how long it has, and how attempts went lately."""
    rows = await sql_log.list_queue(db, limit=_MOST + 1)
    if query.only == "failing":
        rows = [row for row in rows if row.failing_since is not None]
    hours = await sql_desk.attempts_by_hour(db)
    series = (
        Series("Delivered", "good", [hour["delivered"] for hour in hours]),
        Series("Failed", "bad", [hour["failed"] for hour in hours]),
    )
    labels = [f"{hour['hour']:%H}:00" for hour in hours]
    shown = rows[:_MOST]
    return renderer.page(
        "queue.html",
        request,
        caller,
        query=query,
        now=await sql_desk.queue_now(db),
        rows=shown,
        accounts=_by_account(shown),
        owners=await sql_desk.names(db, [row.account_id for row in shown if row.account_id]),
        has_more=len(rows) > _MOST,
        most=_MOST,
        hours=hours,
        labels=labels,
        series=series,
        chart=stacked_bars(
            labels,
            series,
            title="Attempts of the last 24 hours",
            desc="Attempts to deliver by hour: delivered and failed.",
            moments=[hour["hour"] for hour in hours],
        ),
    )


def _by_account(rows: Sequence[QueuedSubscription]) -> Sequence[Mapping[str, Any]]:
    """The queue's rows added up by account, those first that have waited longest."""
    grouped: dict[UUID | None, list[QueuedSubscription]] = defaultdict(list)
    for row in rows:
        grouped[row.account_id].append(row)
    added = [
        {
            "account_id": account_id,
            "webhooks": len(own),
            "failing": sum(row.failing_since is not None for row in own),
            "pending": sum(row.pending for row in own),
            "due_at": min(row.due_at for row in own),
        }
        for account_id, own in grouped.items()
    ]
    return sorted(added, key=lambda one: one["due_at"])
