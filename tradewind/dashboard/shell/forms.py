"""Forms: amounts and times as people type them, errors by field, and submit tokens. Pure."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal

from tradewind.errors import ApiError, ValidationFailed
from tradewind.orders.model import Order
from tradewind.web import idempotency
from tradewind.web.caller import Caller
from tradewind.web.idempotency import IdempotencyKey
from tradewind.web.inputs import Input, check_moment
from tradewind.web.request import Request
from tradewind.web.site import Form

_AMOUNT = re.compile(r"[0-9]{1,10}(\.[0-9]{1,2})?")


def errors_of(error: ApiError) -> Mapping[str, str]:
    """The messages by the name of their field; under "" what belongs to no field.

    A pointer into a list, `/events/0`, is about the field that holds the list.
    """
    messages: dict[str, str] = {}
    for field_error in error.facts.get("errors", ()):
        name = str(field_error["pointer"]).strip("/?").partition("/")[0]
        messages.setdefault(name, str(field_error["message"]))
    return messages or {"": error.detail}


def required_text(name: str, text: str, message: str) -> str:
    """A text without the spaces around it; `message` is the error if it is empty."""
    text = text.strip()
    if not text:
        raise ValidationFailed(f"/{name}", message, "missing")
    return text


def amount_fen(name: str, text: str) -> int | None:
    """An amount in CNY as people type it, in fen; None if the field is empty."""
    text = text.strip()
    if not text:
        return None
    if not _AMOUNT.fullmatch(text):
        raise ValidationFailed(f"/{name}", "Enter an amount in CNY, such as 12.50.")
    return int(Decimal(text) * 100)


def required_amount_fen(name: str, text: str) -> int:
    """The amount that the page showed. A form without an amount changes nothing."""
    fen = amount_fen(name, text)
    if fen is None:
        raise ValidationFailed(
            f"/{name}", "The amount is missing. Open the page again and submit it from there."
        )
    return fen


def read_time(name: str, text: str) -> datetime | None:
    """A time as people type it, UTC if it has no zone; None if the field is empty."""
    text = text.strip()
    if not text:
        return None
    try:
        typed = datetime.fromisoformat(text)
    except ValueError:
        message = "Enter a time such as 2026-11-15 01:02:03."
        raise ValidationFailed(f"/{name}", message) from None
    moment = typed if typed.tzinfo else typed.replace(tzinfo=UTC)
    check_moment(f"/{name}", moment)
    return moment


def time_input(text: str) -> tuple[str, str]:
    """The value and type of a time field: text that is not a time stays as it was typed."""
    try:
        moment = read_time("", text)
    except ValidationFailed:
        return text, "text"
    return (show_time(moment)[:-1] if moment else ""), "datetime-local"


def show_time(moment: datetime) -> str:
    """A time to the second, as a URL carries it."""
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%S}Z"


class CursorQuery(Input):
    """The position in the list of a page that has other parts as well."""

    cursor: str | None = None


class ReasonForm(Form):
    """The reason for a decision."""

    reason: str = ""


class SubmitForm(Form):
    """A form with a submit token, so that submitting it twice has one effect."""

    submit_token: str = ""


def submit_token(order: Order) -> str:
    """The token of a page that shows this version of an order.

    A change raises the version, so two pages that show the same version, or two clicks on one
    button, request the same thing once.
    """
    return f"page-{order.reference}-{order.version}"


def idempotency_key_of(caller: Caller, request: Request, form: SubmitForm) -> IdempotencyKey:
    """The idempotency key of a form; a malformed submit token is an error."""
    key = idempotency.read_key(form.submit_token, required=True) or ""
    steps = request.path.split("/")
    route = f"page {'/'.join(steps[3:])}"
    return IdempotencyKey(
        caller.account_id, route, key, idempotency.fingerprint(request.path, form)
    )
