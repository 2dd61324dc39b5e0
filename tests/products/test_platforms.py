"""Marketplaces over HTTP: the list, and what operators can set."""

from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import pytest
from kit.server import Server, ServerLauncher
from products.conftest import Shop
from simulator.sandbox_kit import KEYS, Market

pytestmark = pytest.mark.xdist_group("shop")


def test_every_marketplace_is_listed_with_what_it_can(shop: Shop) -> None:
    answer = shop.api.call("GET", "/v1/platforms", by=shop.buyer)

    assert answer.status_code == 200
    listed = {item["platform"]: item for item in answer.json()["items"]}
    assert set(listed) == {"sandbox", "alibaba", "taobao"}
    assert all(item["configured"] and item["simulated"] for item in listed.values())
    assert {item["connection"] for item in listed.values()} == {"connected"}
    assert "pay_link" in listed["alibaba"]["capabilities"]
    assert "pay_link" not in listed["taobao"]["capabilities"]


def test_what_is_not_set_up_says_so(api: Server) -> None:
    person = api.person()

    listed = api.call("GET", "/v1/platforms", by=person).json()["items"]
    search = api.call(
        "POST", "/v1/products/search", by=person, json={"q": "dress", "platform": "taobao"}
    )
    sandbox = api.call(
        "POST", "/v1/products/search", by=person, json={"q": "dress", "platform": "sandbox"}
    )

    assert {item["configured"] for item in listed} == {False}
    assert {item["simulated"] for item in listed} == {False}
    assert search.status_code == sandbox.status_code == 422
    assert search.json()["code"] == sandbox.json()["code"] == "platform_not_configured"


def test_only_operators_see_a_connection_and_nobody_sees_its_secrets(shop: Shop) -> None:
    path = "/v1/admin/platforms/alibaba"
    assert shop.api.call("GET", path, by=shop.buyer).status_code == 403

    answer = shop.api.call("GET", path, by=shop.api.operator())

    assert answer.status_code == 200
    shown = answer.json()
    assert shown["app_key"] == KEYS["alibaba"].key
    assert shown["connection"] == "connected"
    assert shown["authorize_url"].startswith(f"{shop.market.url}/oauth/authorize?client_id=")
    for secret in (KEYS["alibaba"].secret, KEYS["alibaba"].access_token):
        assert secret not in answer.text
    row = dict(shop.api.fetch("SELECT * FROM platform_connection WHERE platform = 'alibaba'")[0])
    assert KEYS["alibaba"].secret not in str(row)
    assert KEYS["alibaba"].secret.encode() not in row["app_secret"]


@pytest.fixture(scope="module")
def server_without_connections(launcher: ServerLauncher, simulator: Market) -> Iterator[Server]:
    settings = {"TRADEWIND_PLATFORM_ALIBABA_URL": simulator.url}
    with launcher.serving(workers=1, settings=settings) as api:
        yield api


@pytest.fixture
def unconnected(server_without_connections: Server) -> Iterator[Server]:
    """A server that is connected with no marketplace when a test begins."""
    yield server_without_connections
    server_without_connections.fetch("DELETE FROM platform_connection")


def test_an_operator_connects_and_disconnects_a_marketplace(
    unconnected: Server, simulator: Market
) -> None:
    api = unconnected
    operator = api.operator()
    app = KEYS["alibaba"]
    path = "/v1/admin/platforms/1688"
    search = {"q": "dress", "platform": "alibaba"}

    early = api.call("POST", path, by=operator, json={"code": "x"})
    assert early.status_code == 422
    assert early.json()["errors"][0]["pointer"] == "/app_key"

    body = {"app_key": app.key, "app_secret": app.secret}
    made = api.call("POST", path, by=operator, json=body)
    assert made.json()["connection"] == "none"
    refused = api.call("POST", "/v1/products/search", by=operator, json=search)
    assert refused.status_code == 503
    assert refused.json()["code"] == "platform_auth_expired"

    without = api.call("POST", path, by=operator, json={"code": "nonsense"})
    assert without.status_code == 422
    assert without.json()["errors"][0]["pointer"] == "/state"
    state = agreed(simulator, made.json()["authorize_url"])[1]
    wrong = api.call("POST", path, by=operator, json={"code": "nonsense", "state": state})
    assert wrong.status_code == 422
    assert wrong.json()["errors"][0]["pointer"] == "/code"

    tokens = {"access_token": app.access_token, "refresh_token": app.refresh_token}
    assert api.call("POST", path, by=operator, json=tokens).json()["connection"] == "connected"
    assert api.call("POST", "/v1/products/search", by=operator, json=search).status_code == 200

    assert api.call("DELETE", path, by=operator).status_code == 204
    assert api.call("GET", path, by=operator).status_code == 422
    log = api.call("GET", "/v1/admin/audit", by=operator)
    actions = [entry["action"] for entry in log.json()["items"]]
    assert actions[:3] == ["platform.disconnected", "platform.connected", "platform.connected"]
    assert app.secret not in log.text


def agreed(simulator: Market, authorize_url: str) -> tuple[str, str]:
    """Agree at the simulated marketplace: the code and the state that it leads back with."""
    asked = urlsplit(authorize_url).query
    answer = simulator.client.get(f"/oauth/authorize?{asked}")
    back = parse_qs(urlsplit(answer.headers["location"]).query)
    return back["code"][0], back["state"][0]


def test_a_code_is_redeemed_once_and_only_by_the_credential_that_began(
    unconnected: Server, simulator: Market
) -> None:
    api = unconnected
    operator, other = api.operator(), api.operator()
    app = KEYS["alibaba"]
    path = "/v1/admin/platforms/alibaba"
    made = api.call("POST", path, by=operator, json={"app_key": app.key, "app_secret": app.secret})
    code, state = agreed(simulator, made.json()["authorize_url"])
    api.launcher.secrets.add(code)
    redeem = {"code": code, "state": state}

    foreign = api.call("POST", path, by=other, json=redeem)
    session = api.call("POST", path, token=api.login(operator)["access_token"], json=redeem)
    elsewhere = api.call("POST", path.replace("alibaba", "taobao"), by=operator, json=redeem)
    unchanged = api.call("GET", path, by=other).json()["connection"]
    mine = api.call("POST", path, by=operator, json=redeem)
    again = api.call("POST", path, by=operator, json=redeem)

    for refused in (foreign, session, again):
        assert refused.status_code == 422
        assert refused.json()["errors"][0]["pointer"] == "/state"
    assert elsewhere.status_code == 422
    assert unchanged == "none"
    assert mine.status_code == 200
    assert mine.json()["connection"] == "connected"


def test_settings_for_a_marketplace_that_does_not_exist_are_refused(
    launcher: ServerLauncher,
) -> None:
    settings = {"TRADEWIND_PLATFORM_AMAZON_URL": "https://example.com"}
    with pytest.raises(AssertionError, match="do not exist: amazon"):  # noqa: SIM117
        with launcher.serving(workers=1, settings=settings):
            pass
