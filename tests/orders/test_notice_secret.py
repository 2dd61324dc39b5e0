"""Notices are checked with the application's secret as it is now, also right after a change."""

from urllib.parse import urlencode

import pytest
from simulator.sandbox_kit import KEYS
from tradewind_simulator import signing

from tradewind.egress.client import Client
from tradewind.orders.notices import take_notice
from tradewind.platforms.configured_credentials import store_configured_credentials
from tradewind.platforms.contract import NoticeRejected
from tradewind.platforms.registry import Platforms
from tradewind.runtime.wiring import configured_credentials, platforms_of
from tradewind.settings import settings
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database
from tradewind.storage.transaction import transaction

MESSAGE = '{"msgId":1,"type":"ORDER_BUYER_VIEW_ANNOUNCE_SENDGOODS","data":{"orderId":123456789}}'
OLD, NEW = KEYS["sandbox"].secret, "a-new-secret"


async def take(db: Database, platforms: Platforms, secret: str) -> int:
    form = {"message": MESSAGE, "_aop_signature": signing.alibaba_notice(secret, MESSAGE)}
    return await take_notice(db, platforms, "sandbox", {}, urlencode(form).encode())


async def test_a_new_secret_counts_at_once_in_every_process(
    db: Database, database_url: str
) -> None:
    chosen = settings.load(
        {"TRADEWIND_DATABASE_URL": database_url, "TRADEWIND_SANDBOX_URL": "http://127.0.0.1:1"}
    )
    client = Client()
    ours, other = (
        platforms_of(chosen, db, Keyring(chosen.secret_key), client) for _process in range(2)
    )
    await store_configured_credentials(db, ours, configured_credentials(chosen))
    assert await take(db, ours, OLD) == 0
    with pytest.raises(NoticeRejected):
        await take(db, ours, NEW)

    async with transaction(db) as tx:
        await other.connections.store_app(tx, "sandbox", KEYS["sandbox"].key, NEW)

    assert await take(db, ours, NEW) == 0
    await client.close()
