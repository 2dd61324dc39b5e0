"""The overview: the state of deliveries, orders, approvals and the queue, by role."""

from typing import Annotated, Any, Literal

from msgspec import Meta

from tradewind.auth.model import Buyer, Role
from tradewind.dashboard.admin import queries as admin_queries
from tradewind.dashboard.overview import queries, views
from tradewind.dashboard.shell import charts, labels
from tradewind.dashboard.shell.render import Renderer
from tradewind.delivery import sql as deliveries
from tradewind.orders.model import OrderStatus
from tradewind.orders.payments import sql as payment_sql
from tradewind.platforms.errors import UnsupportedPlatform
from tradewind.platforms.oauth_state import platform_of
from tradewind.platforms.registry import Platforms
from tradewind.storage.pool import Database
from tradewind.web.caller import Caller
from tradewind.web.endpoint import Routes
from tradewind.web.inputs import Input
from tradewind.web.request import Request
from tradewind.web.response import Response
from tradewind.web.site import Form
from tradewind.webhooks import sql as webhooks
from tradewind.webhooks.model import Health

routes = Routes("", tag="Dashboard", hidden=True, pages=True)

ReturnParameter = Annotated[str, Meta(max_length=2000)] | None

_ROWS = 5
_SUBSCRIPTIONS = 1000


class OverviewQuery(Input):
    """The time range; and the parameters that a marketplace returns with after authorisation."""

    span: Literal["day", "week"] = "day"
    code: ReturnParameter = None
    state: ReturnParameter = None
    error: ReturnParameter = None
    error_description: ReturnParameter = None


@routes.get("/", media_type="text/html", expensive=True)
async def show_overview(
    request: Request,
    caller: Caller,
    query: OverviewQuery,
    db: Database,
    platforms: Platforms,
    renderer: Renderer,
) -> Response:
    """Show what each role of the caller needs."""
    return renderer.page(
        "overview/overview.html",
        request,
        caller,
        returned=_authorisation_return(query, platforms),
        buying=await _buying(db, caller, query.span) if Role.BUYER in caller.roles else None,
        approving=await _approving(db, caller) if Role.APPROVER in caller.roles else None,
        operating=await _operating(db) if Role.OPERATOR in caller.roles else None,
    )


@routes.post("/first-steps/dismiss", media_type="text/html")
async def dismiss_getting_started(
    caller: Buyer, body: Form, db: Database, renderer: Renderer
) -> Response:
    """Hide the getting-started steps."""
    await queries.dismiss_steps(db, caller.account_id)
    return renderer.redirect(caller, "/")


def _authorisation_return(query: OverviewQuery, platforms: Platforms) -> dict[str, Any] | None:
    """What a marketplace returned with after its authorisation; `state` names the marketplace."""
    if not query.code and not query.error:
        return None
    try:
        platform = platforms.named(platform_of(query.state or ""))
    except UnsupportedPlatform:
        platform = ""
    return {
        "code": query.code or "",
        "state": query.state or "",
        "error": query.error,
        "error_description": query.error_description,
        "platform": platform,
        "name": platforms.marketplace(platform).traits.name if platform else "",
    }


async def _buying(db: Database, caller: Caller, range_code: str) -> dict[str, Any]:
    """A buyer's part: first steps, deliveries, orders, payments and failing webhooks."""
    range_ = next(choice for choice in views.RANGES if choice.code == range_code)
    attempts = await queries.count_attempts(
        db, caller.account_id, hours=range_.hours, step=range_.step
    )
    pending, oldest = await queries.count_pending(db, caller.account_id, most=views.MOST + 1)
    orders = await queries.count_orders(
        db, caller.account_id, [status.value for status in OrderStatus], most=views.MOST + 1
    )
    awaiting, since = await queries.count_pending_approvals(db, caller.account_id)
    subscriptions = await webhooks.list_subscriptions(
        db, caller.account_id, below=None, limit=_SUBSCRIPTIONS
    )
    completed = await queries.find_completed_steps(db, caller.account_id)
    most = max(orders.values())
    return {
        "steps": views.getting_started(completed) if completed else (),
        "range": range_,
        "ranges": [
            (choice.label, f"/?span={choice.code}", choice is range_) for choice in views.RANGES
        ],
        "deliveries": views.attempt_figures(attempts, range_),
        "webhook_count": len(subscriptions),
        "failing": [webhook for webhook in subscriptions if webhook.health is not Health.OK],
        "pending": views.limited_count(pending),
        "oldest": oldest,
        "orders": [
            (
                status.value,
                views.limited_count(orders[status]),
                charts.share_bar(orders[status], most, tone=labels.tone(status)),
            )
            for status in OrderStatus
            if orders[status]
        ],
        "payments": views.limited_count(awaiting),
        "payments_since": since,
    }


async def _approving(db: Database, caller: Caller) -> dict[str, Any]:
    """An approver's part: the most urgent payments of others."""
    queue = await payment_sql.list_queue(db, after=None, limit=10 * _ROWS)
    others = [pair for pair in queue if pair[0].requested_by.id != caller.account_id]
    count = await queries.count_approvable_payments(db, caller.account_id, most=views.MOST + 1)
    return {"payments": others[:_ROWS], "waiting": views.limited_count(count)}


async def _operating(db: Database) -> dict[str, Any]:
    """An operator's part: the queue, and failing webhooks of all accounts."""
    failing = await webhooks.list_all(
        db, health=[Health.FAILING, Health.DISABLED], below=None, limit=_ROWS
    )
    return {
        "queue": await deliveries.find_queue_depth(db),
        "webhooks": await queries.count_webhooks(db),
        "failing": failing,
        "owners": await admin_queries.account_names(db, [hook.account_id for hook in failing]),
    }
