"""What a page asks for happens once, however often its button is pressed. Pure."""

from tradewind.orders.model import Order
from tradewind.web import idempotency
from tradewind.web.caller import Caller
from tradewind.web.idempotency import IdempotencyKey
from tradewind.web.request import Request
from tradewind.web.site import Form


class OnceForm(Form):
    """A form whose page carries a key: the page was made once, and so is what it asks for."""

    once: str = ""


def key_of(order: Order) -> str:
    """The key of a page that shows this order.

    It is that of the order's version: what is asked for changes the version, so that two pages
    which show the same order ask for the same thing once, as two presses of a button do.
    """
    return f"page-{order.reference}-{order.version}"


def once_of(caller: Caller, request: Request, form: OnceForm) -> IdempotencyKey:
    """The form as the request that it is. A key that no page of ours has is refused."""
    key = idempotency.read_key(form.once, required=True) or ""
    steps = request.path.split("/")
    route = f"page {'/'.join(steps[3:])}"
    return IdempotencyKey(
        caller.account_id, route, key, idempotency.fingerprint(request.path, form)
    )
