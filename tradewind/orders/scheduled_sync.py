"""Lists what changed on a marketplace by modification time, to sync what no notice named."""

from datetime import timedelta

from tradewind.observability.logs import log
from tradewind.orders import sql_leases
from tradewind.orders.sync import sync_topic
from tradewind.platforms.contract import Connector
from tradewind.storage import sql as storage_sql
from tradewind.storage.pool import Database

# Windows overlap: an order that changes between two pages is in the next window too.
_OVERLAP = timedelta(minutes=5)
_MARGIN = timedelta(minutes=2)
_LONGEST = timedelta(hours=6)
_MOST_PAGES = 50


async def sync_modified(db: Database, connector: Connector) -> None:
    """Make orders of ours due that changed since the last window."""
    platform = connector.traits.platform
    since = await sql_leases.swept_until(db, platform) - _OVERLAP
    until = min(await storage_sql.now(db), since + _LONGEST)
    due = 0
    page, more = 1, True
    while more and page <= _MOST_PAGES:
        parts, more = await connector.modified_between(since, until, page)
        changed = [(part.id, part.modified_at or until) for part in parts]
        if changed:
            due += await sql_leases.hint_later_than(db, platform, changed, margin=_MARGIN)
        page += 1
    if more:
        # The rest of a window that is too full is in the next window.
        log.warning("scheduled_sync.window_too_full", platform=platform, pages=_MOST_PAGES)
        until = max((part.modified_at for part in parts if part.modified_at), default=until)
    await sql_leases.save_synced_until(db, platform, until)
    if due:
        log.info("scheduled_sync.done", platform=platform, orders=due)
        db.wakeups.announce(sync_topic(platform))
