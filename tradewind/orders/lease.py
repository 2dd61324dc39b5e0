"""A lease on orders: only its holder works on them at the marketplace."""

from dataclasses import dataclass, field
from datetime import timedelta
from time import monotonic
from uuid import UUID, uuid4

# Longer than a job takes, with all its calls to the marketplace.
HELD = timedelta(seconds=45)
# How long one call may take.
_LONGEST_CALL = 15.0


@dataclass(frozen=True, slots=True)
class Lease:
    """A lease that began at `since`, on this process's monotonic clock."""

    id: UUID = field(default_factory=uuid4)
    since: float = field(default_factory=monotonic)

    def is_good_for_a_call(self) -> bool:
        """Whether a call that begins now ends before the lease expires.

        A process that was frozen must not send what another process has sent meanwhile.
        """
        return monotonic() - self.since < HELD.total_seconds() - _LONGEST_CALL
