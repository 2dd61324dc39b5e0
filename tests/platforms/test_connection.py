"""Tokens at marketplaces: encrypted, refreshed in time, by one process at a time."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import timedelta

import pytest
from kit.postgres import Postgres
from kit.server import SECRET_KEY

from tradewind.audit.model import COMMAND_LINE
from tradewind.egress.client import Client
from tradewind.platforms import sql
from tradewind.platforms.access import AppCredentials, OAuthTokens
from tradewind.platforms.configured_credentials import store_configured_credentials
from tradewind.platforms.connect import Credentials, connect, disconnect
from tradewind.platforms.failures import NotAuthorised
from tradewind.platforms.marketplace import Marketplace
from tradewind.platforms.paced_client import PacedClient
from tradewind.platforms.reencrypt import reencrypt
from tradewind.platforms.registry import MARKETPLACES, PlatformEndpoint, Platforms
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database
from tradewind.storage.sealing import CannotUnseal, unseal
from tradewind.web.limits import plan_rate

GIVEN = AppCredentials("key", "the-app-secret", "token-0", "refresh-0")


@dataclass
class Issuer:
    """A marketplace's office for tokens, where each refresh token works once."""

    valid: str = "refresh-0"
    issued: int = 0
    lifetime: int = 3600
    asked: list[str] = field(default_factory=list)

    def authorize_url(self, app_key: str, redirect_uri: str, state: str) -> str:
        return f"https://market.example/{app_key}?{redirect_uri}&{state}"

    async def exchange(
        self, link: PacedClient, app_key: str, app_secret: str, code: str, redirect_uri: str
    ) -> OAuthTokens:
        raise NotImplementedError(link, app_key, app_secret, code, redirect_uri)

    async def refresh(
        self, link: PacedClient, app_key: str, app_secret: str, refresh_token: str
    ) -> OAuthTokens:
        assert (app_key, app_secret) == ("key", "the-app-secret")
        self.asked.append(refresh_token)
        await asyncio.sleep(0.05)  # as long as a call takes
        if refresh_token != self.valid:
            raise NotAuthorised(link.platform, "used", "This refresh token was used before.")
        self.issued += 1
        self.valid = f"refresh-{self.issued}"
        return OAuthTokens(f"token-{self.issued}", self.lifetime, self.valid, 86400, "owner")


@pytest.fixture
def issuer() -> Issuer:
    return Issuer()


@pytest.fixture
async def nodes(
    database_url: str, keyring: Keyring, issuer: Issuer
) -> AsyncIterator[list[Platforms]]:
    """Three processes' worth of platforms on one database, with the credentials adopted."""
    sandbox = MARKETPLACES["sandbox"]
    market = Marketplace(sandbox.traits, None, sandbox.connect, issuer)
    databases = [Database(database_url, size=2, name="node") for _ in range(3)]
    client = Client()
    made = []
    for db in databases:
        await db.open()
        places = {"sandbox": PlatformEndpoint("http://127.0.0.1:9", plan_rate(600), simulated=True)}
        made.append(Platforms(db, keyring, client, places, {"sandbox": market}))
    await store_configured_credentials(databases[0], made[0], {"sandbox": GIVEN})
    yield made
    await client.close()
    for db in databases:
        await db.close()


async def test_a_token_is_handed_out_as_it_is_while_it_lasts(
    nodes: list[Platforms], issuer: Issuer
) -> None:
    tokens = [(await node.connections.access("sandbox")).access_token for node in nodes]

    assert tokens == ["token-0"] * 3
    assert issuer.asked == []


async def test_who_gives_up_does_not_take_the_refresh_token_along(
    nodes: list[Platforms], issuer: Issuer
) -> None:
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(nodes[0].connections.access("sandbox", "token-0"), 0.02)

    access = await nodes[1].connections.access("sandbox", "token-0")

    assert access.access_token == "token-1"
    assert issuer.asked == ["refresh-0"]


async def test_a_refresh_under_way_does_not_undo_what_an_operator_sets(
    nodes: list[Platforms], db: Database, issuer: Issuer
) -> None:
    under_way = asyncio.create_task(nodes[0].connections.access("sandbox", "token-0"))
    while not issuer.asked:  # noqa: ASYNC110 - until the marketplace was asked
        await asyncio.sleep(0.005)
    value = Credentials(access_token="operators", refresh_token="theirs")
    await connect(db, nodes[1], COMMAND_LINE, "sandbox", value, "http://test")
    await under_way

    result = await nodes[2].connections.find("sandbox")

    assert result is not None
    assert (result.access_token, result.refresh_token) == ("operators", "theirs")


async def test_what_an_operator_said_stands_against_the_settings(
    nodes: list[Platforms], db: Database
) -> None:
    mine = Credentials(app_key="mine", app_secret="secret", access_token="my-token")
    await connect(db, nodes[0], COMMAND_LINE, "sandbox", mine, "http://test")
    await store_configured_credentials(db, nodes[1], {"sandbox": GIVEN})
    result = await nodes[1].connections.find("sandbox")
    assert result is not None
    assert result.app_key == "mine"
    assert result.refresh_token is None, "nothing of another authorisation stays"

    await disconnect(db, nodes[0], COMMAND_LINE, "sandbox")
    await store_configured_credentials(db, nodes[1], {"sandbox": GIVEN})

    assert await nodes[1].connections.find("sandbox") is None


async def test_settings_that_change_are_adopted_again(nodes: list[Platforms], db: Database) -> None:
    await store_configured_credentials(
        db, nodes[0], {"sandbox": AppCredentials("key", "another secret", None, "refresh-9")}
    )

    result = await nodes[1].connections.find("sandbox")

    assert result is not None
    assert (result.app_secret, result.refresh_token) == ("another secret", "refresh-9")


async def test_a_refused_refresh_token_is_not_shown_again_at_once(
    nodes: list[Platforms], issuer: Issuer
) -> None:
    issuer.valid = "another"
    for node in nodes:
        for _ in range(3):
            with pytest.raises(NotAuthorised):
                await node.connections.access("sandbox", "token-0")

    result = await nodes[0].connections.find("sandbox")
    assert result is not None
    assert result.state == "expired"
    assert issuer.asked == ["refresh-0"]


async def test_what_is_given_again_changes_nothing(
    nodes: list[Platforms], db: Database, issuer: Issuer
) -> None:
    await nodes[0].connections.access("sandbox", "token-0")
    await store_configured_credentials(db, nodes[0], {"sandbox": GIVEN})

    assert (await nodes[1].connections.access("sandbox")).access_token == "token-1"
    assert issuer.asked == ["refresh-0"]


async def test_of_many_who_need_a_new_token_one_asks_for_it(
    nodes: list[Platforms], issuer: Issuer
) -> None:
    result = await asyncio.gather(
        *(node.connections.access("sandbox", "token-0") for node in nodes for _ in range(5))
    )

    assert {access.access_token for access in result} == {"token-1"}
    assert issuer.asked == ["refresh-0"]


async def test_a_token_that_has_ended_is_renewed_before_it_is_used(
    nodes: list[Platforms], issuer: Issuer, postgres: Postgres, database_url: str
) -> None:
    postgres.move_clock(database_url, timedelta(hours=10))

    access = await nodes[0].connections.access("sandbox")

    assert access.access_token == "token-1"
    assert issuer.asked == ["refresh-0"]


async def test_the_worker_renews_ahead_of_time_and_once(
    nodes: list[Platforms], issuer: Issuer, postgres: Postgres, database_url: str
) -> None:
    margin = timedelta(hours=1)
    await asyncio.gather(*(node.connections.refresh_expiring(margin) for node in nodes))
    assert issuer.asked == []

    postgres.move_clock(database_url, timedelta(hours=9, minutes=30))
    issuer.lifetime = 10 * 3600
    await asyncio.gather(*(node.connections.refresh_expiring(margin) for node in nodes))

    assert issuer.asked == ["refresh-0"]
    assert (await nodes[2].connections.access("sandbox")).access_token == "token-1"


async def test_a_refusal_is_kept_for_operators_and_said_to_callers(
    nodes: list[Platforms], issuer: Issuer
) -> None:
    issuer.valid = "another"

    with pytest.raises(NotAuthorised):
        await nodes[0].connections.access("sandbox", "token-0")

    connection = await nodes[1].connections.find("sandbox")
    assert connection is not None
    assert "used before" in (connection.failure or "")


async def test_a_process_that_died_in_the_middle_holds_nobody_up_for_long(
    nodes: list[Platforms], issuer: Issuer, postgres: Postgres, database_url: str, db: Database
) -> None:
    await db.execute(
        "UPDATE platform_connection SET refreshing_until = tradewind_now() + interval '30 s'"
    )
    postgres.move_clock(database_url, timedelta(seconds=31))

    access = await nodes[0].connections.access("sandbox", "token-0")

    assert access.access_token == "token-1"
    assert issuer.asked == ["refresh-0"]


async def test_sealed_credentials_move_to_a_new_master_secret(
    nodes: list[Platforms], db: Database
) -> None:
    assert nodes
    rotated = Keyring([b"n" * 32, bytes.fromhex(SECRET_KEY)])

    assert await reencrypt(db, rotated) == 3
    assert await reencrypt(db, rotated) == 0

    alone = Keyring([b"n" * 32])
    [(_, _, secrets)] = await sql.list_encrypted(db)
    opened = unseal(alone, secrets.app_secret, "platform_connection/sandbox/app_secret")
    assert opened == b"the-app-secret"
    with pytest.raises(CannotUnseal):
        unseal(alone, secrets.app_secret, "platform_connection/taobao/app_secret")
