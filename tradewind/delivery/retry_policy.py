"""The retry policy: delays, number of attempts, retention of the log, reasons to cancel. Pure."""

from dataclasses import dataclass
from datetime import timedelta

from tradewind.delivery.model import Cancelled, ClaimedDelivery, Destination
from tradewind.egress.result import Outcome
from tradewind.events.catalogue import order_of
from tradewind.webhooks.model import EventFilter

# The contract's: after the first failed attempt, and after the second. Operators may lengthen them.
CONTRACT_DELAYS = (timedelta(seconds=60), timedelta(seconds=300))


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often and when a delivery is attempted, and for how long attempts stay in the log.

    `delays[n]` is the time from the end of attempt n + 1 to the next one, if it failed.
    """

    delays: tuple[timedelta, ...] = CONTRACT_DELAYS
    log_kept: timedelta = timedelta(days=30)

    @property
    def attempts(self) -> int:
        """How many attempts a delivery has at the most."""
        return len(self.delays) + 1

    def is_over(self, attempt: int, outcome: Outcome) -> bool:
        """Whether the delivery ends with this attempt."""
        return (
            outcome is Outcome.DELIVERED or outcome is Outcome.CANCELLED or attempt >= self.attempts
        )


def reason_not_to_send(
    delivery: ClaimedDelivery, destination: Destination | None
) -> Cancelled | None:
    """Why a delivery is cancelled; None: it is sent.

    The subscription counts as it is right before the attempt. One that was switched off has a newer
    generation, even if it was switched on again: what was queued before is cancelled.
    """
    if destination is None:
        return Cancelled.DELETED
    if not destination.is_active or destination.generation != delivery.generation:
        return Cancelled.SWITCHED_OFF
    if delivery.body is None:
        return Cancelled.EXPIRED
    if delivery.event not in destination.events:
        return Cancelled.NOT_WANTED
    if destination.filter is not None and _leaves_out(destination.filter, delivery.body):
        return Cancelled.FILTERED_OUT
    return None


def _leaves_out(event_filter: EventFilter, body: bytes) -> bool:
    order = order_of(body)
    return event_filter.reason_against(order.platform, order.status) is not None
