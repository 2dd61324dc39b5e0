"""What is wrong when the database cannot be used."""

from tradewind.errors import ServiceUnavailable


class DatabaseAway(ServiceUnavailable):
    """The database cannot be reached right now, or acknowledges no changes.

    Try again after the seconds in `Retry-After`, with the same Idempotency-Key where you sent
    one: if the connection broke at the very end, the first request may have had its effect. If the
    database waits for a standby that is away, reading works meanwhile.
    """

    code = "database_unavailable"
    title = "The database is unavailable"
    detail = "The database cannot be reached right now; try again."

    def __init__(self, detail: str | None = None) -> None:
        super().__init__(detail, retry_after=2)
