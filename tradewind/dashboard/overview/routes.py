"""The overview: what is going on, at a glance."""

from typing import Annotated, Any, Literal

from msgspec import Meta

from tradewind.auth.model import Buyer, Role
from tradewind.dashboard.admin import queries as sql_desk
from tradewind.dashboard.overview import queries as sql_overview
from tradewind.dashboard.overview import views as overview
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

Given = Annotated[str, Meta(max_length=2000)] | None

_ROWS = 5
_SUBSCRIPTIONS = 1000


class OverviewQuery(Input):
    """How far to look back; and what a marketplace adds where it leads back to after asking."""

    span: Literal["day", "week"] = "day"
    code: Given = None
    state: Given = None
    error: Given = None
    error_description: Given = None


@routes.get("/", media_type="text/html", expensive=True)
async def show_overview(
    request: Request,
    caller: Caller,
    query: OverviewQuery,
    db: Database,
    platforms: Platforms,
    renderer: Renderer,
) -> Response:
    """The page that one begins with: what each role needs to know of its day."""
    return renderer.page(
        "overview.html",
        request,
        caller,
        returned=_returned(query, platforms),
        buying=await _buying(db, caller, query.span) if Role.BUYER in caller.roles else None,
        approving=await _approving(db, caller) if Role.APPROVER in caller.roles else None,
        operating=await _operating(db) if Role.OPERATOR in caller.roles else None,
    )


@routes.post("/first-steps/dismiss", media_type="text/html")
async def dismiss_first_steps(
    caller: Buyer, body: Form, db: Database, renderer: Renderer
) -> Response:
    """Show the list of first steps no more."""
    await sql_overview.dismiss_steps(db, caller.account_id)
    return renderer.to(caller, "/")


def _returned(query: OverviewQuery, platforms: Platforms) -> dict[str, Any] | None:
    """What a marketplace sent somebody back with; `state` says which one it was."""
    if not query.code and not query.error:
        return None
    try:
        place = platforms.named(platform_of(query.state or ""))
    except UnsupportedPlatform:
        place = ""
    return {
        "code": query.code or "",
        "state": query.state or "",
        "error": query.error,
        "error_description": query.error_description,
        "place": place,
        "name": platforms.marketplace(place).traits.name if place else "",
    }


async def _buying(db: Database, caller: Caller, chosen: str) -> dict[str, Any]:
    """A buyer's own: first steps, deliveries, what waits, orders, and receivers in trouble."""
    span = next(one for one in overview.SPANS if one.code == chosen)
    rows = await sql_overview.count_attempts(
        db, caller.account_id, hours=span.hours, step=span.step
    )
    pending, oldest = await sql_overview.count_pending(
        db, caller.account_id, most=overview.MOST + 1
    )
    orders = await sql_overview.count_orders(
        db, caller.account_id, [status.value for status in OrderStatus], most=overview.MOST + 1
    )
    waiting, since = await sql_overview.count_payments_waiting(db, caller.account_id)
    hooks = await webhooks.list_subscriptions(
        db, caller.account_id, below=None, limit=_SUBSCRIPTIONS
    )
    steps = await sql_overview.find_steps(db, caller.account_id)
    most = max(orders.values())
    return {
        "steps": overview.first_steps(steps) if steps else (),
        "span": span,
        "spans": [(one.label, f"/?span={one.code}", one is span) for one in overview.SPANS],
        "deliveries": overview.deliveries(rows, span),
        "hooks": len(hooks),
        "failing": [one for one in hooks if one.health is not Health.OK],
        "pending": overview.counted(pending),
        "oldest": oldest,
        "orders": [
            (
                status.value,
                overview.counted(orders[status]),
                charts.share_bar(orders[status], most, tone=labels.tone(status)),
            )
            for status in OrderStatus
            if orders[status]
        ],
        "payments": overview.counted(waiting),
        "payments_since": since,
    }


async def _approving(db: Database, caller: Caller) -> dict[str, Any]:
    """What waits for an approver, those first that have the least time left; never their own."""
    queue = await payment_sql.list_queue(db, after=None, limit=10 * _ROWS)
    others = [pair for pair in queue if pair[0].requested_by.id != caller.account_id]
    waiting = await sql_overview.count_payments_to_decide(
        db, caller.account_id, most=overview.MOST + 1
    )
    return {"payments": others[:_ROWS], "waiting": overview.counted(waiting)}


async def _operating(db: Database) -> dict[str, Any]:
    """The whole system's: its queue, and receivers of all accounts that fail."""
    queue = await deliveries.find_queue_depth(db)
    receivers = await sql_overview.count_receivers(db)
    failing = await webhooks.list_all(
        db, health=[Health.FAILING, Health.DISABLED], below=None, limit=_ROWS
    )
    owners = await sql_desk.names(db, [hook.account_id for hook in failing])
    return {"queue": queue, "receivers": receivers, "failing": failing, "owners": owners}
