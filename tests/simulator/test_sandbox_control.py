"""The control API: clock, steps, tokens, limits, reset."""

import time
from typing import Any

import pytest
from simulator.sandbox_kit import KEYS, Market, cargo
from tradewind_simulator import apps, signing
from tradewind_simulator.model import Dialect


def token_call(market: Market, app: str = "sandbox", **form: str) -> Any:
    who = KEYS[app]
    value = {"client_id": who.key, "client_secret": who.secret, "need_refresh_token": "true"}
    path = f"/openapi/http/1/system.oauth2/getToken/{who.key}"
    return market.client.post(path, data={**value, **form}).json()


def code_for(market: Market, app: str) -> str:
    back = "http://127.0.0.1:1/back?x=1"
    answer = market.client.get(
        "/oauth/authorize",
        params={"client_id": KEYS[app].key, "redirect_uri": back, "state": "s"},
    )
    target = answer.headers["location"]
    assert answer.status_code == 302
    assert target.startswith(f"{back}&code=")
    assert target.endswith("&state=s")
    return target.removeprefix(f"{back}&code=").removesuffix("&state=s")


def works(market: Market, token: str) -> bool:
    return "result" in market.call("alibaba.trade.getBuyerOrderList", token=token)


def test_the_clock_can_be_advanced_and_speeded_up(market: Market) -> None:
    before = market.clock()["now"]
    advanced = market.clock(advance_seconds=3_600)["now"]
    market.clock(speed=1_000)
    time.sleep(0.1)
    fast = market.clock(speed=0)["now"]
    time.sleep(0.05)

    assert 3_600 <= advanced - before < 3_610
    assert fast - advanced >= 100
    assert market.clock()["now"] == fast


@pytest.mark.parametrize("body", [{"advance_seconds": -1}, {"speed": -1}, {"speed": "fast"}])
def test_time_does_not_run_backwards(market: Market, body: dict[str, Any]) -> None:
    assert market.client.post("/_control/clock", json=body).status_code == 422


def test_a_step_that_is_not_possible_changes_nothing(market: Market) -> None:
    number = market.order()
    before = market.client.get(f"/_control/orders/{number}").json()

    answer = market.client.post(f"/_control/orders/{number}/advance", json={"to": "ship"})

    assert answer.status_code == 409
    assert answer.json()["status"] == "unpaid"
    assert market.client.get(f"/_control/orders/{number}").json() == before


def test_unknown_steps_orders_and_controls(market: Market) -> None:
    number = market.order()
    path = f"/_control/orders/{number}/advance"

    assert market.client.post(path, json={"to": "moon"}).status_code == 422
    assert market.client.post("/_control/orders/5/advance", json={"to": "pay"}).status_code == 404
    assert market.client.post("/_control/nonsense", json={}).status_code == 404


def test_a_reset_forgets_everything_but_the_ids(market: Market) -> None:
    number = market.order(outOrderId="R-1")
    market.pay(number)
    market.fault("create", "http500")
    market.control("limits", per_second=1)
    market.clock(advance_seconds=86_400)

    market.control("reset")
    state = market.state()
    again = market.order(outOrderId="R-1")

    assert (state["orders"], state["ledger"], state["faults"]) == ([], [], [])
    assert (state["counters"], state["per_second"], state["notices"]) == ({}, None, [])
    assert abs(state["now"] - time.time()) < 5
    assert int(again) > int(number)
    assert market.call("alibaba.trade.getBuyerOrderList", outOrderId="R-1")["totalRecord"] == 1


def test_a_limit_turns_away_what_is_too_much(market: Market) -> None:
    market.control("limits", per_second=5)

    answers = [market.call("alibaba.trade.getBuyerOrderList") for _ in range(12)]
    other = market.call("alibaba.trade.getBuyerOrderList", "alibaba")
    time.sleep(0.5)
    later = market.call("alibaba.trade.getBuyerOrderList")

    codes = [answer.get("error_code") for answer in answers]
    assert codes[:5] == [None] * 5
    assert set(codes[6:]) == {"gw.QosAppFrequencyLimit"}
    assert "result" in other
    assert "result" in later


def test_tokens_of_the_1688_dialect(market: Market) -> None:
    code = code_for(market, "sandbox")
    first = token_call(market, grant_type="authorization_code", code=code)
    used = token_call(market, grant_type="authorization_code", code=code)
    fresh = token_call(market, grant_type="refresh_token", refresh_token=first["refresh_token"])
    again = token_call(market, grant_type="refresh_token", refresh_token=first["refresh_token"])

    assert set(first) == {
        "aliId", "resource_owner", "memberId", "expires_in", "access_token", "refresh_token",
        "refresh_token_timeout",
    }  # fmt: skip
    assert first["expires_in"] == "36000"
    assert first["refresh_token_timeout"].endswith("+0800")
    assert used["error"] == again["error"] == "invalid_grant"
    assert fresh["access_token"] != first["access_token"]
    assert works(market, first["access_token"])
    assert works(market, fresh["access_token"])


def test_a_code_is_for_the_app_it_was_given_to(market: Market) -> None:
    code = code_for(market, "alibaba")

    assert token_call(market, grant_type="authorization_code", code=code)["error"]


def test_a_wrong_client_secret_gets_no_token(market: Market) -> None:
    answer = token_call(market, grant_type="refresh_token", client_secret="x", refresh_token="x")

    assert answer["error"] == "invalid_client"


def test_tokens_of_the_taobao_dialect(market: Market) -> None:
    def auth(path: str, **params: str) -> Any:
        form = market.taobao_request(path, **params)
        del form["access_token"]
        form["sign"] = signing.taobao_request(KEYS["taobao"].secret, path, form)
        return market.client.post(f"/rest{path}", data=form).json()

    first = auth("/auth/token/create", code=code_for(market, "taobao"))
    fresh = auth("/auth/token/refresh", refresh_token=first["refresh_token"])
    again = auth("/auth/token/refresh", refresh_token=first["refresh_token"])

    assert first["expires_in"] == 30 * 86_400
    assert market.rest("/purchase/orders/query", token=fresh["access_token"])["code"] == "0"
    assert again["code"] == "IllegalRefreshToken"


def test_tokens_can_be_made_to_expire(market: Market) -> None:
    demo = "sandbox-demo-access-token"
    market.control("tokens/expire", app="sandbox")
    expired = works(market, demo)
    value = {"grant_type": "refresh_token", "refresh_token": "sandbox-demo-refresh-token"}
    fresh = token_call(market, **value)["access_token"]
    renewed = works(market, fresh)
    other = market.rest("/purchase/orders/query")["code"]
    market.control("tokens/expire", refresh=True)

    assert (expired, renewed, other) == (False, True, "0")
    assert works(market, fresh) is False
    assert token_call(market, **value)["error"] == "invalid_grant"
    market.control("reset")
    assert works(market, demo)


def test_the_token_operation_has_faults_too(market: Market) -> None:
    market.fault("token", "http500", count=1)
    path = f"/openapi/http/1/system.oauth2/getToken/{KEYS['sandbox'].key}"

    assert market.client.post(path, data={}).status_code == 500
    assert market.client.post(path, data={}).status_code == 400


def test_pages_of_other_sites_are_not_in_control(market: Market) -> None:
    number = market.order(cargo())

    answer = market.client.post("/_control/reset", headers={"origin": "https://elsewhere.example"})

    assert answer.status_code == 403
    assert market.status(number) == "waitbuyerpay"


def test_apps_by_environment() -> None:
    made = apps.read("mine:alibaba:77:s3cret, other:taobao:88:a:b")

    assert [(app.name, app.dialect, app.key, app.secret) for app in made] == [
        ("mine", Dialect.ALIBABA, "77", "s3cret"),
        ("other", Dialect.TAOBAO, "88", "a:b"),
    ]
    assert made[0].access_token == "mine-demo-access-token"
    assert apps.read("") == apps.DEFAULT


@pytest.mark.parametrize("text", ["mine", "a:b:c:d", "a:alibaba:1:x,a:alibaba:2:x"])
def test_apps_that_make_no_sense(text: str) -> None:
    with pytest.raises(apps.BadApps, match="name:dialect:key:secret"):
        apps.read(text)
