"""What people do with an order, in a browser: each button is a command of the API."""

from collections.abc import Awaitable

from tradewind import ids, money
from tradewind.audit.model import Actor
from tradewind.auth.model import Buyer
from tradewind.background.background_tasks import BackgroundTasks
from tradewind.dashboard.orders import order_view
from tradewind.dashboard.orders.routes import RefundForm, Wrong, order_page
from tradewind.dashboard.orders.views import plainly
from tradewind.dashboard.shell.forms import amount_fen, errors_of, required_amount_fen
from tradewind.dashboard.shell.page_limits import spend_request
from tradewind.dashboard.shell.render import Renderer
from tradewind.dashboard.shell.submit_token import OnceForm, once_of
from tradewind.egress.client import Client
from tradewind.errors import Conflict, Invalid, ServiceUnavailable, UpstreamFailed, ValidationFailed
from tradewind.orders.cancel import cancel
from tradewind.orders.inputs import AdvanceIn
from tradewind.orders.model import Order, OrderStatus
from tradewind.orders.payments.errors import RefundTooLarge
from tradewind.orders.payments.modes import PayModes
from tradewind.orders.payments.refund import request_refund
from tradewind.orders.payments.request import request_payment, withdraw_payment
from tradewind.orders.payments.wire import RefundIn
from tradewind.orders.person import Person
from tradewind.orders.refresh import Refreshes
from tradewind.orders.simulate import simulate
from tradewind.platforms.registry import Platforms
from tradewind.storage.pool import Database
from tradewind.web.caller import Caller
from tradewind.web.endpoint import Routes
from tradewind.web.idempotency import IdempotencyKeyReused, RepeatedRequest, StoredResponse
from tradewind.web.inputs import read_values
from tradewind.web.request import Request
from tradewind.web.response import Response
from tradewind.web.site import Form

routes = Routes("/orders", tag="Dashboard", hidden=True, pages=True)

_DONE, _WAITING = 200, 202
_TOLD = (Conflict, UpstreamFailed, ServiceUnavailable, IdempotencyKeyReused)


class PaymentForm(OnceForm):
    """The amount that the buyer looked at."""

    amount_cny: str = ""


class AdvanceForm(Form):
    """Where to move an order on a simulated marketplace."""

    to: str = ""
    total_cny: str = ""


@routes.post("/{order_id}/refresh", media_type="text/html")
async def refresh_order(
    order_id: ids.OrderId,
    caller: Buyer,
    body: Form,
    db: Database,
    refreshes: Refreshes,
    renderer: Renderer,
) -> Response:
    """Ask the marketplace, as a GET of the API does."""
    await spend_request(db, caller)
    order, stale = await refreshes.fresh(caller.account_id, order_id)
    if stale:
        said = "The marketplace could not be asked in time: below is what was last heard."
        return renderer.to(caller, f"/orders/{order.reference}", said, tone="waiting")
    said = "The marketplace was asked: this is how it stands."
    return renderer.to(caller, f"/orders/{order.reference}", said)


@routes.post("/{order_id}/cancel", media_type="text/html")
async def cancel_order(
    request: Request,
    order_id: ids.OrderId,
    caller: Buyer,
    body: OnceForm,
    db: Database,
    platforms: Platforms,
    errands: BackgroundTasks,
    renderer: Renderer,
) -> Response:
    """Cancel it; the marketplace may have yet to say."""
    stored = StoredResponse(once_of(caller, request, body), _shown)
    act = cancel(db, platforms, errands, Person.of(caller), order_id, stored)
    return await _done(
        renderer,
        caller,
        order_id,
        act,
        "The order is cancelled.",
        later="The marketplace was asked to cancel, and has yet to say.",
    )


@routes.post("/{order_id}/payment", media_type="text/html")
async def ask_to_pay(
    request: Request,
    order_id: ids.OrderId,
    caller: Buyer,
    body: PaymentForm,
    db: Database,
    modes: PayModes,
    renderer: Renderer,
) -> Response:
    """Ask for the amount that was shown to be paid."""
    seen = required_amount_fen("amount_cny", body.amount_cny)
    stored = StoredResponse(once_of(caller, request, body), _shown)
    actor = Actor.of(caller, request)
    act = request_payment(db, actor, Person.of(caller), order_id, modes, seen, stored)
    said = "The payment was requested: somebody else has to approve it."
    return await _done(renderer, caller, order_id, act, said)


@routes.post("/{order_id}/payment/withdraw", media_type="text/html")
async def withdraw(
    request: Request,
    order_id: ids.OrderId,
    caller: Buyer,
    body: OnceForm,
    db: Database,
    renderer: Renderer,
) -> Response:
    """Take the request back that nobody has decided about."""
    stored = StoredResponse(once_of(caller, request, body), _shown)
    actor = Actor.of(caller, request)
    act = withdraw_payment(db, actor, Person.of(caller), order_id, stored)
    return await _done(renderer, caller, order_id, act, "The payment request was withdrawn.")


@routes.post("/{order_id}/refunds", media_type="text/html")
async def ask_back(
    request: Request,
    order_id: ids.OrderId,
    caller: Buyer,
    body: RefundForm,
    db: Database,
    platforms: Platforms,
    errands: BackgroundTasks,
    renderer: Renderer,
) -> Response:
    """Ask the seller for money back, once for each page that was looked at."""
    stored = StoredResponse(once_of(caller, request, body), _shown)
    actor, by = Actor.of(caller, request), Person.of(caller)
    try:
        asked = _refund(body).refund()
        act = request_refund(db, platforms, errands, actor, by, order_id, asked, stored)
        return await _done(
            renderer, caller, order_id, act, "The refund was asked for; the seller has to agree."
        )
    except Invalid as refusal:
        too_large = isinstance(refusal, RefundTooLarge)
        errors = {"amount_cny": refusal.detail} if too_large else errors_of(refusal)
        order = await order_view.find(db, caller.account_id, order_id)
        wrong = Wrong(body, errors, "refund")
        return await order_page(request, caller, order, db, platforms, renderer, wrong=wrong)


@routes.post("/{order_id}/advance", media_type="text/html")
async def advance(
    request: Request,
    order_id: ids.OrderId,
    caller: Buyer,
    body: AdvanceForm,
    db: Database,
    platforms: Platforms,
    client: Client,
    refreshes: Refreshes,
    renderer: Renderer,
) -> Response:
    """Let something happen on a simulated marketplace; what follows is real."""
    try:
        total = _amount("total_cny", body.total_cny)
        wanted = read_values(AdvanceIn, to=body.to, total_cny=total)
        by, fen = Person.of(caller), wanted.total_fen
        act = simulate(db, platforms, client, refreshes, by, order_id, wanted.to, fen)
        said = "It happened on the simulated marketplace, and was heard of here."
        return await _done(renderer, caller, order_id, act, said)
    except Invalid as refusal:
        order = await order_view.find(db, caller.account_id, order_id)
        wrong = Wrong(errors=errors_of(refusal), action="advance")
        return await order_page(request, caller, order, db, platforms, renderer, wrong=wrong)


def _refund(body: RefundForm) -> RefundIn:
    """The form as the API takes it; what is wrong with it is said to people, not to programs."""
    if not body.reason.strip():
        raise ValidationFailed("/reason", "Say why, in a few words.")
    return read_values(
        RefundIn,
        type=body.type,
        reason=body.reason.strip(),
        amount_cny=_amount("amount_cny", body.amount_cny),
        freight_cny=_amount("freight_cny", body.freight_cny),
        note=body.note.strip() or None,
        order_id=body.order_id or None,
    )


def _amount(name: str, text: str) -> float | None:
    """An amount of a form as the API takes it; None where it was left out."""
    return money.show_or_none(amount_fen(name, text))


def _shown(result: object) -> Response:
    """What is stored of a command: whether it is done, or the marketplace has yet to say."""
    waits = isinstance(result, Order) and result.status is not OrderStatus.CANCELLED
    return Response(None, _WAITING if waits else _DONE)


async def _done(
    renderer: Renderer,
    caller: Caller,
    order_id: ids.OrderId,
    act: Awaitable[object],
    said: str,
    *,
    later: str = "",
) -> Response:
    """Back to the order, with what came of it. What was asked for before is told as it was then."""
    where = f"/orders/{ids.ORDER.show(order_id)}"
    try:
        answer = _shown(await act)
    except RepeatedRequest as replay:
        answer = replay.response
    except _TOLD as refusal:
        return renderer.to(caller, where, plainly(refusal), tone="bad")
    if later and answer.status != _DONE:
        return renderer.to(caller, where, later, tone="waiting")
    return renderer.to(caller, where, said)
