"""Whether a claimed delivery is still to be sent, and when it is tried again. Pure."""

from datetime import timedelta

from tradewind.delivery.model import Cancelled, Claim, Destination

# After the first failed attempt, and after the second.
DELAYS = (timedelta(seconds=60), timedelta(seconds=300))


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


def delay_after(attempt: int) -> timedelta:
    """How long after the end of a failed attempt the next one is due."""
    return DELAYS[attempt - 1]
