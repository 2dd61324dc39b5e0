"""A lease on orders: who has it deals with them at the platform, and nobody else does."""

from dataclasses import dataclass, field
from datetime import timedelta
from time import monotonic
from uuid import UUID, uuid4

# Longer than any call to a platform with what belongs to it.
HELD = timedelta(seconds=45)
# What is begun must still be over in time: a call may take this long.
_LONGEST_CALL = 15.0


@dataclass(frozen=True, slots=True)
class Lease:
    """One holding of orders. `since` is when it began, on this process's own clock."""

    id: UUID = field(default_factory=uuid4)
    since: float = field(default_factory=monotonic)

    def is_good_for_a_call(self) -> bool:
        """Whether a call that begins now ends before somebody else may begin the same.

        A process that was stopped and went on must not send what another has sent meanwhile.
        """
        return monotonic() - self.since < HELD.total_seconds() - _LONGEST_CALL
