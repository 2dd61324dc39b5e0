"""One attempt: the headers and the signature of a POST, made right before it is sent."""

from collections.abc import Callable, Sequence
from functools import partial
from time import time
from typing import Protocol
from uuid import UUID

from tradewind import ids
from tradewind.delivery.model import ClaimedDelivery
from tradewind.egress.result import AttemptResult
from tradewind.webhooks import headers as names
from tradewind.webhooks.signing import sign

SECONDS = 10.0


def headers(event: str, delivery_id: UUID, sent_at: int, signature: str) -> list[str]:
    """The headers of a delivery, beside those that the sender always sends."""
    return [
        "Content-Type: application/json",
        f"{names.EVENT}: {event}",
        f"{names.DELIVERY}: {ids.DELIVERY.show(delivery_id)}",
        f"{names.TIMESTAMP}: {sent_at}",
        f"{names.SIGNATURE}: {signature}",
    ]


class Network(Protocol):
    """What sends deliveries: `egress.sender.Sender`, or a simulated one."""

    def begin(
        self,
        url: str,
        body: bytes,
        headers: Sequence[str],
        done: Callable[[AttemptResult], None],
        *,
        seconds: float,
        fresh: bool,
    ) -> object: ...


def send(
    network: Network,
    delivery: ClaimedDelivery,
    url: str,
    secret: str,
    done: Callable[[ClaimedDelivery, AttemptResult], None],
) -> None:
    """Begin the attempt; `done` is called once with its result, perhaps before this returns.

    It is signed now: a retry has a timestamp and a secret of its own.
    """
    body = delivery.body or b""
    sent_at = int(time())
    delivery.url, delivery.sent_at = url, sent_at
    delivery.signature = sign(secret, sent_at, body)
    network.begin(
        url,
        body,
        headers(delivery.event, delivery.delivery_id, sent_at, delivery.signature),
        partial(done, delivery),
        seconds=SECONDS,
        # A retry must not fail because an endpoint happens to close a kept connection.
        fresh=delivery.attempt > 1,
    )
