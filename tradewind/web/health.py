"""Health: alive, and ready to serve."""

import asyncio

from tradewind.errors import CannotStart
from tradewind.storage import migrate, partitions, sql
from tradewind.storage.errors import DatabaseAway
from tradewind.storage.pool import Database, GateDatabase
from tradewind.web.endpoint import Routes
from tradewind.web.inputs import Output
from tradewind.web.response import NO_STORE, Response

_TIMEOUT_SECONDS = 3.0

routes = Routes("", tag="Operations", quiet=True)


class ReadinessOut(Output):
    """Whether the service is ready, and what is wrong if not."""

    status: str
    problems: list[str]


@routes.get("/healthz", returns=ReadinessOut)
async def healthz() -> Response:
    """Whether the process is alive."""
    return Response(ReadinessOut(status="ok", problems=[]), headers=[NO_STORE])


@routes.get("/readyz", returns=ReadinessOut, also={503: "Not ready; `problems` says why."})
async def readyz(db: GateDatabase, changed: Database) -> Response:
    """Whether the database acknowledges a change, with every migration and tomorrow's partitions.

    Otherwise 503 says what is missing. The change is tried at most once a second.
    """
    problems = []
    try:
        async with asyncio.timeout(_TIMEOUT_SECONDS):
            pending = await migrate.pending(db)
            writable = await sql.is_writable(db)
            tomorrow = pending or await partitions.reach_tomorrow(db)
            acknowledged = not writable or await changed.writes.are_acknowledged()
        if not writable:
            problems.append("The database is read-only: it is a standby, or a failover is running.")
        if not acknowledged:
            problems.append("The database acknowledges no changes: is a standby or its disk away?")
        if pending:
            problems.append(f"{len(pending)} migrations are missing: run `tradewind migrate`.")
        if not tomorrow:
            problems.append("Tomorrow's partitions are missing: is a worker running?")
    except (DatabaseAway, TimeoutError):
        problems.append("The database cannot be reached.")
    except CannotStart as error:
        problems.append(str(error))
    if problems:
        body = ReadinessOut(status="not ready", problems=problems)
        return Response(body, 503, [NO_STORE, (b"retry-after", b"2")])
    return Response(ReadinessOut(status="ready", problems=[]), headers=[NO_STORE])
