"""One attempt: what exactly is sent, signed at the send, and what became of it."""

from datetime import datetime, timedelta
from time import perf_counter, time
from uuid import UUID

from tradewind import ids
from tradewind.delivery.model import Claim, Destination, Ended, Outcome
from tradewind.egress.sender import Sender
from tradewind.webhooks.signing import sign

SECONDS = 10.0


def headers(event: str, delivery_id: UUID, sent_at: int, signature: str) -> list[str]:
    """The headers of a delivery, beside those that the sender always sends."""
    return [
        "Content-Type: application/json",
        f"X-Service-Event: {event}",
        f"X-Service-Delivery: {ids.DELIVERY.show(delivery_id)}",
        f"X-Service-Timestamp: {sent_at}",
        f"X-Service-Signature: {signature}",
    ]


async def send(sender: Sender, claim: Claim, destination: Destination, clock: "Clock") -> Ended:
    """Send a delivery. It is signed now, so that a retry carries the time and secret of its own."""
    body = claim.body or b""
    began = perf_counter()
    sent_at = int(time())
    signature = sign(destination.secret, sent_at, body)
    result = await sender.post(
        destination.url,
        body,
        headers(claim.event, claim.delivery_id, sent_at, signature),
        seconds=SECONDS,
    )
    return Ended(
        claim,
        Outcome.of(result.outcome),
        clock.at(began),
        round((perf_counter() - began) * 1000),
        result.status,
        result.problem,
        result.head,
        result.body,
        destination.url,
        sent_at,
        signature,
    )


class Clock:
    """The database's time, told by this process's own clock from one look at it on."""

    def __init__(self, now: datetime) -> None:
        self._now = now
        self._since = perf_counter()

    def at(self, moment: float) -> datetime:
        """What time it was in the database at a moment of `perf_counter`."""
        return self._now + timedelta(seconds=moment - self._since)
