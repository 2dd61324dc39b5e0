"""Every connector refreshes a rejected token once, and reports when it cannot."""

from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import pytest
from connectors.stand import Stand, new_operation

from tradewind.platforms.failures import NotAuthorised, Rejected, Unavailable
from tradewind.platforms.model import PaymentState, Query, Sort

QUERY = Query("backpack", size=3, sort=Sort.PRICE_ASC)


async def test_a_token_that_ended_is_renewed_once(stand: Stand) -> None:
    old = stand.keys.access_token
    stand.market.control("tokens/expire", app=stand.platform)

    result = await stand.connector.search(QUERY)
    again = await stand.connector.search(QUERY)

    assert len(result.offers) == 3
    assert again == result
    assert stand.keys.refreshes == 1
    assert stand.keys.access_token != old


async def test_a_create_with_an_old_token_makes_one_order(stand: Stand) -> None:
    draft = replace(await stand.draft(), expected_total_fen=1_500)
    stand.market.control("tokens/expire", app=stand.platform)
    before = stand.count("create.done")

    placed = await stand.connector.create(draft)

    assert stand.made(draft.reference) == set(placed.order_ids)
    assert stand.count("create.done") == before + 1
    assert stand.keys.refreshes == 1


async def test_a_payment_with_an_old_token_debits_once(stand: Stand) -> None:
    order = await stand.order()
    stand.market.control("tokens/expire", app=stand.platform)

    await stand.connector.pay(order.id, order.total_fen, new_operation())

    assert (await stand.later(order.id)).payment is PaymentState.PAID
    assert stand.debits(order.id) == [order.total_fen]
    assert stand.keys.refreshes == 1


async def test_a_refresh_that_is_refused_needs_an_operator(stand: Stand) -> None:
    draft = await stand.draft()
    stand.market.control("tokens/expire", app=stand.platform, refresh=True)

    with pytest.raises(NotAuthorised):
        await stand.connector.search(QUERY)
    with pytest.raises(NotAuthorised):
        await stand.connector.create(draft)

    assert stand.made(draft.reference) == set()


async def test_a_token_that_stays_refused_is_renewed_only_once(stand: Stand) -> None:
    """A gateway that likes no token at all does not send us around in circles."""
    bad = {"taobao": "IllegalAccessToken"}.get(stand.platform, "401")
    stand.fault("search", "error", code=bad)

    with pytest.raises(NotAuthorised):
        await stand.connector.search(QUERY)

    assert stand.keys.refreshes == 1


async def test_tokens_are_had_for_a_code(stand: Stand) -> None:
    oauth, keys = stand.marketplace.oauth, stand.keys
    page = oauth.authorize_url(keys.app_key, "http://127.0.0.1/back", "a-state")
    asked = urlsplit(page)
    agreed = stand.market.client.get(f"/oauth/authorize?{asked.query}")
    back = parse_qs(urlsplit(agreed.headers["location"]).query)

    tokens = await oauth.exchange(
        stand.client, keys.app_key, keys.app_secret, back["code"][0], "http://127.0.0.1/back"
    )
    keys.access_token, keys.refresh_token = tokens.access_token, tokens.refresh_token

    assert asked.scheme == "https"
    assert back["state"] == ["a-state"]
    assert tokens.expires_in > 3_600
    assert (tokens.refresh_expires_in or 0) > tokens.expires_in
    assert tokens.owner
    assert len((await stand.connector.search(QUERY)).offers) == 3


async def test_a_code_works_once(stand: Stand) -> None:
    keys = stand.keys

    with pytest.raises(Rejected):
        await stand.marketplace.oauth.exchange(
            stand.client, keys.app_key, keys.app_secret, "not-a-code", "http://127.0.0.1/back"
        )


async def test_a_wrong_secret_needs_an_operator(stand: Stand) -> None:
    draft = await stand.draft()
    stand.keys.app_secret = "not-the-secret"

    with pytest.raises(NotAuthorised):
        await stand.connector.search(QUERY)
    with pytest.raises(NotAuthorised):
        await stand.connector.create(draft)

    assert stand.made(draft.reference) == set()


async def test_too_many_calls_are_told_to_wait(stand: Stand) -> None:
    draft = await stand.draft()
    stand.market.control("limits", per_second=0.001)
    await stand.connector.search(QUERY)

    with pytest.raises(Unavailable) as later:
        await stand.connector.search(QUERY)
    with pytest.raises(Unavailable) as create_later:
        await stand.connector.create(draft)

    assert not isinstance(later.value, NotAuthorised)
    assert min(later.value.retry_after, create_later.value.retry_after) >= 1
    assert stand.made(draft.reference) == set()
    stand.market.control("limits", per_second=None)
    placed = await stand.connector.create(draft)
    assert stand.made(draft.reference) == set(placed.order_ids)
