"""The search box: takes any id, and goes to its page."""

from typing import Annotated

from msgspec import Meta

from tradewind import ids
from tradewind.auth.model import Role
from tradewind.dashboard.search.id_search import Found, find
from tradewind.dashboard.shell.render import Renderer
from tradewind.storage.pool import Database
from tradewind.web.caller import Caller
from tradewind.web.endpoint import Routes
from tradewind.web.inputs import Input
from tradewind.web.request import Request
from tradewind.web.response import Response

routes = Routes("/search", tag="Dashboard", hidden=True, pages=True)


class SearchQuery(Input):
    """What to find."""

    q: Annotated[str, Meta(max_length=300)] = ""


@routes.get(media_type="text/html", expensive=True)
async def search(
    request: Request, caller: Caller, query: SearchQuery, db: Database, renderer: Renderer
) -> Response:
    """Go to the one page of what was typed; else show what it could be."""
    text = query.q.strip()
    found = await find(db, caller, text) if text else Found()
    if found.where is not None:
        return renderer.to(caller, found.where)
    return renderer.page(
        "search.html",
        request,
        caller,
        text=text,
        found=found,
        kinds=_understood(caller),
        operates=Role.OPERATOR in caller.roles,
    )


def _understood(caller: Caller) -> list[tuple[str, str]]:
    """What the caller can find things by."""
    buys, operates = Role.BUYER in caller.roles, Role.OPERATOR in caller.roles
    known: list[tuple[str, str]] = []
    if buys or operates:
        known += [
            ("An order", f"{ids.ORDER.prefix}…, its id on the platform, your own id for it"),
            ("A parcel", "its tracking number"),
            ("An event or a refund", f"{ids.EVENT.prefix}… or {ids.REFUND.prefix}…: its order"),
            ("A webhook or a recovery", f"{ids.SUBSCRIPTION.prefix}… or {ids.JOB.prefix}…"),
        ]
    if buys:
        known.append(("A delivery", f"{ids.DELIVERY.prefix}…, as X-Service-Delivery says"))
    if buys or operates or Role.APPROVER in caller.roles:
        known.append(("A payment request", f"{ids.PAYMENT.prefix}…"))
    known.append(("An API key", f"{ids.API_KEY.prefix}…"))
    if operates:
        known += [
            ("An account", f"{ids.ACCOUNT.prefix}…, an e-mail, or a part of its name"),
            ("A request that changed something", f"{ids.REQUEST.prefix}…: its audit entries"),
        ]
    return known
