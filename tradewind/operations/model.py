"""The state of the system that may need a person, as it is measured."""

from dataclasses import dataclass

# Counts end here: what is counted may be long, and nobody acts on the difference.
LARGEST_COUNT = 10_000


@dataclass(frozen=True, slots=True)
class JobBacklog:
    """The orders that wait for one kind of job at a marketplace.

    `oldest_seconds` is the time since the last change of the order that has waited longest;
    `overdue_seconds` is how long the first job is overdue. Both are 0 without orders.
    """

    platform: str
    job: str
    orders: int
    oldest_seconds: float
    overdue_seconds: float


@dataclass(frozen=True, slots=True)
class PaymentBacklog:
    """The open payment requests in one status, and the time since the oldest came into it."""

    status: str
    mode: str
    requests: int
    oldest_seconds: float


@dataclass(frozen=True, slots=True)
class Authorisation:
    """Our authorisation at a marketplace. `expires_seconds` is None if it does not expire."""

    platform: str
    is_valid: bool
    is_refresh_failing: bool
    expires_seconds: float | None


@dataclass(frozen=True, slots=True)
class TaskDelay:
    """How long a scheduled task is overdue; 0 if it is not."""

    task: str
    overdue_seconds: float


@dataclass(frozen=True, slots=True)
class WorkerCounts:
    """The workers that report, and those that stopped reporting without having said so."""

    reporting: int
    silent: int


@dataclass(frozen=True, slots=True)
class DatabaseState:
    """The load of the PostgreSQL server, and whether it can serve us."""

    connections: int
    connections_max: int
    oldest_transaction_seconds: float
    replication_slot_bytes: int
    size_bytes: int
    is_writable: bool
