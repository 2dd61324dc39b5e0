"""The worker process: every background loop, until it is told to stop."""

import asyncio
import signal
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import timedelta

from tradewind.accounts import sql as accounts
from tradewind.background.loop import repeat
from tradewind.background.ticker import Chore, tick
from tradewind.egress.client import Client
from tradewind.guesses import sql as guesses
from tradewind.guesses.limit import WINDOW
from tradewind.observability import listener, metrics
from tradewind.observability.logs import log
from tradewind.parts import given_credentials, platforms_of
from tradewind.platforms.adopt import adopt
from tradewind.platforms.registry import Platforms
from tradewind.products import sql as products
from tradewind.settings import Settings
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database
from tradewind.web import idempotency
from tradewind.web import sql as web

_SESSION_DAYS = 30
# An access token of ten hours is renewed in its last one.
_TOKEN_MARGIN = timedelta(hours=1)


def renewal(chosen: Settings, db: Database, platforms: Platforms) -> Sequence[Chore]:
    """What is renewed ahead of time."""
    minute = timedelta(minutes=1)
    given = given_credentials(chosen)
    return [
        Chore("credentials", minute, lambda: adopt(db, platforms, given)),
        Chore("tokens", minute, lambda: platforms.connections.refresh_expiring(_TOKEN_MARGIN)),
    ]


def housekeeping(chosen: Settings, db: Database) -> Sequence[Chore]:
    """What is deleted when nobody can miss it any more."""
    minute, hour = timedelta(minutes=1), timedelta(hours=1)
    kept = timedelta(seconds=chosen.search_cache_seconds)
    return [
        Chore("searches", minute, lambda: products.delete_old_answers(db, older_than=kept)),
        Chore("sessions", hour, lambda: accounts.delete_dead_sessions(db, days=_SESSION_DAYS)),
        Chore("guesses", hour, lambda: guesses.delete_old_guesses(db, window=WINDOW)),
        Chore("password_links", hour, lambda: accounts.delete_expired_password_links(db)),
        Chore("idempotency", hour, lambda: web.delete_old_answers(db, days=idempotency.KEEP_DAYS)),
        Chore("budgets", timedelta(minutes=10), lambda: web.delete_full_budgets(db)),
    ]


async def run(chosen: Settings) -> None:
    """Work until SIGTERM or SIGINT; then finish what is at hand, and end."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for signum in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(signum, stop.set)
    db = Database(chosen.database_url, size=chosen.database_pool, name="tradewind worker")
    with ExitStack() as stack:
        if chosen.metrics_listen is not None:
            host, port = chosen.metrics_listen
            bound = stack.enter_context(listener.serving(host, port, metrics.registry(None)))
            log.info("metrics.listening", host=host, port=bound)
        await db.open()
        client = Client()
        try:
            platforms = platforms_of(chosen, db, Keyring(chosen.secret_key), client)
            chores = [*renewal(chosen, db, platforms), *housekeeping(chosen, db)]
            await repeat(
                "chores", lambda: tick(db, chores), stop=stop, wake=asyncio.Event(), idle=15.0
            )
        finally:
            await client.close()
            await db.close()
    log.info("worker.stopped")
