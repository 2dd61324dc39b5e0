"""Approvals, in a browser: pending payments by time left, several at once, a page for each."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import tzinfo
from functools import partial
from typing import Literal
from uuid import UUID

import msgspec

from tradewind import ids, money
from tradewind.audit.model import Actor
from tradewind.auth.model import Approver
from tradewind.dashboard.admin import queries as admin_queries
from tradewind.dashboard.admin.queries import AccountName
from tradewind.dashboard.approvals import queries
from tradewind.dashboard.approvals.queries import EarlierRequest
from tradewind.dashboard.orders import views as order_views
from tradewind.dashboard.orders.goods import OrderGoods
from tradewind.dashboard.orders.timeline import TimelineLine, summary
from tradewind.dashboard.shell import queries as shell_queries
from tradewind.dashboard.shell.forms import (
    ReasonForm,
    errors_of,
    required_amount_fen,
    required_text,
)
from tradewind.dashboard.shell.labels import Tone, choices, fen, label
from tradewind.dashboard.shell.render import PageResult, PageRoutes, Redirect, TemplatePage
from tradewind.dashboard.shell.zone import month_start, viewer_zone
from tradewind.errors import Conflict, Invalid, ValidationFailed, existing
from tradewind.exports.export import export_payments
from tradewind.orders.model import Order
from tradewind.orders.payments import approve as approving
from tradewind.orders.payments import four_eyes
from tradewind.orders.payments import sql as payment_sql
from tradewind.orders.payments.approve import MOST_AT_ONCE, ApprovalResult, SeenPayment
from tradewind.orders.payments.errors import AmountChanged
from tradewind.orders.payments.model import OPEN_REQUESTS, PaymentRequest, RequestStatus
from tradewind.orders.payments.sql import OrderPayment
from tradewind.orders.payments.wire import PAYMENT_QUEUE, PAYMENTS, RejectIn
from tradewind.orders.person import Person
from tradewind.platforms.registry import Platforms
from tradewind.storage.pool import Database
from tradewind.web import inputs
from tradewind.web.caller import Caller
from tradewind.web.download import csv_download
from tradewind.web.idempotency import StoredResponse
from tradewind.web.paging import PageQuery
from tradewind.web.request import Request
from tradewind.web.response import Response
from tradewind.web.site import Form

routes = PageRoutes("/approvals")

_HISTORY = 20
# A payment is urgent when the marketplace closes its order so soon.
_URGENT_SECONDS = 3 * 3600
# A message names so many payments that were not approved, and counts the others.
_ERRORS_SHOWN = 4
# An approval has no idempotency key: a repeat finds the payment decided.
_NOT_STORED: StoredResponse[OrderPayment] = StoredResponse(None, lambda _: Response())
_DECIDED = [status for status in RequestStatus if status is not RequestStatus.PENDING_APPROVAL]


class ApprovalsQuery(PageQuery):
    """Pending payments, or decided ones."""

    show: Literal["waiting", "decided"] = "waiting"
    status: RequestStatus | None = None


class ApproveForm(Form):
    """The amount that the approver saw; without it, nothing is approved."""

    amount_cny: str = ""


class SelectedPaymentsForm(Form):
    """The selected payments, each as its id and the amount that the page showed."""

    payment: list[str] = msgspec.field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ApprovalItem:
    """A payment request as an approver sees it."""

    request: PaymentRequest
    order: Order
    account: AccountName | None
    changes: Sequence[TimelineLine]
    earlier: EarlierRequest | None
    # Why this approver may not approve it, although it is not their own request.
    not_independent: str | None
    # What the account spent this month; on the overview of its buyer it is the same.
    month_fen: int

    @property
    def account_locked(self) -> bool:
        """Whether an operator locked the account: then its payments are not approved or made."""
        return self.account is not None and self.account.locked_at is not None

    @property
    def seconds_left(self) -> float | None:
        """The time until the marketplace closes the order; negative if it is overdue."""
        deadline = self.order.pay_before
        return None if deadline is None else (deadline - self.order.now).total_seconds()

    @property
    def urgency(self) -> Tone:
        """How the time left is shown: as waiting only when it is short, and as bad when over."""
        if self.seconds_left is None or self.seconds_left > _URGENT_SECONDS:
            return "plain"
        return "bad" if self.seconds_left <= 0 else "waiting"

    @property
    def selection(self) -> str:
        """The payment and the amount that the page shows, as its checkbox sends them."""
        return f"{ids.PAYMENT.show(self.request.id)}:{money.show(self.request.amount_fen)}"

    @property
    def total_changed(self) -> bool:
        """Whether the total of the order differs from the requested amount."""
        return self.order.total_fen is not None and self.order.total_fen != self.request.amount_fen


@routes.get(expensive=True)
async def show_approvals(
    request: Request, caller: Approver, query: ApprovalsQuery, db: Database, platforms: Platforms
) -> TemplatePage:
    """List pending payments, the most urgent first; or decided ones, newest first."""
    if query.show == "waiting":
        pending = partial(payment_sql.list_queue, db)
        shown = await PAYMENT_QUEUE.rows(query.cursor, query.limit, pending)
    else:
        statuses = [query.status] if query.status else _DECIDED
        decided = partial(payment_sql.list_payments, db, statuses)
        shown = await PAYMENTS.rows(query.cursor, query.limit, decided)
    goods = OrderGoods(platforms)
    return TemplatePage(
        "approvals/approvals.html",
        images=goods.origins,
        goods=goods,
        query=query,
        payments=await _items(db, caller, shown.items, viewer_zone(request)),
        options=[("", "Any"), *choices(_DECIDED)],
        next_cursor=shown.next_cursor,
    )


@routes.get("/export", expensive=True)
async def export_listed_payments(caller: Approver, query: ApprovalsQuery, db: Database) -> Response:
    """Export pending or decided payments as CSV, newest first."""
    if query.show == "waiting":
        statuses: Sequence[RequestStatus] = [RequestStatus.PENDING_APPROVAL]
    else:
        statuses = [query.status] if query.status else _DECIDED
    return csv_download(await export_payments(db, statuses, None, bom=True))


@routes.get("/{payment_id}")
async def show_approval(
    payment_id: ids.PaymentId,
    request: Request,
    caller: Approver,
    db: Database,
    platforms: Platforms,
) -> TemplatePage:
    """Show a payment request with its order."""
    pair = existing(await payment_sql.find_payment(db, payment_id), ids.PAYMENT)
    (item,) = await _items(db, caller, [pair], viewer_zone(request))
    order = item.order
    history = await payment_sql.list_payments_of(
        db, order.account_id, order.id, below=None, limit=_HISTORY
    )
    goods = OrderGoods(platforms)
    return TemplatePage(
        "approvals/approval.html",
        images=goods.origins,
        goods=goods,
        item=item,
        parcels=order_views.parcels(order),
        others=[other for other in history if other.id != payment_id],
        has_open_request=any(other.status in OPEN_REQUESTS for other in history),
        is_own=item.request.requested_by.id == caller.account_id,
        awaits=item.request.status is RequestStatus.PENDING_APPROVAL,
        amount_cny=money.show(item.request.amount_fen),
        reason="",
    )


@routes.post("/approve")
async def approve_selected(caller: Approver, body: SelectedPaymentsForm, db: Database) -> Redirect:
    """Approve each selected payment at the amount that the page showed."""
    if not body.payment:
        return Redirect("/approvals", "Select at least one payment.", tone="bad")
    if len(body.payment) > MOST_AT_ONCE:
        message = f"Select at most {MOST_AT_ONCE} payments at once. Nothing was approved."
        return Redirect("/approvals", message, tone="bad")
    try:
        selected = [_seen_payment(text) for text in body.payment]
    except ValidationFailed as error:
        message = f"{errors_of(error)['payment']} Nothing was approved."
        return Redirect("/approvals", message, tone="bad")
    actor, person = Actor.of(caller), Person.of(caller)
    results = await approving.approve_many(db, actor, person, selected, _NOT_STORED)
    failed = [result for result in results if result.error is not None]
    return Redirect("/approvals", _results_message(results), tone="bad" if failed else "good")


@routes.post("/{payment_id}/approve")
async def approve(
    payment_id: ids.PaymentId,
    request: Request,
    caller: Approver,
    body: ApproveForm,
    db: Database,
    platforms: Platforms,
) -> PageResult:
    """Approve the amount that the page showed, or show that it changed."""
    try:
        seen_fen = required_amount_fen("amount_cny", body.amount_cny)
        actor, person = Actor.of(caller), Person.of(caller)
        await approving.approve(db, actor, person, payment_id, seen_fen, _NOT_STORED)
    except (Invalid, Conflict) as error:
        if isinstance(error, Conflict):
            message = await _conflict_message(db, payment_id, error, "approved")
        else:
            message = f"{errors_of(error)['amount_cny']} Nothing was approved."
        page = await show_approval(payment_id, request, caller, db, platforms)
        return page.rejected(error, {"": message})
    return Redirect("/approvals", f"Approved {fen(seen_fen)}. The payment is being made.")


@routes.post("/{payment_id}/reject")
async def reject(
    payment_id: ids.PaymentId,
    request: Request,
    caller: Approver,
    body: ReasonForm,
    db: Database,
    platforms: Platforms,
) -> PageResult:
    """Reject a payment with a reason, which the requester can see."""
    try:
        reason = required_text("reason", body.reason, "Enter a reason. The requester sees it.")
        wanted = inputs.read_values(RejectIn, reason=reason)
        actor, person = Actor.of(caller), Person.of(caller)
        await approving.reject(db, actor, person, payment_id, wanted.reason, _NOT_STORED)
    except (Invalid, Conflict) as error:
        errors = errors_of(error)
        if isinstance(error, Conflict):
            errors = {"": await _conflict_message(db, payment_id, error, "rejected")}
        page = await show_approval(payment_id, request, caller, db, platforms)
        return page.rejected(error, errors, reason=body.reason)
    return Redirect("/approvals", "Rejected. The requester can see the reason.")


async def _items(
    db: Database, caller: Caller, pairs: Sequence[OrderPayment], zone: tzinfo
) -> Sequence[ApprovalItem]:
    orders = [order.id for _, order in pairs]
    accounts = await admin_queries.account_names(db, [order.account_id for _, order in pairs])
    earlier = await queries.earlier_requests(db, orders, [request.id for request, _ in pairs])
    # Changes after the decision do not concern the approver.
    pending = [pair for pair in pairs if pair[0].status is RequestStatus.PENDING_APPROVAL]
    changes = await queries.changes_since(
        db, [order.id for _, order in pending], [request.requested_at for request, _ in pending]
    )
    months = await _month_spend(db, [order for _, order in pairs], zone)
    conflicts = await four_eyes.conflicts(
        db, caller.account_id, [request.requested_by.id for request, _ in pending]
    )
    return [
        ApprovalItem(
            request,
            order,
            accounts.get(order.account_id),
            summary(changes.get(order.id, ())),
            earlier.get(order.id),
            conflict.detail if (conflict := conflicts.get(request.requested_by.id)) else None,
            months[order.account_id],
        )
        for request, order in pairs
    ]


async def _month_spend(db: Database, orders: Sequence[Order], zone: tzinfo) -> Counter[UUID]:
    """What the accounts of these orders spent this month, in the viewer's zone."""
    months: Counter[UUID] = Counter()
    if orders:
        accounts = list({order.account_id for order in orders})
        since = month_start(orders[0].now, zone)
        for spend in await shell_queries.sum_spend(db, accounts, [since]):
            months[spend.account_id] += spend.fen
    return months


def _seen_payment(text: str) -> SeenPayment:
    """A selected payment, as its checkbox sends it."""
    shown_id, _, amount = text.partition(":")
    payment_id = ids.PAYMENT.read(shown_id)
    if payment_id is None:
        raise ValidationFailed("/payment", "A selected payment is not one of this page.")
    return SeenPayment(payment_id, required_amount_fen("payment", amount))


def _results_message(results: Sequence[ApprovalResult]) -> str:
    """What was approved, and why the others were not."""
    amounts = [result.payment.amount_fen for result in results if result.error is None]
    errors = [
        f"{fen(result.payment.amount_fen)}: {result.error.detail}"
        for result in results
        if result.error is not None
    ]
    count = "1 payment" if len(amounts) == 1 else f"{len(amounts)} payments"
    message = f"Approved {count}, {fen(sum(amounts))} in total." if amounts else ""
    if errors:
        others = len(errors) - _ERRORS_SHOWN
        message += f" {len(errors)} not approved. {' '.join(errors[:_ERRORS_SHOWN])}"
        message += f" And {others} more." if others > 0 else ""
    return message.strip()


async def _conflict_message(db: Database, payment_id: UUID, error: Conflict, done: str) -> str:
    """Why nothing was approved or rejected."""
    pair = await payment_sql.find_payment(db, payment_id)
    if isinstance(error, AmountChanged) or pair is None:
        return f"{error.detail} Nothing was {done}."
    request, order = pair
    if request.status is RequestStatus.SUPERSEDED and request.reason == "amount_changed":
        return (
            f"The amount changed: the order now costs {fen(order.total_fen)}, "
            f"{fen(request.amount_fen)} was requested. Nothing was {done}. "
            "The payment must be requested again."
        )
    if request.status is not RequestStatus.PENDING_APPROVAL:
        return f"The request is now “{label(request.status)}”. Nothing was {done}."
    return f"{error.detail} Nothing was {done}."
