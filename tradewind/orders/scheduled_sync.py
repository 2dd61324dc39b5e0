"""Sweeps up what changed on a platform, by modification time: what no notice told of."""

from datetime import timedelta

from tradewind.observability.logs import log
from tradewind.orders import sql_leases
from tradewind.orders.sync import FOLLOW
from tradewind.platforms.contract import Connector
from tradewind.storage.pool import Database

# Windows overlap: an order that changes between two pages is seen by the next sweep.
_OVERLAP = timedelta(minutes=5)
_MARGIN = timedelta(minutes=2)
_LONGEST = timedelta(hours=6)
_MOST_PAGES = 50


async def sweep(db: Database, connector: Connector) -> None:
    """Have those orders looked at that changed since the last sweep, as far as they are ours."""
    platform = connector.traits.platform
    since = await sql_leases.swept_until(db, platform) - _OVERLAP
    until = min(await sql_leases.now(db), since + _LONGEST)
    due = 0
    page, more = 1, True
    while more and page <= _MOST_PAGES:
        found, more = await connector.modified_between(since, until, page)
        changed = [(part.id, part.modified_at or until) for part in found]
        if changed:
            hinted = await sql_leases.hint_later_than(db, platform, changed, margin=_MARGIN)
            due += hinted
        page += 1
    if more:
        # The rest of a window that is too full is swept from where this one came to.
        log.warning("sweep.too_much", platform=platform, pages=_MOST_PAGES)
        until = max((part.modified_at for part in found if part.modified_at), default=until)
    await sql_leases.save_sweep(db, platform, until)
    if due:
        log.info("sweep.done", platform=platform, orders=due)
        db.wakeups.announce(FOLLOW)
