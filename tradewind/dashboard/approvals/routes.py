"""Approvals, in a browser: the queue by time left, and a page for each request."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Literal
from uuid import UUID

from asyncpg import Record

from tradewind import ids, money
from tradewind.audit.model import Actor
from tradewind.auth.model import Approver
from tradewind.dashboard.admin import queries as sql_desk
from tradewind.dashboard.orders.changes import told
from tradewind.dashboard.shell.forms import errors_of, required_amount_fen
from tradewind.dashboard.shell.labels import word
from tradewind.dashboard.shell.listing import choices, first_page, next_page
from tradewind.dashboard.shell.render import Renderer, fen
from tradewind.errors import Conflict, Invalid, ResourceNotFound, ValidationFailed
from tradewind.orders.model import Order
from tradewind.orders.payments import approve as approving
from tradewind.orders.payments import four_eyes, sql
from tradewind.orders.payments.errors import AmountChanged
from tradewind.orders.payments.model import PaymentRequest, RequestStatus
from tradewind.orders.payments.sql import OrderPayment
from tradewind.orders.payments.wire import RejectIn
from tradewind.orders.person import Person
from tradewind.orders.wire import OrderOut
from tradewind.storage.pool import Database
from tradewind.web import inputs
from tradewind.web.caller import Caller
from tradewind.web.endpoint import Routes
from tradewind.web.idempotency import StoredResponse
from tradewind.web.paging import PageQuery, page, read_cursor
from tradewind.web.request import Request
from tradewind.web.response import Response
from tradewind.web.site import Form

routes = Routes("/approvals", tag="Dashboard", hidden=True, pages=True)
_UNKEYED: StoredResponse[OrderPayment] = StoredResponse(None, lambda _: Response())

DECIDED = [one for one in RequestStatus if one is not RequestStatus.PENDING_APPROVAL]


class ApprovalsQuery(PageQuery):
    """The queue, or what is over."""

    show: Literal["waiting", "decided"] = "waiting"
    status: RequestStatus | None = None


class ApproveForm(Form):
    """The amount that the approver saw; without one, nothing is approved."""

    amount_cny: str = ""


class RejectForm(Form):
    """Why not."""

    reason: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as the approver sees it."""

    request: PaymentRequest
    order: Order
    account: Record | None
    changed: Sequence[str]
    earlier: Record | None
    # Why this approver must not approve it, though it is not their own request.
    not_independent: str | None

    @property
    def account_locked(self) -> bool:
        """Whether an operator has locked the account: then nothing of it is approved or paid."""
        return self.account is not None and self.account["locked_at"] is not None

    @property
    def seconds_left(self) -> float | None:
        """Until the platform closes the order; below zero: it should be closed by now."""
        ends: datetime | None = self.order.pay_before
        return None if ends is None else (ends - self.order.now).total_seconds()

    @property
    def total_changed(self) -> bool:
        """Whether the order costs something else than what is asked for."""
        return self.order.total_fen is not None and self.order.total_fen != self.request.amount_fen


@routes.get(media_type="text/html", expensive=True)
async def show_approvals(
    request: Request, caller: Approver, query: ApprovalsQuery, db: Database, renderer: Renderer
) -> Response:
    """The queue, those first that have the least time left; or what was decided, newest first."""
    if query.show == "waiting":
        waiting = await sql.list_queue(
            db,
            after=read_cursor("payment queue", query.cursor, tuple[datetime, UUID]),
            limit=query.limit + 1,
        )
        found = page(
            "payment queue", waiting, query.limit, key=lambda pair: pair.queue_key, show=_pair
        )
    else:
        over = await sql.list_payments(
            db,
            [query.status] if query.status else DECIDED,
            below=read_cursor("payments", query.cursor, UUID),
            limit=query.limit + 1,
        )
        found = page("payments", over, query.limit, key=lambda pair: pair[0].id, show=_pair)
    return renderer.page(
        "approvals.html",
        request,
        caller,
        query=query,
        asked=await _asked(db, caller, found.items),
        options=[("", "any"), *choices(DECIDED)],
        next_url=next_page(request, found.next_cursor),
        first_url=first_page(request),
    )


@routes.get("/{payment_id}", media_type="text/html")
async def show_approval(
    payment_id: ids.PaymentId, request: Request, caller: Approver, db: Database, renderer: Renderer
) -> Response:
    """One request, with its order and what can be decided."""
    return await _page(db, renderer, request, caller, payment_id)


@routes.post("/{payment_id}/approve", media_type="text/html")
async def approve(
    payment_id: ids.PaymentId,
    request: Request,
    caller: Approver,
    body: ApproveForm,
    db: Database,
    renderer: Renderer,
) -> Response:
    """Approve the amount that was on the page, or say that it is another."""
    try:
        seen = required_amount_fen("amount_cny", body.amount_cny)
        actor, by = Actor.of(caller, request), Person.of(caller)
        await approving.approve(db, actor, by, payment_id, seen, _UNKEYED)
    except Invalid as wrong:
        said = f"{errors_of(wrong)['amount_cny']} Nothing was approved."
        return await _page(db, renderer, request, caller, payment_id, 422, errors={"": said})
    except Conflict as refusal:
        said = await _plainly(db, payment_id, refusal, "approved")
        return await _page(db, renderer, request, caller, payment_id, 409, errors={"": said})
    return renderer.to(caller, "/approvals", f"Approved: {fen(seen)}. It is being paid.")


@routes.post("/{payment_id}/reject", media_type="text/html")
async def reject(
    payment_id: ids.PaymentId,
    request: Request,
    caller: Approver,
    body: RejectForm,
    db: Database,
    renderer: Renderer,
) -> Response:
    """Refuse to have an order paid; whoever asked is told why."""
    reason = body.reason.strip()
    try:
        if not reason:
            raise ValidationFailed("/reason", "Say why: whoever asked reads it.", "missing")
        wanted = inputs.read_values(RejectIn, reason=reason)
        actor = Actor.of(caller, request)
        by = Person.of(caller)
        await approving.reject(db, actor, by, payment_id, wanted.reason, _UNKEYED)
    except Invalid as wrong:
        return await _page(
            db, renderer, request, caller, payment_id, 422, errors=errors_of(wrong), reason=reason
        )
    except Conflict as refusal:
        said = await _plainly(db, payment_id, refusal, "rejected")
        return await _page(
            db, renderer, request, caller, payment_id, 409, errors={"": said}, reason=reason
        )
    return renderer.to(caller, "/approvals", "Rejected. Whoever asked can see why.")


async def _page(
    db: Database,
    renderer: Renderer,
    request: Request,
    caller: Caller,
    payment_id: UUID,
    status: int = 200,
    *,
    errors: Mapping[str, str] | None = None,
    reason: str = "",
) -> Response:
    found = await sql.find_payment(db, payment_id)
    if found is None:
        raise ResourceNotFound(ids.PAYMENT)
    (asked,) = await _asked(db, caller, [found])
    order = asked.order
    history = await sql.list_payments_of(db, order.account_id, order.id, below=None, limit=20)
    return renderer.page(
        "approval.html",
        request,
        caller,
        status=status,
        one=asked,
        order=OrderOut.of(order),
        others=[other for other in history if other.id != payment_id],
        is_own=asked.request.requested_by.id == caller.account_id,
        waits=asked.request.status is RequestStatus.PENDING_APPROVAL,
        seen_cny=money.show(asked.request.amount_fen),
        errors=errors or {},
        reason=reason,
    )


async def _asked(
    db: Database, caller: Caller, pairs: Sequence[tuple[PaymentRequest, Order]]
) -> Sequence[Asked]:
    orders = [order.id for _, order in pairs]
    accounts = await sql_desk.names(db, [order.account_id for _, order in pairs])
    earlier = await sql_desk.earlier_requests(db, orders, [request.id for request, _ in pairs])
    # What came after a decision is no news to who decides.
    waiting = [pair for pair in pairs if pair[0].status is RequestStatus.PENDING_APPROVAL]
    since = await sql_desk.changes_since(
        db, [order.id for _, order in waiting], [request.requested_at for request, _ in waiting]
    )
    conflicts = await four_eyes.conflicts(
        db, caller.account_id, [request.requested_by.id for request, _ in waiting]
    )
    changed = {
        order_id: told(rows)
        for order_id, rows in groupby(since, lambda row: row["purchase_order_id"])
    }
    return [
        Asked(
            request,
            order,
            accounts.get(order.account_id),
            changed.get(order.id, ()),
            earlier.get(order.id),
            _detail(conflicts.get(request.requested_by.id)),
        )
        for request, order in pairs
    ]


def _detail(conflict: Conflict | None) -> str | None:
    return None if conflict is None else conflict.detail


async def _plainly(db: Database, payment_id: UUID, refusal: Conflict, done: str) -> str:
    """Why nothing was decided, in the words of somebody who looks at amounts."""
    found = await sql.find_payment(db, payment_id)
    if isinstance(refusal, AmountChanged) or found is None:
        return f"{refusal.detail} Nothing was {done}: look at it again."
    request, order = found
    if request.status is RequestStatus.SUPERSEDED and request.reason == "amount_changed":
        return (
            f"The amount has changed: the order costs {fen(order.total_fen)} now, and "
            f"{fen(request.amount_fen)} was asked for. Nothing was {done}; it must be asked anew."
        )
    if request.status is not RequestStatus.PENDING_APPROVAL:
        return f"This request is {word(request.status)} by now. Nothing was {done}."
    return f"{refusal.detail} Nothing was {done}."


def _pair(pair: tuple[PaymentRequest, Order]) -> tuple[PaymentRequest, Order]:
    return pair
