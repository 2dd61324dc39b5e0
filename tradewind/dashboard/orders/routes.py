"""Orders, in a browser: the list with its filters, one order with its timeline, and its actions."""

from collections.abc import Awaitable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

from tradewind import ids, money
from tradewind.audit.model import Actor
from tradewind.auth.model import Buyer
from tradewind.background.background_tasks import BackgroundTasks
from tradewind.dashboard.orders import queries, views
from tradewind.dashboard.orders.goods import OrderGoods
from tradewind.dashboard.orders.timeline import TimelineEntry, TimelineEvent, timeline_entry
from tradewind.dashboard.shell.forms import (
    CursorQuery,
    SubmitForm,
    amount_fen,
    errors_of,
    idempotency_key_of,
    read_time,
    required_amount_fen,
    required_text,
    submit_token,
)
from tradewind.dashboard.shell.render import PageResult, PageRoutes, Redirect, TemplatePage
from tradewind.dashboard.shell.site import limit_marketplace_calls
from tradewind.dashboard.shell.urls import web_link
from tradewind.egress.client import Client
from tradewind.errors import Conflict, Invalid, ServiceUnavailable, UpstreamFailed
from tradewind.exports.export import export_orders, export_these_orders
from tradewind.orders import sql_lists
from tradewind.orders.cancel import cancel
from tradewind.orders.get_order import get_order
from tradewind.orders.inputs import AdvanceIn, OrdersQuery
from tradewind.orders.list_orders import list_orders
from tradewind.orders.model import Order, OrderStatus
from tradewind.orders.payments import refund
from tradewind.orders.payments import sql as payment_sql
from tradewind.orders.payments.errors import RefundTooLarge
from tradewind.orders.payments.model import OPEN_REQUESTS, PaymentStatus
from tradewind.orders.payments.modes import PayModes
from tradewind.orders.payments.request import request_payment, withdraw_payment
from tradewind.orders.payments.wire import PaymentIn, RefundIn
from tradewind.orders.person import Person
from tradewind.orders.refresh import Refreshes
from tradewind.orders.simulate import simulate
from tradewind.orders.wire import TIMELINE
from tradewind.platforms.model import RefundKind
from tradewind.platforms.registry import Platforms
from tradewind.storage.pool import Database
from tradewind.web.caller import Caller
from tradewind.web.download import csv_download
from tradewind.web.idempotency import IdempotencyKeyReused, RepeatedRequest, StoredResponse
from tradewind.web.inputs import Input, read_values
from tradewind.web.request import Request
from tradewind.web.response import Response
from tradewind.web.site import Form

routes = PageRoutes("/orders")

_ROWS = 25
_PAYMENTS = 50
_CHANGES = 30
_MATCHES = 100
_CLOCK_SKEW = timedelta(minutes=1)
_COMPLETED, _PENDING = 200, 202
_EXPECTED_ERRORS = (Conflict, UpstreamFailed, ServiceUnavailable, IdempotencyKeyReused)
_TEXTS = ("external_id", "order_id", "tracking_number")
_TIMES = ("created_after", "created_before", "updated_after", "updated_before")

# The tabs above the list: a label, and the statuses behind it.
TABS: Sequence[tuple[str, Sequence[str]]] = (
    ("All", ()),
    ("Awaiting payment", ("pending_payment",)),
    ("To ship", ("paid", "partially_shipped")),
    ("Shipped", ("shipped",)),
    ("Received", ("received", "completed")),
    ("Closed", ("cancelled", "closed", "create_failed")),
)


class OrdersPageQuery(Input):
    """The filters of the API as a form sends them; a time without a zone is UTC."""

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

    def filled(self) -> dict[str, str | list[str]]:
        """The filters that are set."""
        names = ("q", "status", "payment_status", "platform", *_TEXTS, *_TIMES, "sort")
        values = {name: value for name in names if (value := getattr(self, name))}
        if values.get("sort") == "created_at":
            del values["sort"]
        return values

    def as_api_query(self) -> OrdersQuery:
        """The same as the query of the API, or an error about a field."""
        values = {
            name: value for name, value in self.filled().items() if name not in {"q", *_TIMES}
        }
        for name in _TEXTS:
            if text := str(values.get(name, "")):
                typed = [text] if name == "external_id" else text.split(",")
                values[name] = [part.strip() for part in typed if part.strip()]
        api_query = read_values(OrdersQuery, limit=_ROWS, cursor=self.cursor, **values)
        for name in _TIMES:
            setattr(api_query, name, read_time(name, getattr(self, name)))
        return api_query


class PaymentForm(SubmitForm):
    """The amount that the buyer saw, and a note for the approver."""

    amount_cny: str = ""
    note: str = ""


class RefundForm(SubmitForm):
    """A refund request as it was typed."""

    type: str = RefundKind.REFUND_ONLY.value
    reason: str = ""
    amount_cny: str = ""
    freight_cny: str = ""
    note: str = ""
    order_id: str = ""


class AdvanceForm(Form):
    """An event to simulate at a simulated marketplace."""

    to: str = ""
    total_cny: str = ""


@routes.get(expensive=True)
async def show_orders(
    caller: Buyer, query: OrdersPageQuery, db: Database, platforms: Platforms
) -> PageResult:
    """List the orders of the account; a search for the ID of one order opens that order."""
    errors: Mapping[str, str] = {}
    orders: Sequence[Order] = ()
    cursor = None
    filled = query.filled()
    try:
        api_query = query.as_api_query()
        filters = api_query.filters(platforms.named, caller.account_id)
        if text := query.q.strip():
            orders = await queries.find_orders(db, filters, text, limit=_MATCHES)
            if len(orders) == 1 and filled.keys() == {"q"}:
                return Redirect(_path(orders[0].id))
        else:
            shown = await list_orders(db, filters, api_query, lambda order: order)
            orders, cursor = shown.items, shown.next_cursor
    except Invalid as error:
        errors = errors_of(error)
    goods = OrderGoods(platforms)
    kept = {name: value for name, value in filled.items() if name != "sort"}
    return TemplatePage(
        "orders/orders.html",
        images=goods.origins,
        goods=goods,
        orders=orders,
        query=query,
        filters=filled,
        errors=errors,
        next_cursor=cursor,
        tabs=[
            (
                label,
                "/orders" + ("?" if statuses else "") + "&".join(f"status={s}" for s in statuses),
                kept == ({"status": list(statuses)} if statuses else {}),
            )
            for label, statuses in TABS
        ],
        statuses=[status.value for status in OrderStatus],
        payment_statuses=[status.value for status in PaymentStatus],
        platforms=[
            (listing.traits.platform, listing.traits.name) for listing in await platforms.listed()
        ],
        waiting_note=views.waiting_note,
    )


@routes.get("/export", expensive=True)
async def export_listed_orders(
    caller: Buyer, query: OrdersPageQuery, db: Database, platforms: Platforms
) -> Response:
    """Export the list as CSV, with its filters; of a search, what it found."""
    filters = query.as_api_query().filters(platforms.named, caller.account_id)
    if text := query.q.strip():
        matches = await queries.find_orders(db, filters, text, limit=_MATCHES)
        return csv_download(await export_these_orders(matches, bom=True))
    return csv_download(await export_orders(db, filters, bom=True))


@routes.get("/{order_id}")
async def show_order(
    order_id: ids.OrderId, caller: Buyer, query: CursorQuery, db: Database, platforms: Platforms
) -> TemplatePage:
    """Show an order as it is stored; opening the page does not call the marketplace."""
    order = await get_order(db, caller.account_id, order_id)
    timeline, older = await _timeline(db, order, query.cursor)
    payments = await payment_sql.list_payments_of(
        db, caller.account_id, order.id, below=None, limit=_PAYMENTS
    )
    path = _path(order.id)
    goods = OrderGoods(platforms)
    is_simulated = platforms.simulated_origin(order.platform) is not None
    is_open = order.payment is not None and order.payment.status in OPEN_REQUESTS
    return TemplatePage(
        "orders/order.html",
        images=goods.origins,
        goods=goods,
        titles=goods.titles(order),
        order=order,
        order_path=path,
        next_step=views.next_step(order),
        parcels=views.parcels(order),
        actions=views.actions(order),
        part_choices=[(part.id, part.id) for part in order.parts],
        submit_token=submit_token(order),
        simulated_events=views.simulated_events(order) if is_simulated else (),
        payments=payments,
        open_payment_id=order.payment.id if is_open and order.payment else None,
        timeline=timeline,
        older_cursor=older,
        form=RefundForm(),
        rejected_action="",
        web_link=web_link,
    )


@routes.post("/{order_id}/refresh")
async def sync_order(
    order_id: ids.OrderId, caller: Buyer, body: Form, db: Database, refreshes: Refreshes
) -> Redirect:
    """Sync an order with its marketplace now, as a GET of the API does."""
    await limit_marketplace_calls(db, caller)
    order, stale = await refreshes.fresh(caller.account_id, order_id)
    if stale:
        message = "The marketplace did not respond in time. This is the last synced state."
        return Redirect(_path(order.id), message, tone="waiting")
    return Redirect(_path(order.id), "Synced with the marketplace.")


@routes.post("/{order_id}/cancel")
async def cancel_order(
    request: Request,
    order_id: ids.OrderId,
    caller: Buyer,
    body: SubmitForm,
    db: Database,
    platforms: Platforms,
    background_tasks: BackgroundTasks,
) -> Redirect:
    """Cancel an order; the marketplace may confirm later."""
    stored = _stored(caller, request, body)
    return await _finish(
        order_id,
        cancel(db, platforms, background_tasks, Person.of(caller), order_id, stored),
        "Order cancelled.",
        pending="Cancellation requested. Waiting for the marketplace.",
    )


@routes.post("/{order_id}/payment")
async def request_order_payment(
    request: Request,
    order_id: ids.OrderId,
    caller: Buyer,
    body: PaymentForm,
    db: Database,
    modes: PayModes,
) -> Redirect:
    """Request the payment of the amount that the page showed."""
    seen_fen = required_amount_fen("amount_cny", body.amount_cny)
    note = read_values(PaymentIn, note=body.note).note_text
    stored = _stored(caller, request, body)
    actor, person = Actor.of(caller), Person.of(caller)
    command = request_payment(db, actor, person, order_id, modes, seen_fen, stored, note=note)
    message = "Payment requested. Another person must approve it."
    return await _finish(order_id, command, message)


@routes.post("/{order_id}/payment/withdraw")
async def withdraw_order_payment(
    request: Request, order_id: ids.OrderId, caller: Buyer, body: SubmitForm, db: Database
) -> Redirect:
    """Withdraw a payment request before it is decided."""
    stored = _stored(caller, request, body)
    command = withdraw_payment(db, Actor.of(caller), Person.of(caller), order_id, stored)
    return await _finish(order_id, command, "Payment request withdrawn.")


@routes.post("/{order_id}/refunds")
async def request_refund(
    request: Request,
    order_id: ids.OrderId,
    caller: Buyer,
    body: RefundForm,
    db: Database,
    platforms: Platforms,
    background_tasks: BackgroundTasks,
) -> PageResult:
    """Request a refund from the seller, once for each submit token."""
    stored = _stored(caller, request, body)
    actor = Actor.of(caller)
    try:
        wanted = _read_refund(body).refund()
        command = refund.request_refund(
            db, platforms, background_tasks, actor, Person.of(caller), order_id, wanted, stored
        )
        message = "Refund requested. The seller must approve it."
        return await _finish(order_id, command, message)
    except Invalid as error:
        is_amount = isinstance(error, RefundTooLarge)
        errors = {"amount_cny": error.detail} if is_amount else errors_of(error)
        page = await show_order(order_id, caller, CursorQuery(), db, platforms)
        return page.rejected(error, errors, form=body, rejected_action="refund")


@routes.post("/{order_id}/advance")
async def simulate_event(
    order_id: ids.OrderId,
    caller: Buyer,
    body: AdvanceForm,
    db: Database,
    platforms: Platforms,
    client: Client,
    refreshes: Refreshes,
) -> PageResult:
    """Simulate an event at a simulated marketplace, then sync the order."""
    try:
        total = money.show_or_none(amount_fen("total_cny", body.total_cny))
        event = read_values(AdvanceIn, to=body.to, total_cny=total)
        person = Person.of(caller)
        command = simulate(
            db, platforms, client, refreshes, person, order_id, event.to, event.total_fen
        )
        message = "Event simulated. The order was synced."
        return await _finish(order_id, command, message)
    except Invalid as error:
        page = await show_order(order_id, caller, CursorQuery(), db, platforms)
        return page.rejected(error, rejected_action="advance")


def _read_refund(body: RefundForm) -> RefundIn:
    """The form as the API takes it."""
    return read_values(
        RefundIn,
        type=body.type,
        reason=required_text("reason", body.reason, "Enter a reason."),
        amount_cny=money.show_or_none(amount_fen("amount_cny", body.amount_cny)),
        freight_cny=money.show_or_none(amount_fen("freight_cny", body.freight_cny)),
        note=body.note.strip() or None,
        order_id=body.order_id or None,
    )


def _stored(caller: Caller, request: Request, form: SubmitForm) -> StoredResponse[object]:
    """The stored response of a form, under the key that its submit token makes."""
    return StoredResponse(idempotency_key_of(caller, request, form), _stored_response)


def _stored_response(result: object) -> Response:
    """What is stored of a command: whether it is completed, or waits for the marketplace."""
    is_pending = isinstance(result, Order) and result.status is not OrderStatus.CANCELLED
    return Response(None, _PENDING if is_pending else _COMPLETED)


async def _finish(
    order_id: UUID, command: Awaitable[object], message: str, *, pending: str = ""
) -> Redirect:
    """Run a command and go back to the order. A repeated command has the result of the first."""
    try:
        response = _stored_response(await command)
    except RepeatedRequest as repeated:
        response = repeated.response
    except _EXPECTED_ERRORS as error:
        return Redirect(_path(order_id), views.error_message(error), tone="bad")
    if pending and response.status != _COMPLETED:
        return Redirect(_path(order_id), pending, tone="waiting")
    return Redirect(_path(order_id), message)


async def _timeline(
    db: Database, order: Order, cursor: str | None
) -> tuple[Sequence[TimelineEntry], str | None]:
    """A page of the timeline, newest first, and the cursor of the next page."""
    read = partial(sql_lists.list_changes, db, order.account_id, order.id)
    changes = await TIMELINE.rows(cursor, _CHANGES, read)
    times = {event: change.at for change in changes.items for event in change.events}
    events = await _events(db, order.account_id, times) if times else {}
    entries = [
        timeline_entry(change, [events[event] for event in change.events], order.lines)
        for change in changes.items
    ]
    return entries, changes.next_cursor


async def _events(
    db: Database, account_id: UUID, times: Mapping[UUID, datetime]
) -> Mapping[UUID, TimelineEvent]:
    """Each event with its deliveries: the last attempt, unless another one is pending."""
    event_ids = list(times)
    types = await queries.event_types(
        db, account_id, event_ids, since=min(times.values()) - _CLOCK_SKEW
    )
    attempts = await queries.last_attempts(db, account_id, event_ids, list(times.values()))
    pending = await queries.pending_deliveries(db, account_id, event_ids)
    deliveries = views.merge_deliveries(attempts, pending)
    return {
        event_id: TimelineEvent(
            ids.EVENT.show(event_id), types.get(event_id, ""), deliveries.get(event_id, [])
        )
        for event_id in event_ids
    }


def _path(order_id: UUID) -> str:
    return f"/orders/{ids.ORDER.show(order_id)}"
