"""Pages for operators: orders and webhooks of all accounts, the queue, and the audit log."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Annotated, Literal
from uuid import UUID

from msgspec import Meta

from tradewind import ids
from tradewind.accounts import sql as account_sql
from tradewind.audit import sql as audit_sql
from tradewind.audit.wire import AUDIT_ENTRIES
from tradewind.auth.model import Operator
from tradewind.dashboard.admin import queries
from tradewind.dashboard.orders import views as order_views
from tradewind.dashboard.orders.goods import OrderGoods
from tradewind.dashboard.orders.timeline import timeline_entry
from tradewind.dashboard.shell.charts import attempts_by_hour_chart
from tradewind.dashboard.shell.forms import errors_of, read_time
from tradewind.dashboard.shell.labels import choices
from tradewind.dashboard.shell.render import PageRoutes, TemplatePage
from tradewind.dashboard.webhooks import queries as webhook_queries
from tradewind.dashboard.webhooks.views import advice_about, webhook_state
from tradewind.delivery import sql_log
from tradewind.delivery.health import health_of
from tradewind.delivery.model import QueuedSubscription
from tradewind.delivery.sql_log import AttemptFilters
from tradewind.egress.result import Outcome
from tradewind.errors import Invalid, existing
from tradewind.exports.export import export_audit
from tradewind.orders import sql_lists
from tradewind.orders.get_order import get_order
from tradewind.orders.inputs import AdminOrdersQuery
from tradewind.orders.list_orders import list_orders
from tradewind.orders.model import OrderStatus
from tradewind.orders.payments import sql as payment_sql
from tradewind.orders.payments.model import PaymentStatus
from tradewind.platforms.registry import MARKETPLACES, Platforms
from tradewind.storage.pool import Database
from tradewind.web.download import csv_download
from tradewind.web.inputs import Input
from tradewind.web.paging import PageQuery
from tradewind.web.response import Response
from tradewind.webhooks import sql as webhooks
from tradewind.webhooks.model import Health, Subscription
from tradewind.webhooks.wire import ALL_WEBHOOKS

routes = PageRoutes()

_CHANGES = 50
_ATTEMPTS = 25
_MOST = 200
_GROUPS: Mapping[str, Sequence[str]] = {
    "trouble": [Health.FAILING, Health.DISABLED],
    "all": list(Health),
}
_HEALTH_CHOICES = [("trouble", "Failing or disabled"), *choices(Health), ("all", "All")]
# The id of no account: a filter that is wrong finds nothing.
_NO_ACCOUNT = UUID(int=0)


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


class AuditPageQuery(PageQuery):
    """The filters of the audit log; a time without a zone is UTC."""

    account: str = ""
    action: str = ""
    about: str = ""
    since: str = ""
    until: str = ""


@routes.get("/admin/orders", expensive=True)
async def show_all_orders(
    caller: Operator, query: AdminOrdersQuery, db: Database, platforms: Platforms
) -> TemplatePage:
    """List the orders of every account, or of one."""
    filters = query.filters(platforms.named, query.account_id)
    shown = await list_orders(db, filters, query, lambda order: order)
    goods = OrderGoods(platforms)
    return TemplatePage(
        "admin/orders.html",
        images=goods.origins,
        goods=goods,
        query=query,
        orders=shown.items,
        owners=await queries.account_names(db, list({order.account_id for order in shown.items})),
        statuses=choices(OrderStatus),
        payment_statuses=choices(PaymentStatus),
        platforms=[(name, market.traits.name) for name, market in MARKETPLACES.items()],
        next_cursor=shown.next_cursor,
    )


@routes.get("/admin/orders/{order_id}")
async def show_any_order(
    order_id: ids.OrderId, caller: Operator, db: Database, platforms: Platforms
) -> TemplatePage:
    """Show an order as it is stored, with its timeline; the marketplace is not called."""
    order = await get_order(db, None, order_id)
    changes = await sql_lists.list_changes(
        db, order.account_id, order_id, below=None, limit=_CHANGES
    )
    accounts = await queries.account_names(db, [order.account_id])
    goods = OrderGoods(platforms)
    return TemplatePage(
        "admin/order.html",
        images=goods.origins,
        goods=goods,
        order=order,
        parcels=order_views.parcels(order),
        account=accounts.get(order.account_id),
        payments=await payment_sql.list_payments_of(
            db, order.account_id, order_id, below=None, limit=_CHANGES
        ),
        timeline=[timeline_entry(change, goods=order.lines) for change in changes],
    )


@routes.get("/endpoints", expensive=True)
async def show_all_webhooks(
    caller: Operator, query: AllWebhooksQuery, db: Database
) -> TemplatePage:
    """List webhooks of all accounts with their owner, health and last error."""
    subscriptions, cursor = await _list_webhooks(db, query)
    return TemplatePage(
        "admin/webhooks.html",
        query=query,
        health_choices=_HEALTH_CHOICES,
        webhooks=subscriptions,
        owners=await queries.account_names(db, [hook.account_id for hook in subscriptions]),
        states=await queries.webhook_states(db, [hook.id for hook in subscriptions]),
        next_cursor=cursor,
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
    read = partial(webhooks.list_all, db, health=_GROUPS.get(query.health, [query.health]))
    shown = await ALL_WEBHOOKS.rows(query.cursor, query.limit, read)
    return shown.items, shown.next_cursor


@routes.get("/endpoints/{subscription_id}", expensive=True)
async def show_any_webhook(
    subscription_id: ids.SubscriptionId, caller: Operator, db: Database
) -> TemplatePage:
    """Show a webhook of any account to find out why it fails; operators change nothing here.

    What was sent and what came back belong to the owner: only outcomes and errors are shown.
    """
    webhook = existing(
        await webhooks.find_subscription(db, None, subscription_id), ids.SUBSCRIPTION
    )
    account_id = webhook.account_id
    [health] = await health_of(db, [webhook])
    attempts = await sql_log.list_attempts(
        db, account_id, subscription_id, AttemptFilters(), below=None, limit=_ATTEMPTS
    )
    failures = [attempt for attempt in attempts if attempt.outcome is not Outcome.DELIVERED]
    hours = await webhook_queries.attempts_by_hour(db, account_id, subscription_id)
    return TemplatePage(
        "admin/webhook.html",
        webhook=webhook,
        owner=(await queries.account_names(db, [account_id])).get(account_id),
        state=webhook_state(webhook, health),
        last_failure=(await queries.webhook_states(db, [webhook.id])).get(webhook.id),
        advice=advice_about(failures[0]) if failures and webhook.failing_since else "",
        health=health,
        attempts=attempts,
        chart=attempts_by_hour_chart(hours),
    )


@routes.get("/queue", expensive=True)
async def show_queue(caller: Operator, query: QueueQuery, db: Database) -> TemplatePage:
    """Show the pending deliveries by webhook or account, and the attempts of a day."""
    rows = await sql_log.list_queue(db, limit=_MOST + 1)
    if query.only == "failing":
        rows = [row for row in rows if row.failing_since is not None]
    shown = rows[:_MOST]
    return TemplatePage(
        "admin/queue.html",
        query=query,
        counts=await queries.count_queue(db),
        rows=shown,
        accounts=_by_account(shown),
        owners=await queries.account_names(db, [row.account_id for row in shown if row.account_id]),
        has_more=len(rows) > _MOST,
        most=_MOST,
        chart=attempts_by_hour_chart(await queries.attempts_by_hour(db)),
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


@routes.get("/audit", expensive=True)
async def show_audit(caller: Operator, query: AuditPageQuery, db: Database) -> TemplatePage:
    """List who did what, when and from where, newest first."""
    account_id: UUID | None = None
    errors: dict[str, str] = {}
    if query.account.strip():
        account_id = await _find_account(db, query.account.strip())
        if account_id == _NO_ACCOUNT:
            errors = {"account": "There is no account with this ID or e-mail."}
    times: dict[str, datetime | None] = {}
    for name in ("since", "until"):
        try:
            times[name] = read_time(name, getattr(query, name))
        except Invalid as error:
            errors |= errors_of(error)
            account_id = _NO_ACCOUNT
    read = partial(
        audit_sql.list_entries,
        db,
        account_id=account_id,
        actions=[query.action] if query.action else None,
        after=times.get("since"),
        before=times.get("until"),
        about=query.about.strip() or None,
    )
    shown = await AUDIT_ENTRIES.rows(query.cursor, query.limit, read)
    accounts = [entry.account_id for entry in shown.items if entry.account_id is not None]
    return TemplatePage(
        "admin/audit.html",
        query=query,
        entries=shown.items,
        names=await queries.account_names(db, accounts),
        actions=[(action, action) for action in await queries.audit_actions(db)],
        status=200,
        errors=errors,
        next_cursor=shown.next_cursor,
    )


@routes.get("/audit/export", expensive=True)
async def export_audit_log(caller: Operator, query: AuditPageQuery, db: Database) -> Response:
    """Export the audit log as CSV, with its filters."""
    account = query.account.strip()
    made = await export_audit(
        db,
        account_id=await _find_account(db, account) if account else None,
        actions=[query.action] if query.action else None,
        after=read_time("since", query.since),
        before=read_time("until", query.until),
        about=query.about.strip() or None,
        bom=True,
    )
    return csv_download(made)


async def _find_account(db: Database, text: str) -> UUID:
    """The account with this ID or e-mail."""
    if "@" in text:
        account = await account_sql.find_account(db, email=text.lower())
        return account.id if account else _NO_ACCOUNT
    return ids.ACCOUNT.read(text) or _NO_ACCOUNT
