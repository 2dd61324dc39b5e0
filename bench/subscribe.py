"""Makes a webhook for a benchmark: active, for all event types, with a real secret."""

from uuid import UUID

from tradewind import ids
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database
from tradewind.webhooks import secret as secrets


async def subscribe(db: Database, keyring: Keyring, account_id: UUID, url: str) -> UUID:
    """Subscribe a URL to the events of an account."""
    subscription_id = ids.new()
    await db.execute(
        """
        INSERT INTO webhook_subscription (id, account_id, url, events, is_active, secret,
                                          created_at, updated_at)
        VALUES ($1, $2, $3, '{order.updated,payment.updated}', true, $4, now(), now())
        """,
        subscription_id,
        account_id,
        url,
        secrets.sealed(keyring, account_id, subscription_id, secrets.make()),
    )
    return subscription_id
