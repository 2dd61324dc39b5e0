"""Codes become tokens, tokens become newer ones, and refusals say who must act."""

from typing import Any

import pytest
from platforms.alibaba.scripted import BROKEN, DROP, GARBAGE, NOW, Market, Step, answer

from tradewind.platforms.access import OAuthTokens
from tradewind.platforms.alibaba import oauth
from tradewind.platforms.alibaba.oauth import AlibabaOAuth
from tradewind.platforms.failures import (
    NotAuthorised,
    OutcomeUnknown,
    Rejected,
    Unavailable,
    UnreadableResponse,
)
from tradewind.platforms.paced_client import PacedClient

GRANTED = {
    "aliId": "8888888888",
    "resource_owner": "alitestforisv01",
    "memberId": "b2b-8888888888",
    "expires_in": "36000",
    "access_token": "new-access",
    "refresh_token": "new-refresh",
    "refresh_token_timeout": "20181214101942000+0800",
}
DENIED = {"error": "invalid_grant", "error_description": "used"}
HALF_A_YEAR = 183 * 86_400
OURS = AlibabaOAuth(now=lambda: NOW)


async def exchange(link: PacedClient) -> OAuthTokens:
    return await OURS.exchange(link, "key", "secret", "a code", "https://example.test/")


async def refresh(link: PacedClient) -> OAuthTokens:
    return await OURS.refresh(link, "key", "secret", "old-refresh")


def test_where_an_operator_agrees() -> None:
    url = OURS.authorize_url("1000000", "https://example.test/?a=b", "state")

    assert url == (
        "https://auth.1688.com/oauth/authorize?client_id=1000000&site=1688"
        "&redirect_uri=https%3A%2F%2Fexample.test%2F%3Fa%3Db&state=state"
    )


async def test_a_code_becomes_tokens(market: Market, link: PacedClient) -> None:
    market.script(answer(GRANTED))

    tokens = await exchange(link)

    assert tokens == OAuthTokens(
        "new-access", 36000, "new-refresh", HALF_A_YEAR - 1, "alitestforisv01"
    )
    call = market.calls[0]
    assert call.path == "/openapi/http/1/system.oauth2/getToken/key"
    assert call.form == {
        "grant_type": "authorization_code",
        "need_refresh_token": "true",
        "client_id": "key",
        "client_secret": "secret",
        "redirect_uri": "https://example.test/",
        "code": "a code",
    }


async def test_a_refresh_keeps_what_does_not_come_back(market: Market, link: PacedClient) -> None:
    market.script(answer({"access_token": "new-access", "expires_in": 36000}))

    assert await refresh(link) == OAuthTokens("new-access", 36000, "old-refresh", None, None)
    assert market.calls[0].form == {
        "grant_type": "refresh_token",
        "refresh_token": "old-refresh",
        "client_id": "key",
        "client_secret": "secret",
    }


@pytest.mark.parametrize(
    ("timeout", "expected"),
    [
        ("20281222222222+0800", 332_164_959),
        ("20281222222222000+0800", 332_164_959),
        ("20180614101942000+0800", 1),
        ("some day", None),
        (None, None),
    ],
)
def test_the_end_of_a_refresh_token(timeout: Any, expected: int | None) -> None:
    tokens = oauth.tokens({**GRANTED, "refresh_token_timeout": timeout}, current=None, now=NOW)

    assert tokens.refresh_expires_in == expected


@pytest.mark.parametrize(
    "missing", [{"access_token": None}, {"expires_in": None}, {"expires_in": "soon"}]
)
def test_tokens_without_the_essence_are_unreadable(missing: dict[str, Any]) -> None:
    with pytest.raises(UnreadableResponse):
        oauth.tokens({**GRANTED, **missing}, current=None, now=NOW)


async def test_a_wrong_code_is_refused_for_good(market: Market, link: PacedClient) -> None:
    market.script(answer(DENIED, 400))

    with pytest.raises(Rejected) as refused:
        await exchange(link)

    assert (refused.value.code, refused.value.message) == ("invalid_grant", "used")


async def test_a_dead_refresh_token_needs_an_operator(market: Market, link: PacedClient) -> None:
    market.script(answer(DENIED, 400))

    with pytest.raises(NotAuthorised):
        await refresh(link)


@pytest.mark.parametrize("fault", [BROKEN, DROP, GARBAGE, answer({})])
async def test_a_code_is_sent_once_whatever_happens(
    fault: Step, market: Market, link: PacedClient
) -> None:
    market.script(fault)

    with pytest.raises(OutcomeUnknown):
        await exchange(link)
    assert len(market.calls) == 1


@pytest.mark.parametrize("fault", [BROKEN, DROP])
async def test_a_refresh_is_repeated(fault: Step, market: Market, link: PacedClient) -> None:
    market.script(fault, answer(GRANTED))

    assert (await refresh(link)).access_token == "new-access"


async def test_an_unreadable_refresh_is_for_later(market: Market, link: PacedClient) -> None:
    market.script(GARBAGE)

    with pytest.raises(Unavailable):
        await refresh(link)
