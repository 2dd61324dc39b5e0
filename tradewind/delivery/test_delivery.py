"""Sends a test delivery at once, and tells step by step how far it came."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from time import time
from uuid import UUID

import msgspec

from tradewind import clock, ids
from tradewind.delivery import sql_log
from tradewind.delivery.attempt import SECONDS, MoreHeaders, headers
from tradewind.delivery.errors import TestDeliveriesLimited
from tradewind.egress.result import AttemptResult, Outcome
from tradewind.egress.sender import Sender
from tradewind.events.catalogue import (
    ORDER_UPDATED,
    PAYMENT_UPDATED,
    EventData,
    EventKind,
    OrderNews,
)
from tradewind.observability.logs import log
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database
from tradewind.storage.sealing import CannotUnseal
from tradewind.web import limits
from tradewind.web.inputs import Output
from tradewind.web.limits import Rate
from tradewind.webhooks import sql as webhooks
from tradewind.webhooks.errors import SigningSecretUnreadable
from tradewind.webhooks.model import Subscription
from tradewind.webhooks.secret import unsealed, unsealed_headers
from tradewind.webhooks.signing import sign
from tradewind.webhooks.subscribe import get_subscription

_TESTS = Rate(10, 10)


@dataclass(frozen=True, slots=True)
class Step:
    """A step on the way to the endpoint: whether it succeeded, and when it ended."""

    name: str
    ok: bool | None
    took_ms: int | None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Trial:
    """A test delivery that was made. In `headers`, the subscription's own values are masked."""

    delivery_id: UUID
    event: str
    url: str
    body: bytes
    headers: Sequence[str]
    result: AttemptResult
    steps: Sequence[Step]


class _TestBody(Output):
    """The body of a test: the contract's shape, about nothing that exists."""

    id: str
    event: str
    created_at: str
    data: EventData


async def send_test(
    db: Database,
    keyring: Keyring,
    sender: Sender,
    account_id: UUID,
    subscription_id: UUID,
    event: EventKind | None,
) -> Trial:
    """Make one attempt, also to a subscription that is switched off; logged, and counted nowhere.

    Without an `event` it sends one that the subscription lists. TestDeliveriesLimited if the
    subscription had too many tests; SigningSecretUnreadable if it cannot be signed.
    """
    subscription = await get_subscription(db, account_id, subscription_id)
    granted, budget = await limits.take(db, f"webhook test:{subscription.id}", _TESTS)
    if not granted:
        raise TestDeliveriesLimited(budget)
    first = PAYMENT_UPDATED if subscription.events[0] == PAYMENT_UPDATED else ORDER_UPDATED
    return await _send(db, keyring, sender, subscription, event or first)


async def _send(
    db: Database, keyring: Keyring, sender: Sender, subscription: Subscription, event: EventKind
) -> Trial:
    secret, more = await _open_secrets(db, keyring, subscription)
    event_id, delivery_id = ids.new(), await sql_log.new_delivery_id(db)
    body = body_of(event_id, event)
    sent_at = int(time())
    signature = sign(secret, sent_at, body)
    more_lines: Sequence[str] = ()
    shown = None
    if more is not None:
        more_lines, masked_lines = more.lines(ids.TEST_EVENT.show(event_id), sent_at, body)
        shown = "\n".join(masked_lines)
    result = await sender.post(
        subscription.url,
        body,
        [*headers(event, delivery_id, sent_at, signature), *more_lines],
        seconds=SECONDS,
        diagnosis=True,
    )
    problem = result.problem
    await sql_log.insert_test(
        db,
        [
            delivery_id,
            subscription.account_id,
            subscription.id,
            event_id,
            event,
            result.outcome,
            result.status,
            problem and problem.code,
            problem and problem.message,
            round(result.timings.total * 1000),
            subscription.url,
            sent_at,
            signature,
            shown,
            result.head,
            result.body,
        ],
    )
    url = subscription.url
    lines = headers(event, delivery_id, sent_at, signature, shown)
    return Trial(delivery_id, event, url, body, lines, result, steps(result, url))


async def _open_secrets(
    db: Database, keyring: Keyring, subscription: Subscription
) -> tuple[str, MoreHeaders | None]:
    """The signing secret and its own headers; SigningSecretUnreadable if one cannot be opened."""
    sealed_secret, sealed_headers = await webhooks.find_sealed(db, subscription.id)
    location = (keyring, subscription.account_id, subscription.id)
    try:
        secret = unsealed(*location, sealed_secret or b"")
        own_headers = unsealed_headers(*location, sealed_headers)
        return secret, MoreHeaders.of(own_headers, secret, standard=subscription.standard_webhooks)
    except CannotUnseal as error:
        shown = ids.SUBSCRIPTION.show(subscription.id)
        log.error("webhook.secret_unreadable", subscription=shown, error=str(error))
        raise SigningSecretUnreadable from None


def body_of(event_id: UUID, event: EventKind) -> bytes:
    """The body of a test. It is rebuilt from the id and the event type, so it is not stored."""
    now = clock.show(datetime.fromtimestamp((event_id.int >> 80) / 1000, UTC))
    news = OrderNews(
        id=ids.TEST_ORDER.show(event_id),
        platform="sandbox",
        order_id="1688000000000000001",
        status="paid",
        payment_status="paid",
        platform_payment_status="paid",
        total_amount_cny=128.5,
        updated_at=now,
    )
    return msgspec.json.encode(
        _TestBody(
            id=ids.TEST_EVENT.show(event_id),
            event=event,
            created_at=now,
            data=EventData(order=news),
        )
    )


# How far an attempt came that ended so: the step that failed.
_FAILED_AT = {
    Outcome.DNS_ERROR: "dns",
    Outcome.BLOCKED_ADDRESS: "dns",
    Outcome.CONNECT_FAILED: "connect",
    Outcome.TLS_ERROR: "tls",
    Outcome.CONNECTION_CLOSED: "http",
    Outcome.INVALID_RESPONSE: "http",
    Outcome.HTTP_ERROR: "http",
}


def steps(result: AttemptResult, url: str) -> Sequence[Step]:
    """The way to the endpoint, step by step; what was not reached has no verdict."""
    timings = result.timings
    reached = {
        "dns": timings.dns,
        "connect": timings.connect,
        "tls": timings.tls,
        "http": timings.first_byte,
    }
    names = [name for name in reached if name != "tls" or url.startswith("https:")]
    failed = _FAILED_AT.get(result.outcome)
    if result.outcome is Outcome.TIMEOUT:
        failed = next((name for name in names if reached[name] is None), "http")
    steps_taken = []
    past = False
    for name in names:
        ok = None if past else name != failed
        past = past or name == failed
        seconds = reached[name]
        steps_taken.append(
            Step(
                name,
                ok,
                None if seconds is None else round(seconds * 1000),
                _note(name, result, failed=name == failed),
            )
        )
    return steps_taken


def _note(name: str, result: AttemptResult, *, failed: bool) -> str | None:
    if failed and result.problem is not None:
        return result.problem.message
    if name == "tls" and result.certificate_ends is not None:
        days = (result.certificate_ends - datetime.now(UTC)).days
        return f"The certificate ends in {days} days."
    if name == "http" and result.status is not None:
        return f"The endpoint answered {result.status}."
    return None
