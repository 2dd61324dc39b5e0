"""When a guess may be tried, and what follows when it was wrong (pure)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

MOST = 10
WINDOW = timedelta(minutes=15)
REST = timedelta(minutes=15)
# A guess that nobody ended, because its process died, stops counting after this.
_LONGEST_TRY = timedelta(seconds=60)


@dataclass(frozen=True, slots=True)
class Guesses:
    """What is known of the guesses for one e-mail."""

    failed_at: Sequence[datetime]
    tried_at: Sequence[datetime]
    locked_until: datetime | None


def current(known: Guesses, now: datetime) -> Guesses:
    """What still counts: failures of the window, tries under way, and a rest that goes on."""
    if known.locked_until is not None and known.locked_until <= now:
        known = replace(known, failed_at=(), locked_until=None)
    return replace(
        known,
        failed_at=[moment for moment in known.failed_at if moment > now - WINDOW],
        tried_at=[moment for moment in known.tried_at if moment > now - _LONGEST_TRY],
    )


def has_room(known: Guesses) -> bool:
    """Whether one more may be tried: those under way might all turn out wrong."""
    return len(known.failed_at) + len(known.tried_at) < MOST


def begun(known: Guesses, now: datetime) -> Guesses:
    return replace(known, tried_at=[*known.tried_at, now])


def ended(known: Guesses, started: datetime) -> Guesses:
    """A guess that came to nothing, right or wrong: nobody compared it."""
    left = list(known.tried_at)
    if started in left:
        left.remove(started)
    return replace(known, tried_at=left)


def failed(known: Guesses, started: datetime, now: datetime) -> Guesses:
    """A wrong guess; the last of ten begins the rest."""
    failures = [*known.failed_at, now]
    stop = now + REST if len(failures) >= MOST else known.locked_until
    return replace(ended(known, started), failed_at=failures, locked_until=stop)
