"""The demo webhooks: created once, and pointed at the demo endpoint on any port."""

from pathlib import Path

import httpx

from tradewind.accounts import sql as accounts
from tradewind.dev import data_dir, demo_accounts, demo_webhooks
from tradewind.settings import settings
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database
from tradewind.webhooks import sql


async def test_one_receiver_takes_events_and_one_is_broken(
    db: Database, keyring: Keyring, database_url: str, tmp_path: Path
) -> None:
    secrets = data_dir.secrets_of(tmp_path)
    await demo_accounts.prepare(db, keyring, secrets)
    buyer = await accounts.find_account(db, email=secrets.buyer.email)
    assert buyer is not None
    chosen = settings.load({"TRADEWIND_DATABASE_URL": database_url, "TRADEWIND_PORT": "1"})

    for _ in range(2):
        async with demo_webhooks.receiving(db, keyring, chosen, buyer.id):
            made = await sql.list_subscriptions(db, buyer.id, below=None, limit=10)
            async with httpx.AsyncClient() as client:
                answers = {
                    item.url.rpartition("/")[2]: (await client.post(item.url, json={})).status_code
                    for item in made
                }
        assert answers == {"shop": 200, "broken": 503}
