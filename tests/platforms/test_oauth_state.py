"""The OAuth state: valid for its credential and marketplace, once, for a limited time."""

from datetime import timedelta

import pytest
from kit.postgres import Postgres

from tradewind.audit.model import COMMAND_LINE, Actor
from tradewind.errors import ValidationFailed
from tradewind.platforms.oauth_state import LIFETIME, OAuthStates, platform_of
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database

ANNA = Actor("anna@test.example", credential="SES1")
ANNAS_KEY = Actor("anna@test.example", credential="KEY1")


@pytest.fixture
def states(db: Database, keyring: Keyring) -> OAuthStates:
    return OAuthStates(db, keyring)


@pytest.mark.parametrize("by", [ANNA, ANNAS_KEY, COMMAND_LINE])
async def test_a_state_is_redeemed_once_by_whom_it_was_issued_to(
    states: OAuthStates, by: Actor
) -> None:
    state = await states.issue(by, "taobao")
    assert platform_of(state) == "taobao"

    await states.redeem(by, "taobao", state)

    with pytest.raises(ValidationFailed):
        await states.redeem(by, "taobao", state)
    await states.redeem(by, "taobao", await states.issue(by, "taobao"))


@pytest.mark.parametrize(
    ("by", "platform"), [(ANNAS_KEY, "taobao"), (COMMAND_LINE, "taobao"), (ANNA, "alibaba")]
)
async def test_another_credential_or_marketplace_is_refused_and_uses_nothing_up(
    states: OAuthStates, by: Actor, platform: str
) -> None:
    state = await states.issue(ANNA, "taobao")

    with pytest.raises(ValidationFailed):
        await states.redeem(by, platform, state)

    await states.redeem(ANNA, "taobao", state)


async def test_a_state_expires(states: OAuthStates, postgres: Postgres, database_url: str) -> None:
    early, late = await states.issue(ANNA, "taobao"), await states.issue(ANNA, "taobao")

    postgres.move_clock(database_url, LIFETIME - timedelta(seconds=5))
    await states.redeem(ANNA, "taobao", early)
    postgres.move_clock(database_url, timedelta(seconds=10))

    with pytest.raises(ValidationFailed):
        await states.redeem(ANNA, "taobao", late)


async def test_a_state_cannot_be_forged(states: OAuthStates) -> None:
    state = await states.issue(ANNA, "taobao")
    platform, expires, nonce, signature = state.split(".")

    forgeries = [
        f"{platform}.{int(expires) + 60}.{nonce}.{signature}",
        f"{platform}.{expires}.{nonce}x.{signature}",
        f"{platform}.{expires}.{nonce}.00000000{signature[8:]}",
        f"{platform}.{expires}.{nonce}.{signature[:8]}",
        "taobao",
        "...",
        "ä.ö.ü.ß",
        "",
        None,
    ]
    for forged in forgeries:
        with pytest.raises(ValidationFailed):
            await states.redeem(ANNA, "taobao", forged)
