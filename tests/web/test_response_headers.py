"""The headers of every response: caching and HTTPS."""

import httpx
import pytest
from kit.server import Server
from kit.system import System

from tradewind.runtime.api import endpoints

HSTS = "strict-transport-security"
_READS = [
    endpoint.path
    for endpoint in endpoints()
    if endpoint.method == "GET" and endpoint.path.startswith("/v1/") and "{" not in endpoint.path
]


def test_no_cache_keeps_what_the_api_answers(api: Server) -> None:
    operator = api.operator()
    assert len(_READS) > 5

    for path in _READS:
        answer = api.client.get(path, headers=operator.headers)

        assert answer.headers.get_list("cache-control") == ["no-store"], path
        assert answer.headers.get_list("vary") == ["Authorization, X-Api-Key"], path


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v1/me", 401),
        ("GET", "/v1/nowhere", 404),
        ("GET", "/v1", 404),
        ("PATCH", "/v1/me", 405),
        ("OPTIONS", "/v1/me", 204),
        ("POST", "/v1/auth/login", 415),
    ],
)
def test_no_cache_keeps_an_error(api: Server, method: str, path: str, status: int) -> None:
    answer = api.client.request(method, path)

    assert answer.status_code == status
    assert answer.headers.get_list("cache-control") == ["no-store"]
    assert answer.headers.get_list("vary") == ["Authorization, X-Api-Key"]


@pytest.mark.xdist_group("system")
def test_an_order_is_kept_by_its_reader_alone_and_asked_for_again(system: System) -> None:
    order = system.order()
    first: httpx.Response = system.call("GET", f"/v1/orders/{order['id']}")
    again: httpx.Response = system.call(
        "GET", f"/v1/orders/{order['id']}", headers={"if-none-match": first.headers["etag"]}
    )

    assert (first.status_code, again.status_code) == (200, 304)
    for answer in (first, again):
        assert answer.headers.get_list("cache-control") == ["private, no-cache"]
        assert answer.headers.get_list("vary") == ["Authorization, X-Api-Key"]


@pytest.mark.parametrize(
    ("path", "vary"),
    [("/orders", ["Cookie"]), ("/nowhere", ["Accept, Cookie"]), ("/docs", []), ("/healthz", [])],
)
def test_pages_depend_on_the_session_and_public_files_on_nothing(
    api: Server, path: str, vary: list[str]
) -> None:
    answer = api.client.get(path)

    assert answer.headers.get_list("vary") == vary


@pytest.mark.parametrize("path", ["/v1/me", "/v1/nowhere", "/sign-in", "/docs", "/healthz"])
def test_browsers_are_told_to_stay_with_https_where_that_is_the_public_url(
    api: Server, configured_api: Server, path: str
) -> None:
    secured = configured_api.client.get(path)

    assert secured.headers.get_list(HSTS) == ["max-age=31536000"]
    assert HSTS not in api.client.get(path).headers
