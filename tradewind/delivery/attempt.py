"""One attempt: what exactly is sent, signed at the send, and what became of it."""

from collections.abc import Callable, Sequence
from datetime import datetime
from time import perf_counter, time
from typing import Protocol
from uuid import UUID

import msgspec

from tradewind import ids
from tradewind.delivery.model import Claim, Destination, Ended, Outcome
from tradewind.egress.result import Result
from tradewind.webhooks.signing import sign

SECONDS = 10.0
# What `egress.sender.Sender` sends as User-Agent.
AGENT = "service-api-webhooks/1.0"


def headers(event: str, delivery_id: UUID, sent_at: int, signature: str) -> list[str]:
    """The headers of a delivery, beside those that the sender always sends."""
    return [
        "Content-Type: application/json",
        f"X-Service-Event: {event}",
        f"X-Service-Delivery: {ids.DELIVERY.show(delivery_id)}",
        f"X-Service-Timestamp: {sent_at}",
        f"X-Service-Signature: {signature}",
    ]


class Network(Protocol):
    """What carries deliveries: `egress.sender.Sender`, or a simulated one."""

    def begin(
        self,
        url: str,
        body: bytes,
        headers: Sequence[str],
        done: Callable[[Result], None],
        *,
        seconds: float,
        fresh: bool,
    ) -> object: ...


class Attempt(msgspec.Struct):
    """A delivery on its way. It is signed at the send: a retry has a time and secret of its own.

    `done` is called once with what became of it.
    """

    claim: Claim
    destination: Destination
    clock: "Clock"
    done: Callable[["Attempt", Ended], None]
    began: float
    sent_at: int = 0
    signature: str = ""

    def send(self, network: Network) -> None:
        """Begin to send; `done` may be called before this returns."""
        claim, destination = self.claim, self.destination
        body = claim.body or b""
        self.sent_at = int(time())
        self.signature = sign(destination.secret, self.sent_at, body)
        network.begin(
            destination.url,
            body,
            headers(claim.event, claim.delivery_id, self.sent_at, self.signature),
            self._over,
            seconds=SECONDS,
            # A retry must not fail because an endpoint happens to close a kept connection.
            fresh=claim.attempt > 1,
        )

    def _over(self, result: Result) -> None:
        began, clock = self.began, self.clock
        ended = Ended(
            self.claim,
            Outcome.of(result.outcome),
            clock.at(began),
            round((clock.moment() - began) * 1000),
            result.status,
            result.problem,
            result.head,
            result.body,
            self.destination.url,
            self.sent_at,
            self.signature,
        )
        self.done(self, ended)


class Clock:
    """The database's time, told by this process's own clock from one look at it on."""

    def __init__(self, now: datetime, moment: Callable[[], float] = perf_counter) -> None:
        self.moment = moment
        self._ahead = now.timestamp() - moment()

    def at(self, moment: float) -> float:
        """What time it was in the database at a moment of our clock, in Unix seconds."""
        return self._ahead + moment
