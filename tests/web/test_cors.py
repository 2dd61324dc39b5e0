"""CORS: pages of the configured origins may call the API, and no others."""

import pytest
from kit.server import Server

SHOP = "https://shop.example"
LOCAL = "http://localhost:3000"
ASKING = {"access-control-request-method": "POST", "access-control-request-headers": "x-api-key"}


@pytest.mark.parametrize("origin", [SHOP, LOCAL])
def test_a_page_of_an_allowed_origin_may_read_the_answer(
    configured_api: Server, origin: str
) -> None:
    answer = configured_api.call(
        "GET", "/v1/me", by=configured_api.person(), headers={"origin": origin}
    )

    assert answer.status_code == 200
    assert answer.headers["access-control-allow-origin"] == origin
    assert answer.headers["vary"] == "Authorization, X-Api-Key, Origin"
    assert "RateLimit" in answer.headers["access-control-expose-headers"].split(", ")
    assert "access-control-allow-credentials" not in answer.headers


def test_a_page_may_read_what_went_wrong(configured_api: Server) -> None:
    for path, status in (("/v1/me", 401), ("/v1/nowhere", 404)):
        answer = configured_api.call("GET", path, headers={"origin": SHOP})

        assert answer.status_code == status
        assert answer.headers["access-control-allow-origin"] == SHOP


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "http://shop.example",
        "https://shop.example:8443",
        "https://shop.example.evil.example",
        "https://SHOP.example",
        "null",
        "*",
        "",
    ],
)
def test_a_page_of_any_other_origin_may_not(configured_api: Server, origin: str) -> None:
    plain = configured_api.call("GET", "/healthz", headers={"origin": origin})
    preflight = configured_api.call("OPTIONS", "/v1/me", headers={"origin": origin, **ASKING})

    for answer in (plain, preflight):
        assert not [name for name in answer.headers if name.startswith("access-control-")]
        assert answer.headers["vary"].endswith("Origin")
    assert (plain.status_code, preflight.status_code) == (200, 204)


def test_a_call_that_is_no_pages_is_answered_without_permission(configured_api: Server) -> None:
    answer = configured_api.call("GET", "/healthz")

    assert "access-control-allow-origin" not in answer.headers
    assert answer.headers["vary"].endswith("Origin")


def test_the_question_before_a_request_is_answered_without_credentials(
    configured_api: Server,
) -> None:
    answer = configured_api.call("OPTIONS", "/v1/api-keys", headers={"origin": SHOP, **ASKING})

    assert answer.status_code == 204
    assert answer.content == b""
    assert answer.headers["access-control-allow-origin"] == SHOP
    assert answer.headers["access-control-allow-methods"] == "GET, HEAD, OPTIONS, POST"
    assert answer.headers["allow"] == "GET, HEAD, OPTIONS, POST"
    allowed = answer.headers["access-control-allow-headers"].lower().split(", ")
    assert {"authorization", "x-api-key", "content-type", "idempotency-key"} <= set(allowed)
    assert answer.headers["access-control-max-age"] == "600"
    assert answer.headers["vary"].endswith("Origin")


def test_options_without_the_question_only_lists_the_methods(configured_api: Server) -> None:
    answer = configured_api.call("OPTIONS", "/v1/me", headers={"origin": SHOP})

    assert answer.status_code == 204
    assert answer.headers["allow"] == "GET, HEAD, OPTIONS"
    assert "access-control-allow-methods" not in answer.headers


def test_where_no_origin_is_configured_nobody_is_allowed(api: Server) -> None:
    plain = api.call("GET", "/healthz", headers={"origin": SHOP})
    preflight = api.call("OPTIONS", "/v1/me", headers={"origin": SHOP, **ASKING})

    assert (plain.status_code, preflight.status_code) == (200, 204)
    for answer in (plain, preflight):
        assert not [name for name in answer.headers if name.startswith("access-control-")]
        assert "Origin" not in answer.headers.get("vary", "")
