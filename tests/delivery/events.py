"""Events in the journal and a subscription for them, created without the API."""

from datetime import datetime
from uuid import UUID

from kit.accounts import insert_account

from tradewind import ids
from tradewind.events import journal
from tradewind.events.catalogue import Event
from tradewind.storage.pool import Database
from tradewind.storage.transaction import transaction


async def journalled(db: Database, account: UUID, hook: UUID, count: int = 1) -> datetime:
    """Events of an account that one subscription wants, both made if need be; when they were."""
    await insert_account(db, account)
    await db.execute(
        "INSERT INTO webhook_subscription (id, account_id, url, events, is_active, secret,"
        " created_at, updated_at) VALUES ($1, $2, 'http://127.0.0.1:9/', '{order.updated}', true,"
        " '', tradewind_now(), tradewind_now()) ON CONFLICT DO NOTHING",
        hook,
        account,
    )
    async with transaction(db) as tx:
        now: datetime = await tx.fetchval("SELECT tradewind_now()")
        events = [
            Event(ids.new(), account, ids.new(), "order.updated", now, b"{}") for _ in range(count)
        ]
        journal.append(tx, events)
    return now
