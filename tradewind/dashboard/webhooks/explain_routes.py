"""Why an event was, or was not, delivered: at one webhook, or at all of them."""

from collections.abc import Sequence
from uuid import UUID

from tradewind import ids
from tradewind.auth.model import Buyer
from tradewind.dashboard.shell.render import Renderer
from tradewind.dashboard.webhooks.routes import state
from tradewind.delivery import routes as deliveries
from tradewind.errors import ResourceNotFound
from tradewind.storage.pool import Database
from tradewind.web.endpoint import Routes
from tradewind.web.inputs import Input
from tradewind.web.request import Request
from tradewind.web.response import Response
from tradewind.webhooks import sql
from tradewind.webhooks.routes import mine

routes = Routes("/webhooks", tag="Dashboard", hidden=True, pages=True)

_MOST = 50


class WhyQuery(Input):
    """About which event."""

    event: str = ""


@routes.get("/explain", media_type="text/html", expensive=True)
async def explain_all(
    request: Request, caller: Buyer, query: WhyQuery, db: Database, renderer: Renderer
) -> Response:
    """What became of an event at every webhook."""
    webhooks = await sql.list_subscriptions(db, caller.account_id, below=None, limit=_MOST)
    return await _explain(request, caller, query, db, renderer, [one.id for one in webhooks], None)


@routes.get("/{subscription_id}/explain", media_type="text/html", expensive=True)
async def explain_one(
    request: Request,
    subscription_id: ids.SubscriptionId,
    caller: Buyer,
    query: WhyQuery,
    db: Database,
    renderer: Renderer,
) -> Response:
    """What became of an event at one webhook."""
    webhook = await mine(db, caller.account_id, subscription_id)
    return await _explain(request, caller, query, db, renderer, [webhook.id], webhook.id)


async def _explain(
    request: Request,
    caller: Buyer,
    query: WhyQuery,
    db: Database,
    renderer: Renderer,
    asked: Sequence[UUID],
    only: UUID | None,
) -> Response:
    found, errors = [], {}
    event = query.event.strip()
    for subscription_id in asked if event else ():
        try:
            why = await deliveries.explain_delivery(
                subscription_id, caller, deliveries.ExplainQuery(event=event), db
            )
        except ResourceNotFound:
            errors["event"] = _NO_EVENT
            break
        found.append((await mine(db, caller.account_id, subscription_id), why))
    webhook = None if only is None else await mine(db, caller.account_id, only)
    return renderer.page(
        "webhook_explain.html",
        request,
        caller,
        status=404 if errors else 200,
        webhook=webhook,
        state=webhook and state(webhook),
        event=query.event,
        found=found,
        has_webhooks=bool(asked),
        errors=errors,
    )


_NO_EVENT = (
    "No event of this account has this id. It is the id in the body of a delivery, and begins "
    "with evt_; old events are not kept."
)
