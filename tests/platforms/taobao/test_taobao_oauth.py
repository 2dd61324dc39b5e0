"""Being granted access: the address to agree at, and tokens for codes."""

from urllib.parse import parse_qsl, urlsplit

import pytest
from platforms.taobao.scripted import (
    DROP,
    GARBAGE,
    KEY,
    NOW,
    SECRET,
    SERVER_ERROR,
    Answer,
    Scripted,
    Stand,
)

from tradewind.platforms.access import OAuthTokens
from tradewind.platforms.failures import (
    NotAuthorised,
    OutcomeUnknown,
    PlatformFailure,
    Rejected,
    Unavailable,
)
from tradewind.platforms.taobao.oauth import TaobaoOAuth

TOKENS = OAuthTokens("a-token", 2592000, "r-token", 5184000, "buyer@example.com")
CREATE, REFRESH = "/auth/token/create", "/auth/token/refresh"


@pytest.fixture
def oauth() -> TaobaoOAuth:
    return TaobaoOAuth(lambda: NOW)


async def test_where_the_buyer_agrees(oauth: TaobaoOAuth) -> None:
    url = urlsplit(oauth.authorize_url(KEY, "https://us.example/back?x=1", "s&t"))

    assert f"{url.scheme}://{url.netloc}{url.path}" == "https://api.taobao.global/oauth/authorize"
    assert dict(parse_qsl(url.query)) == {
        "response_type": "code",
        "force_auth": "true",
        "client_id": KEY,
        "redirect_uri": "https://us.example/back?x=1",
        "state": "s&t",
    }


async def test_a_code_becomes_tokens(stand: Stand, oauth: TaobaoOAuth) -> None:
    stand.market.on(CREATE, "tokens")

    assert await oauth.exchange(stand.link, KEY, SECRET, "c-1", "") == TOKENS
    (params,) = stand.market.asked(CREATE)
    assert (params["code"], params["app_key"]) == ("c-1", KEY)
    assert "access_token" not in params


async def test_a_refresh_token_becomes_new_ones(stand: Stand, oauth: TaobaoOAuth) -> None:
    stand.market.on(REFRESH, SERVER_ERROR, "tokens")

    assert await oauth.refresh(stand.link, KEY, SECRET, "r-0") == TOKENS
    assert [params["refresh_token"] for params in stand.market.asked(REFRESH)] == ["r-0", "r-0"]


def said(code: str) -> Answer:
    return Answer(b'{"code":"%s","type":"ISP","message":"No."}' % code.encode())


@pytest.mark.parametrize(
    ("answer", "of_exchange", "of_refresh"),
    [
        (said("InvalidCode"), Rejected, Rejected),
        (said("IllegalRefreshToken"), NotAuthorised, NotAuthorised),
        (said("IncompleteSignature"), NotAuthorised, NotAuthorised),
        (GARBAGE, OutcomeUnknown, Unavailable),
        (DROP, OutcomeUnknown, Unavailable),
        (Answer(b'{"code":"0","access_token":"a"}'), OutcomeUnknown, Unavailable),
    ],
)
async def test_what_can_go_wrong(
    stand: Stand,
    oauth: TaobaoOAuth,
    answer: Scripted,
    of_exchange: type[PlatformFailure],
    of_refresh: type[PlatformFailure],
) -> None:
    stand.market.on(CREATE, answer)
    stand.market.on(REFRESH, answer)

    with pytest.raises(PlatformFailure) as exchange:
        await oauth.exchange(stand.link, KEY, SECRET, "c", "")
    with pytest.raises(PlatformFailure) as refresh:
        await oauth.refresh(stand.link, KEY, SECRET, "r")

    assert (type(exchange.value), type(refresh.value)) == (of_exchange, of_refresh)
    assert len(stand.market.asked(CREATE)) == 1
