"""Health: alive, and ready to serve."""

from tradewind.errors import CannotStart
from tradewind.storage import migrate
from tradewind.storage.pool import Database, DatabaseAway
from tradewind.web.answer import NO_STORE, Answer
from tradewind.web.endpoint import Routes
from tradewind.web.inputs import Output

routes = Routes("", tag="Operations", quiet=True)


class HealthOut(Output):
    """Whether all is well, and what is not."""

    status: str
    problems: list[str]


@routes.get("/healthz", answers=HealthOut)
async def healthz() -> Answer:
    """Alive: the process answers."""
    return Answer(HealthOut(status="ok", problems=[]), headers=[NO_STORE])


@routes.get("/readyz", answers=HealthOut)
async def readyz(db: Database) -> Answer:
    """Ready: the database is reachable and has every migration; else 503 says what is missing."""
    problems = []
    try:
        pending = await migrate.pending(db)
        if pending:
            problems.append(f"{len(pending)} migrations are missing: run `tradewind migrate`.")
    except DatabaseAway as away:
        problems.append(away.detail)
    except CannotStart as differs:
        problems.append(str(differs))
    if problems:
        body = HealthOut(status="not ready", problems=problems)
        return Answer(body, 503, [NO_STORE, (b"retry-after", b"2")])
    return Answer(HealthOut(status="ready", problems=[]), headers=[NO_STORE])
