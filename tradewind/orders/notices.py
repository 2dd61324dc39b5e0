"""Notices from marketplaces: a hint to sync an order now, never a fact."""

from tradewind.observability.logs import log
from tradewind.orders import sql_leases
from tradewind.orders.sync import SYNC
from tradewind.platforms.contract import NoticeRejected
from tradewind.platforms.errors import PlatformNotConfigured
from tradewind.platforms.registry import Platforms
from tradewind.storage.pool import Database


async def take_notice(
    db: Database, platforms: Platforms, name: str, headers: dict[str, str], body: bytes
) -> int:
    """Make the orders due that a notice names; return how many of them are ours.

    A notice that is forged or cannot be read raises NoticeRejected.
    """
    connector = await platforms.connector(name)
    platform = connector.traits.platform
    connection = await platforms.connections.find(platform)
    if connection is None:
        raise PlatformNotConfigured(platform)
    try:
        platforms.check_notice_secret(connection.app_secret)
        notice = connector.read_notice(headers, body, connection.app_key, connection.app_secret)
    except NoticeRejected as rejected:
        log.warning("notice.rejected", platform=platform, reason=str(rejected))
        raise
    due = await sql_leases.hint(db, platform, notice.order_ids) if notice.order_ids else 0
    log.info("notice.taken", platform=platform, kind=notice.kind, id=notice.id, orders=due)
    if due:
        db.wakeups.announce(SYNC)
    return due
