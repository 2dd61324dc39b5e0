"""A test delivery, in a browser: sent at once, with its steps told once and the rest kept."""

from collections.abc import Sequence

import msgspec

from tradewind import ids
from tradewind.auth.model import Buyer
from tradewind.dashboard.shell import flash
from tradewind.dashboard.shell.flash import Shown
from tradewind.dashboard.shell.render import Renderer
from tradewind.dashboard.shell.session import Sessions
from tradewind.dashboard.webhooks import request_code
from tradewind.dashboard.webhooks.advice import advice_about
from tradewind.dashboard.webhooks.routes import address, state
from tradewind.delivery import log
from tradewind.delivery.errors import TestDeliveriesLimited
from tradewind.delivery.test_delivery import send_test
from tradewind.delivery.wire import DeliveryDetailOut, StepOut, TestOut
from tradewind.egress.sender import Sender
from tradewind.errors import ResourceNotFound
from tradewind.events.catalogue import EventKind
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database
from tradewind.web.endpoint import Routes
from tradewind.web.inputs import Input
from tradewind.web.request import Request
from tradewind.web.response import Response
from tradewind.web.site import Form
from tradewind.webhooks.errors import SigningSecretUnreadable
from tradewind.webhooks.subscribe import get_subscription

routes = Routes("/webhooks", tag="Dashboard", hidden=True, pages=True)


class TestForm(Form):
    """Which event to pretend."""

    event: EventKind | None = None


class TriedQuery(Input):
    """Which test to show, after it was made."""

    delivery: str | None = None


@routes.get("/{subscription_id}/test", media_type="text/html")
async def show_test(
    request: Request,
    subscription_id: ids.SubscriptionId,
    caller: Buyer,
    query: TriedQuery,
    db: Database,
    keyring: Keyring,
    cookies: Sessions,
    renderer: Renderer,
) -> Response:
    """The form for a test, and how the one went that was just made."""
    webhook = await get_subscription(db, caller.account_id, subscription_id)
    tried: DeliveryDetailOut | None = None
    if query.delivery is not None:
        delivery_id = ids.DELIVERY.read(query.delivery)
        if delivery_id is None:
            raise ResourceNotFound(ids.DELIVERY)
        tried = DeliveryDetailOut.of_detail(
            await log.get_attempt(db, caller.account_id, subscription_id, delivery_id)
        )
    return renderer.page(
        "webhook_test.html",
        request,
        caller,
        webhook=webhook,
        state=state(webhook),
        tried=tried,
        advice="" if tried is None else advice_about(tried),
        body_pretty=tried and request_code.pretty(tried.request.body),
        steps=_told_steps(cookies.sent(request, flash.COOKIE), caller, keyring, query.delivery),
    )


@routes.post("/{subscription_id}/test", media_type="text/html")
async def make_test(
    subscription_id: ids.SubscriptionId,
    caller: Buyer,
    body: TestForm,
    db: Database,
    keyring: Keyring,
    sender: Sender,
    renderer: Renderer,
) -> Response:
    """Send a test. Its steps are not in the log: the page that follows is told them, once."""
    where = f"{address(subscription_id)}/test"
    try:
        made = TestOut.of(
            await send_test(db, keyring, sender, caller.account_id, subscription_id, body.event)
        )
    except (TestDeliveriesLimited, SigningSecretUnreadable) as refusal:
        return renderer.to(caller, where, refusal.detail, tone="bad")
    steps = msgspec.json.encode(made.steps).decode()
    return renderer.to(
        caller,
        f"{where}?delivery={made.delivery_id}",
        secret=Shown("test_steps", steps, subject=made.delivery_id),
    )


def _told_steps(
    value: str | None, caller: Buyer, keyring: Keyring, delivery: str | None
) -> Sequence[StepOut]:
    """The steps of the test that was just made, from the form to this page; else none."""
    if not value or caller.session_id is None:
        return []
    told = flash.read(keyring, caller.session_id, value)
    if told is None or told.secret is None or told.secret.kind != "test_steps":
        return []
    if told.secret.subject != delivery:
        return []
    return msgspec.json.decode(told.secret.value, type=list[StepOut])
