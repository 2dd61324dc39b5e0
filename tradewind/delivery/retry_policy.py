"""When a failed delivery is tried again, how long the log is kept, and what is not sent. Pure."""

from dataclasses import dataclass
from datetime import timedelta

from tradewind.delivery.model import Cancelled, Claim, Destination

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


def reason_not_to_send(claim: Claim, destination: Destination | None) -> Cancelled | None:
    """Why a delivery ends here; None: it is sent.

    The subscription counts as it is at the send. One that was switched off has a newer
    generation, even if it was switched on again: what was queued before is not wanted any more.
    """
    if destination is None:
        return Cancelled.DELETED
    if not destination.is_active or destination.generation != claim.generation:
        return Cancelled.SWITCHED_OFF
    if claim.body is None:
        return Cancelled.EXPIRED
    if claim.event not in destination.events:
        return Cancelled.NOT_WANTED
    return None
