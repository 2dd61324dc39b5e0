"""Notices from marketplaces: a hint to sync an order now, never a fact."""

from tradewind.observability.logs import log
from tradewind.orders import sql_leases
from tradewind.orders.sync import sync_topic
from tradewind.platforms.connection import Connection
from tradewind.platforms.contract import NoticeRejected
from tradewind.platforms.errors import PlatformNotConfigured
from tradewind.platforms.model import Notice, NoticeSubject
from tradewind.platforms.registry import Platforms
from tradewind.storage.pool import Database


async def take_notice(
    db: Database, platforms: Platforms, name: str, headers: dict[str, str], body: bytes
) -> int:
    """Make the orders due that a notice names; return how many became due.

    A notice that is forged or cannot be read raises NoticeRejected.
    """
    connector = await platforms.connector(name)
    platform = connector.traits.platform

    def read(connection: Connection | None) -> Notice:
        if connection is None:
            raise PlatformNotConfigured(platform)
        platforms.check_notice_secret(connection.app_secret)
        return connector.read_notice(headers, body, connection.app_key, connection.app_secret)

    try:
        try:
            notice = read(await platforms.connections.find_recent(platform))
        except NoticeRejected:  # the secret may have changed a moment ago
            notice = read(await platforms.connections.find(platform))
    except NoticeRejected as rejected:
        log.warning("notice.rejected", platform=platform, reason=str(rejected))
        raise
    due = await _make_due(db, platform, notice)
    log.info("notice.taken", platform=platform, kind=notice.kind, id=notice.id, orders=due)
    if due:
        db.wakeups.announce(sync_topic(platform))
    return due


async def _make_due(db: Database, platform: str, notice: Notice) -> int:
    """Make the orders due, except those about which the notice tells nothing new.

    We read an order after we create it and after we pay it. Most notices that an order was created
    or paid follow these calls of ours, and another read would show nothing.
    """
    if notice.subject is NoticeSubject.CREATED or not notice.order_ids:
        return 0
    except_paid = notice.subject is NoticeSubject.PAID
    return await sql_leases.hint(db, platform, notice.order_ids, except_paid=except_paid)
