"""One attempt: the headers and the signature of a POST, made right before it is sent."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from time import time
from typing import Protocol
from uuid import UUID

import msgspec

from tradewind import ids
from tradewind.delivery.model import ClaimedDelivery
from tradewind.egress.result import AttemptResult
from tradewind.webhooks import headers as names
from tradewind.webhooks.secret import standard_key
from tradewind.webhooks.signing import sign, sign_standard

SECONDS = 10.0


def headers(
    event: str, delivery_id: UUID, sent_at: int, signature: str, more: str | None = None
) -> list[str]:
    """The headers of a delivery, beside those that the sender always sends.

    `more` are those that only its subscription has, as the log has them.
    """
    lines = [
        "Content-Type: application/json",
        f"{names.EVENT}: {event}",
        f"{names.DELIVERY}: {ids.DELIVERY.show(delivery_id)}",
        f"{names.TIMESTAMP}: {sent_at}",
        f"{names.SIGNATURE}: {signature}",
    ]
    return lines if more is None else lines + more.split("\n")


class MoreHeaders(msgspec.Struct, frozen=True):
    """The headers that a subscription has besides those of every delivery.

    Its own ones, as they are sent and as the log shows them, and the key of Standard Webhooks if it
    has their headers.
    """

    own_lines: Sequence[str]
    masked_lines: Sequence[str]
    standard_key: bytes | None

    @staticmethod
    def of(own_headers: Mapping[str, str], secret: str, *, standard: bool) -> "MoreHeaders | None":
        """None where there are none: most subscriptions have none, and pay nothing for them."""
        if not own_headers and not standard:
            return None
        return MoreHeaders(
            [f"{name}: {value}" for name, value in own_headers.items()],
            [f"{name}: {names.MASK}" for name in own_headers],
            standard_key(secret) if standard else None,
        )

    def lines(self, event_id: str, sent_at: int, body: bytes) -> tuple[list[str], list[str]]:
        """The lines as they are sent, and as the log shows them."""
        standard = []
        if self.standard_key is not None:
            signature = sign_standard(self.standard_key, event_id, sent_at, body)
            standard = [
                f"{names.STANDARD_ID}: {event_id}",
                f"{names.STANDARD_TIMESTAMP}: {sent_at}",
                f"{names.STANDARD_SIGNATURE}: {signature}",
            ]
        return [*standard, *self.own_lines], [*standard, *self.masked_lines]


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
    more: MoreHeaders | None = None,
) -> None:
    """Begin the attempt; `done` is called once with its result, perhaps before this returns.

    It is signed now: a retry has a timestamp and a secret of its own.
    """
    body = delivery.body or b""
    sent_at = int(time())
    delivery.url, delivery.sent_at = url, sent_at
    delivery.signature = sign(secret, sent_at, body)
    lines = headers(delivery.event, delivery.delivery_id, sent_at, delivery.signature)
    if more is not None:
        sent, shown = more.lines(ids.EVENT.show(delivery.event_id), sent_at, body)
        lines += sent
        delivery.more_headers = "\n".join(shown)
    network.begin(
        url,
        body,
        lines,
        partial(done, delivery),
        seconds=SECONDS,
        # A retry must not fail because an endpoint happens to close a kept connection.
        fresh=delivery.attempt > 1,
    )
