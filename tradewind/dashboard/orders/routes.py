"""Orders, in a browser: the list with its filters, and one order with its story."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from tradewind import ids, money
from tradewind.auth.model import Buyer
from tradewind.dashboard.orders import order_view
from tradewind.dashboard.orders.order_search import find_by_any_id
from tradewind.dashboard.orders.views import allowed, moves, waits_for, waits_for_short
from tradewind.dashboard.shell.forms import errors_of
from tradewind.dashboard.shell.links import web_link
from tradewind.dashboard.shell.render import Renderer
from tradewind.dashboard.shell.submit_token import OnceForm, key_of
from tradewind.errors import Invalid
from tradewind.orders.inputs import OrdersQuery
from tradewind.orders.list_orders import list_orders
from tradewind.orders.model import Order, OrderStatus
from tradewind.orders.payments import sql as payment_sql
from tradewind.orders.payments.model import PaymentStatus
from tradewind.orders.payments.wire import PaymentOut
from tradewind.orders.wire import OrderOut
from tradewind.platforms.model import RefundKind
from tradewind.platforms.registry import Platforms
from tradewind.storage.pool import Database
from tradewind.web.caller import Caller
from tradewind.web.endpoint import Routes
from tradewind.web.inputs import Input, check_moment, read_values
from tradewind.web.request import Request
from tradewind.web.response import Response

routes = Routes("/orders", tag="Dashboard", hidden=True, pages=True)

_ROWS = 25
_PAYMENTS = 50
_FIRST_SORT = "created_at"
_TEXTS = ("external_id", "order_id", "tracking_number")
_TIMES = ("created_after", "created_before", "updated_after", "updated_before")

# What people look for most: a name, and the filters behind it.
VIEWS: Sequence[tuple[str, Sequence[str]]] = (
    ("All", ()),
    ("Wait for payment", ("pending_payment",)),
    ("To be shipped", ("paid", "partially_shipped")),
    ("On their way", ("shipped",)),
    ("Received", ("received", "completed")),
    ("Ended", ("cancelled", "closed", "create_failed")),
)


class OrdersPageQuery(Input):
    """The filters of the API as a form sends them; a time without a zone is in UTC."""

    q: str = ""
    status: list[str] | None = None
    payment_status: list[str] | None = None
    platform: list[str] | None = None
    external_id: str = ""
    order_id: str = ""
    tracking_number: str = ""
    created_after: str = ""
    created_before: str = ""
    updated_after: str = ""
    updated_before: str = ""
    sort: str = ""
    cursor: str | None = None

    def given(self) -> dict[str, Any]:
        """What was filtered by, but for the page: what the next page's address repeats."""
        names = ("q", "status", "payment_status", "platform", *_TEXTS, *_TIMES, "sort")
        found = {name: value for name in names if (value := getattr(self, name))}
        if found.get("sort") == _FIRST_SORT:
            del found["sort"]
        return found

    def wanted(self) -> OrdersQuery:
        """The same in the API's terms, or the field that is wrong."""
        values = {name: value for name, value in self.given().items() if name != "q"}
        for name in _TEXTS:
            if name in values:
                typed = [values[name]] if name == "external_id" else values[name].split(",")
                values[name] = [text.strip() for text in typed if text.strip()]
        for name in _TIMES:
            if name in values:
                values[name] = in_utc(values[name])
        wanted = read_values(OrdersQuery, limit=_ROWS, cursor=self.cursor, **values)
        for name in _TIMES:
            if (moment := getattr(wanted, name)) is not None:
                check_moment(f"/{name}", moment)
        return wanted


class OrderQuery(Input):
    """Where in the order's timeline to begin."""

    cursor: str | None = None


class RefundForm(OnceForm):
    """How much to ask back, and why, as it was typed."""

    type: str = RefundKind.REFUND_ONLY.value
    reason: str = ""
    amount_cny: str = ""
    freight_cny: str = ""
    note: str = ""
    order_id: str = ""


@dataclass(frozen=True, slots=True)
class Wrong:
    """What an action was refused for: the form as it was typed, and what is wrong with it."""

    form: Any = field(default_factory=RefundForm)
    errors: Mapping[str, str] = field(default_factory=dict)
    action: str = ""


@routes.get(media_type="text/html", expensive=True)
async def show_orders(
    request: Request,
    caller: Buyer,
    query: OrdersPageQuery,
    db: Database,
    platforms: Platforms,
    renderer: Renderer,
) -> Response:
    """The orders of the account; an id that is one order's leads to that order."""
    errors: Mapping[str, str] = {}
    orders: Sequence[OrderOut] = ()
    cursor = None
    given = query.given()
    try:
        wanted = query.wanted()
        filters = wanted.filters(platforms.named, caller.account_id)
        if text := query.q.strip():
            found = await find_by_any_id(db, filters, text)
            if len(found) == 1 and given.keys() == {"q"}:
                return renderer.to(caller, f"/orders/{found[0].reference}")
            orders = [OrderOut.of(order) for order in found]
        else:
            page = await list_orders(db, filters, wanted, OrderOut.of)
            orders, cursor = page.items, page.next_cursor
    except Invalid as refusal:
        errors = errors_of(refusal)
    return renderer.page(
        "orders.html",
        request,
        caller,
        status=422 if errors else 200,
        orders=orders,
        query=query,
        given=given,
        errors=errors,
        times={name: as_typed(getattr(query, name)) for name in _TIMES},
        next_url=address(given, cursor) if cursor else None,
        first_url=address(given) if query.cursor else None,
        views=[(label, _view(statuses), _is_view(given, statuses)) for label, statuses in VIEWS],
        statuses=[status.value for status in OrderStatus],
        payment_statuses=[status.value for status in PaymentStatus],
        platforms=[(one.traits.platform, one.traits.name) for one in await platforms.listed()],
        waits_for=waits_for_short,
    )


@routes.get("/{order_id}", media_type="text/html")
async def show_order(
    request: Request,
    order_id: ids.OrderId,
    caller: Buyer,
    query: OrderQuery,
    db: Database,
    platforms: Platforms,
    renderer: Renderer,
) -> Response:
    """An order as it is stored: nobody outside is asked by looking at it."""
    order = await order_view.find(db, caller.account_id, order_id)
    return await order_page(request, caller, order, db, platforms, renderer, cursor=query.cursor)


async def order_page(
    request: Request,
    caller: Caller,
    order: Order,
    db: Database,
    platforms: Platforms,
    renderer: Renderer,
    *,
    cursor: str | None = None,
    wrong: Wrong | None = None,
) -> Response:
    """The page of an order; with what is wrong in a form of it."""
    story, older = await order_view.story(db, caller.account_id, order.id, cursor)
    payments = await payment_sql.list_payments_of(
        db, caller.account_id, order.id, below=None, limit=_PAYMENTS
    )
    can = allowed(order)
    here = f"/orders/{order.reference}"
    return renderer.page(
        "order.html",
        request,
        caller,
        status=422 if wrong else 200,
        order=OrderOut.of(order),
        here_path=here,
        age=_age(order),
        waits=waits_for(order),
        can=can,
        refund_left=money.show_or_none(can.refund_fen),
        parts=[(part.id, part.id) for part in order.parts],
        once=key_of(order),
        moves=moves(order) if platforms.simulated_origin(order.platform) else (),
        is_simulated=platforms.simulated_origin(order.platform) is not None,
        payments=[PaymentOut.of(one) for one in payments],
        story=story,
        older_url=f"{here}?{urlencode({'cursor': older})}#story" if older else None,
        newest_url=f"{here}#story" if cursor else None,
        form=wrong.form if wrong else RefundForm(),
        errors=wrong.errors if wrong else {},
        wrong_action=wrong.action if wrong else "",
        web_link=web_link,
    )


def in_utc(text: str) -> str:
    """A time as a browser's field gives it, with the zone that it is meant in."""
    try:
        read = datetime.fromisoformat(text.strip())
    except ValueError:
        return text
    return text.strip() if read.tzinfo else f"{read.isoformat()}Z"


def as_typed(text: str) -> str:
    """A time as a browser's field takes it: in UTC, without saying so."""
    try:
        read = datetime.fromisoformat(text.strip())
        in_zone = read.astimezone(UTC) if read.tzinfo else read
    except (ValueError, OverflowError):  # no time, or one that leaves the calendar in UTC
        return ""
    return f"{in_zone:%Y-%m-%dT%H:%M}"


def address(given: Mapping[str, Any], cursor: str | None = None) -> str:
    """The list's address with these filters."""
    values = {**given, **({"cursor": cursor} if cursor else {})}
    return f"/orders?{urlencode(values, doseq=True)}" if values else "/orders"


def _view(statuses: Sequence[str]) -> str:
    return address({"status": list(statuses)} if statuses else {})


def _is_view(given: Mapping[str, Any], statuses: Sequence[str]) -> bool:
    kept = {name: value for name, value in given.items() if name != "sort"}
    return kept == ({"status": list(statuses)} if statuses else {})


def _age(order: Order) -> float | None:
    """How many seconds ago the marketplace was last asked with success."""
    return None if order.synced_at is None else (order.now - order.synced_at).total_seconds()
