"""The overview: what needs the viewer now, then spend, orders, deliveries and queue, by role."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Annotated, Literal
from uuid import UUID

from msgspec import Meta

from tradewind.auth.model import Buyer, Role
from tradewind.dashboard.admin import queries as admin_queries
from tradewind.dashboard.admin.queries import AccountName, WebhookState
from tradewind.dashboard.orders.goods import OrderGoods
from tradewind.dashboard.overview import queries, views
from tradewind.dashboard.overview.queries import (
    FailedPayment,
    LateParcel,
    OpenRefunds,
    WebhookCounts,
)
from tradewind.dashboard.overview.views import (
    AttemptFigures,
    GettingStartedStep,
    SpendFigures,
    TimeRange,
)
from tradewind.dashboard.shell import charts
from tradewind.dashboard.shell import queries as shell_queries
from tradewind.dashboard.shell.labels import LARGEST_COUNT
from tradewind.dashboard.shell.render import PageRoutes, Redirect, TemplatePage
from tradewind.dashboard.shell.zone import month_start, viewer_zone, week_starts
from tradewind.delivery import sql as deliveries
from tradewind.delivery.sql import QueueDepth
from tradewind.orders.model import OrderStatus
from tradewind.orders.payments import sql as payment_sql
from tradewind.orders.payments.sql import OrderPayment
from tradewind.platforms.contract import Traits
from tradewind.platforms.errors import UnsupportedPlatform
from tradewind.platforms.oauth_state import platform_of
from tradewind.platforms.registry import Platforms
from tradewind.storage import sql as storage_sql
from tradewind.storage.pool import Database
from tradewind.web.caller import Caller
from tradewind.web.inputs import Input
from tradewind.web.request import Request
from tradewind.web.site import Form
from tradewind.webhooks import sql as webhooks
from tradewind.webhooks.model import Health, Subscription

routes = PageRoutes()

ReturnParameter = Annotated[str, Meta(max_length=2000)] | None

_ROWS = 5
# Counting stops here, so that the page stays cheap.
_MOST = LARGEST_COUNT + 1
_SUBSCRIPTIONS = 1000


class OverviewQuery(Input):
    """The time range; and the parameters that a marketplace returns with after authorisation."""

    span: Literal["day", "week"] = "day"
    code: ReturnParameter = None
    state: ReturnParameter = None
    error: ReturnParameter = None
    error_description: ReturnParameter = None


@dataclass(frozen=True, slots=True)
class BuyerNeeds:
    """What a buyer has to look at, one more row of each than is shown if there are more."""

    failed_payments: Sequence[FailedPayment]
    late_parcels: Sequence[LateParcel]
    webhooks: Sequence[Subscription]
    states: Mapping[UUID, WebhookState]

    @property
    def count(self) -> int:
        return len(self.failed_payments) + len(self.late_parcels) + len(self.webhooks)


@dataclass(frozen=True, slots=True)
class BuyerOverview:
    """What a buyer sees; `oldest` is how many seconds the oldest pending delivery is overdue."""

    needs: BuyerNeeds
    steps: Sequence[GettingStartedStep]
    spend: SpendFigures
    refunds: OpenRefunds
    orders: Mapping[str, int]
    open_orders: int
    waits: Sequence[tuple[str, int, str]]
    payments: int
    payments_since: datetime | None
    range: TimeRange
    deliveries: AttemptFigures
    pending: int
    oldest: float | None
    has_webhooks: bool


@dataclass(frozen=True, slots=True)
class ApproverOverview:
    """What an approver sees: the most urgent payments of others, and their number."""

    payments: Sequence[OrderPayment]
    waiting: int


@dataclass(frozen=True, slots=True)
class OperatorOverview:
    """What an operator sees: the queue, and failing webhooks of all accounts."""

    queue: QueueDepth
    webhooks: WebhookCounts
    failing: Sequence[Subscription]
    states: Mapping[UUID, WebhookState]
    owners: Mapping[UUID, AccountName]


@routes.get("/", expensive=True)
async def show_overview(
    request: Request, caller: Caller, query: OverviewQuery, db: Database, platforms: Platforms
) -> TemplatePage:
    """Show what each role of the caller needs."""
    now, zone = await storage_sql.now(db), viewer_zone(request)
    roles = caller.roles
    goods = OrderGoods(platforms)
    return TemplatePage(
        "overview/overview.html",
        images=goods.origins,
        goods=goods,
        query=query,
        authorised=_authorised_marketplace(query, platforms),
        ranges=[
            (range_.label, f"/?span={range_.code}", range_.code == query.span)
            for range_ in views.RANGES
        ],
        share_bar=charts.share_bar,
        now=now,
        rows=_ROWS,
        buying=await _buying(db, caller, query.span, now, zone) if Role.BUYER in roles else None,
        approving=await _approving(db, caller) if Role.APPROVER in roles else None,
        operating=await _operating(db) if Role.OPERATOR in roles else None,
    )


@routes.post("/first-steps/dismiss")
async def dismiss_getting_started(caller: Buyer, body: Form, db: Database) -> Redirect:
    """Hide the getting-started steps."""
    await queries.dismiss_steps(db, caller.account_id)
    return Redirect("/")


def _authorised_marketplace(query: OverviewQuery, platforms: Platforms) -> Traits | None:
    """The marketplace that `state` names; None if it names none."""
    try:
        return platforms.marketplace(platforms.named(platform_of(query.state or ""))).traits
    except UnsupportedPlatform:
        return None


async def _buying(
    db: Database, caller: Caller, range_code: str, now: datetime, zone: tzinfo
) -> BuyerOverview:
    account = caller.account_id
    range_ = next(choice for choice in views.RANGES if choice.code == range_code)
    attempts = await queries.count_attempts(db, account, hours=range_.hours, step=range_.step)
    pending, oldest = await queries.count_pending(db, account, most=_MOST)
    counts = await queries.count_orders(
        db, account, [status.value for status in OrderStatus], most=_MOST
    )
    awaiting, since = await queries.count_pending_approvals(db, account)
    completed = await queries.find_completed_steps(db, account)
    starts = week_starts(now, zone, views.WEEKS)
    subscriptions = await webhooks.list_subscriptions(db, account, below=None, limit=_SUBSCRIPTIONS)
    open_orders, waits = views.open_orders(counts)
    return BuyerOverview(
        needs=await _buyer_needs(db, caller, subscriptions, now),
        steps=views.getting_started(completed) if completed else (),
        spend=views.spend_figures(
            await shell_queries.sum_spend(db, [account], starts),
            await shell_queries.sum_spend(db, [account], [month_start(now, zone)]),
            starts,
        ),
        refunds=await queries.count_open_refunds(db, account),
        orders={status.value: counts[status] for status in OrderStatus if counts[status]},
        open_orders=open_orders,
        waits=waits,
        payments=awaiting,
        payments_since=since,
        range=range_,
        deliveries=views.attempt_figures(attempts, range_),
        pending=pending,
        oldest=oldest,
        has_webhooks=bool(subscriptions),
    )


async def _buyer_needs(
    db: Database, caller: Caller, subscriptions: Sequence[Subscription], now: datetime
) -> BuyerNeeds:
    account = caller.account_id
    # An operator sees the failing webhooks of all accounts, these among them.
    is_operator = Role.OPERATOR in caller.roles
    failing = [] if is_operator else [hook for hook in subscriptions if hook.health != Health.OK]
    failing = failing[: _ROWS + 1]
    return BuyerNeeds(
        failed_payments=await queries.list_failed_payments(db, account, limit=_ROWS + 1),
        late_parcels=await queries.list_late_parcels(
            db, account, shipped_before=now - views.LATE_AFTER, limit=_ROWS + 1
        ),
        webhooks=failing,
        states=await admin_queries.webhook_states(db, [hook.id for hook in failing]),
    )


async def _approving(db: Database, caller: Caller) -> ApproverOverview:
    queue = await payment_sql.list_queue(db, below=None, limit=10 * _ROWS)
    others = [pair for pair in queue if pair[0].requested_by.id != caller.account_id]
    waiting = await shell_queries.count_approvable_payments(db, caller.account_id, most=_MOST)
    return ApproverOverview(others[:_ROWS], waiting)


async def _operating(db: Database) -> OperatorOverview:
    failing = await webhooks.list_all(
        db, health=[Health.FAILING, Health.DISABLED], below=None, limit=_ROWS
    )
    return OperatorOverview(
        queue=await deliveries.find_queue_depth(db),
        webhooks=await queries.count_webhooks(db),
        failing=failing,
        states=await admin_queries.webhook_states(db, [hook.id for hook in failing]),
        owners=await admin_queries.account_names(db, [hook.account_id for hook in failing]),
    )
