"""The webhooks and the queue of all accounts, in a browser, for operators."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from msgspec import Meta

from tradewind import ids
from tradewind.auth.model import Operator
from tradewind.dashboard.admin import queries
from tradewind.dashboard.shell.charts import attempts_chart
from tradewind.dashboard.shell.labels import choices
from tradewind.dashboard.shell.render import Renderer
from tradewind.dashboard.shell.urls import first_page, next_page
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
_GROUPS: Mapping[str, Sequence[str]] = {
    "trouble": [Health.FAILING, Health.DISABLED],
    "all": list(Health),
}
_HEALTH_CHOICES = [("trouble", "Failing or disabled"), *choices(Health), ("all", "All")]


class AllWebhooksQuery(PageQuery):
    """The webhooks to list; by default those that fail or were disabled."""

    health: Literal["trouble", "ok", "failing", "disabled", "all"] = "trouble"
    webhook: Annotated[str, Meta(pattern=ids.SUBSCRIPTION.pattern)] | None = None


class QueueQuery(Input):
    """How to group and filter the queue."""

    by: Literal["webhook", "account"] = "webhook"
    only: Literal["failing"] | None = None


@dataclass(frozen=True, slots=True)
class AccountQueue:
    """The pending deliveries of an account."""

    account_id: UUID | None
    webhooks: int
    failing: int
    pending: int
    due_at: datetime


@routes.get("/endpoints", media_type="text/html", expensive=True)
async def show_all_webhooks(
    request: Request, caller: Operator, query: AllWebhooksQuery, db: Database, renderer: Renderer
) -> Response:
    """List webhooks of all accounts with their owner, health and last error."""
    subscriptions, cursor = await _list_webhooks(db, query)
    return renderer.page(
        "admin/webhooks.html",
        request,
        caller,
        query=query,
        health_choices=_HEALTH_CHOICES,
        webhooks=subscriptions,
        owners=await queries.account_names(db, [hook.account_id for hook in subscriptions]),
        states=await queries.webhook_states(db, [hook.id for hook in subscriptions]),
        next_url=next_page(request, cursor),
        first_url=first_page(request),
    )


async def _list_webhooks(
    db: Database, query: AllWebhooksQuery
) -> tuple[Sequence[Subscription], str | None]:
    if query.webhook is not None:
        subscription_id = ids.SUBSCRIPTION.read(query.webhook)
        subscription = subscription_id and await webhooks.find_subscription(
            db, None, subscription_id
        )
        return ([subscription] if subscription else []), None
    subscriptions = await webhooks.list_all(
        db,
        health=_GROUPS.get(query.health, [query.health]),
        below=read_cursor("all webhooks", query.cursor, UUID),
        limit=query.limit + 1,
    )
    shown = page(
        "all webhooks",
        subscriptions,
        query.limit,
        key=lambda subscription: subscription.id,
        show=lambda subscription: subscription,
    )
    return shown.items, shown.next_cursor


@routes.get("/queue", media_type="text/html", expensive=True)
async def show_queue(
    request: Request, caller: Operator, query: QueueQuery, db: Database, renderer: Renderer
) -> Response:
    """Show the pending deliveries by webhook or account, and the attempts of a day."""
    rows = await sql_log.list_queue(db, limit=_MOST + 1)
    if query.only == "failing":
        rows = [row for row in rows if row.failing_since is not None]
    shown = rows[:_MOST]
    return renderer.page(
        "admin/queue.html",
        request,
        caller,
        query=query,
        counts=await queries.count_queue(db),
        rows=shown,
        accounts=_by_account(shown),
        owners=await queries.account_names(db, [row.account_id for row in shown if row.account_id]),
        has_more=len(rows) > _MOST,
        most=_MOST,
        chart=attempts_chart(await queries.attempts_by_hour(db)),
    )


def _by_account(rows: Sequence[QueuedSubscription]) -> Sequence[AccountQueue]:
    """The queue summed up by account, the longest wait first."""
    by_account: dict[UUID | None, list[QueuedSubscription]] = defaultdict(list)
    for row in rows:
        by_account[row.account_id].append(row)
    summed = [
        AccountQueue(
            account_id=account_id,
            webhooks=len(queued),
            failing=sum(row.failing_since is not None for row in queued),
            pending=sum(row.pending for row in queued),
            due_at=min(row.due_at for row in queued),
        )
        for account_id, queued in by_account.items()
    ]
    return sorted(summed, key=lambda queue: queue.due_at)
