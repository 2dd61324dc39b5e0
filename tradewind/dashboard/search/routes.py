"""The search box: takes any ID and opens its page."""

from typing import Annotated

from msgspec import Meta

from tradewind import ids
from tradewind.auth.model import Role
from tradewind.dashboard.admin import queries as admin_queries
from tradewind.dashboard.search.any_id import SearchResults, find
from tradewind.dashboard.shell.render import Renderer
from tradewind.storage.pool import Database
from tradewind.web.caller import Caller
from tradewind.web.endpoint import Routes
from tradewind.web.inputs import Input
from tradewind.web.request import Request
from tradewind.web.response import Response
from tradewind.webhooks.headers import DELIVERY

routes = Routes("/search", tag="Dashboard", hidden=True, pages=True)


class SearchQuery(Input):
    """The text to search for."""

    q: Annotated[str, Meta(max_length=300)] = ""


@routes.get(media_type="text/html", expensive=True)
async def search(
    request: Request, caller: Caller, query: SearchQuery, db: Database, renderer: Renderer
) -> Response:
    """Open the page of the only result, or list the results."""
    text = query.q.strip()
    results = await find(db, caller, text) if text else SearchResults()
    if results.path is not None:
        return renderer.redirect(caller, results.path)
    owners = [order.account_id for order in results.orders]
    return renderer.page(
        "search/search.html",
        request,
        caller,
        text=text,
        results=results,
        owners=await admin_queries.account_names(db, owners),
        supported=_supported(caller),
    )


def _supported(caller: Caller) -> list[tuple[str, str]]:
    """What the caller can search for."""
    is_buyer, is_operator = Role.BUYER in caller.roles, Role.OPERATOR in caller.roles
    supported: list[tuple[str, str]] = []
    if is_buyer or is_operator:
        supported += [
            ("Order", f"{ids.ORDER.prefix}…, marketplace order ID, external ID"),
            ("Parcel", "Tracking number"),
            ("Event or refund", f"{ids.EVENT.prefix}… or {ids.REFUND.prefix}…: opens its order"),
            ("Webhook or replay", f"{ids.SUBSCRIPTION.prefix}… or {ids.JOB.prefix}…"),
        ]
    if is_buyer:
        supported.append(("Attempt", f"{ids.DELIVERY.prefix}…, from {DELIVERY}"))
    if is_buyer or is_operator or Role.APPROVER in caller.roles:
        supported.append(("Payment request", f"{ids.PAYMENT.prefix}…"))
    supported.append(("API key", f"{ids.API_KEY.prefix}…"))
    if is_operator:
        supported += [
            ("Account", f"{ids.ACCOUNT.prefix}…, e-mail, or a part of the name"),
            ("Request", f"{ids.REQUEST.prefix}…: opens its audit entries"),
        ]
    return supported
