"""Why an event was, or was not, delivered: at one webhook, or at all of them."""

from collections.abc import Sequence

from tradewind import ids
from tradewind.auth.model import Buyer
from tradewind.dashboard.shell.render import Renderer
from tradewind.dashboard.webhooks.routes import state
from tradewind.delivery.explain import explain_event
from tradewind.delivery.wire import ExplainOut
from tradewind.errors import ResourceNotFound
from tradewind.storage.pool import Database
from tradewind.web.endpoint import Routes
from tradewind.web.inputs import Input
from tradewind.web.request import Request
from tradewind.web.response import Response
from tradewind.webhooks import sql
from tradewind.webhooks.model import Subscription
from tradewind.webhooks.subscribe import get_subscription

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
    return await _explain(request, caller, query, db, renderer, webhooks, None)


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
    webhook = await get_subscription(db, caller.account_id, subscription_id)
    return await _explain(request, caller, query, db, renderer, [webhook], webhook)


async def _explain(
    request: Request,
    caller: Buyer,
    query: WhyQuery,
    db: Database,
    renderer: Renderer,
    webhooks: Sequence[Subscription],
    webhook: Subscription | None,
) -> Response:
    found: Sequence[tuple[Subscription, ExplainOut]] = []
    errors = {}
    event = query.event.strip()
    if event:
        try:
            event_id = ids.EVENT.read(event)
            explained = await explain_event(db, caller.account_id, webhooks, event_id)
            outs = [ExplainOut.of(event, explanation) for explanation in explained]
            found = list(zip(webhooks, outs, strict=True))
        except ResourceNotFound:
            errors["event"] = _NO_EVENT
    return renderer.page(
        "webhook_explain.html",
        request,
        caller,
        status=404 if errors else 200,
        webhook=webhook,
        state=webhook and state(webhook),
        event=query.event,
        found=found,
        has_webhooks=bool(webhooks),
        errors=errors,
    )


_NO_EVENT = (
    "No event of this account has this id. It is the id in the body of a delivery, and begins "
    "with evt_; old events are not kept."
)
