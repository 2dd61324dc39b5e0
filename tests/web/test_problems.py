"""Problem documents: every error is one, and has its page."""

import socket
from html import escape
from typing import Any

import httpx
import pytest
from kit.pages import Pages
from kit.server import Server

from tradewind.web import problems


def assert_is_problem(answer: httpx.Response, status: int, code: str) -> dict[str, Any]:
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    problem: dict[str, Any] = answer.json()
    assert problem["status"] == status
    assert problem["code"] == code
    assert problem["title"]
    assert problem["detail"].endswith((".", "!", "?"))
    assert problem["request_id"] == answer.headers["x-request-id"]
    return problem


def test_an_unknown_path(api: Server) -> None:
    for path in ("/v1", "/v1/", "/v1/nope", "/v1/me/", "//v1/me", "/v1/api-keys//x"):
        assert_is_problem(api.call("GET", path), 404, "route_not_found")


def test_an_encoded_slash_is_no_slash(api: Server) -> None:
    assert_is_problem(api.call("GET", "/v1%2Fme", by=api.person()), 404, "route_not_found")


def test_a_body_that_breaks_off_is_not_acted_on(api: Server) -> None:
    person = api.person()
    url = httpx.URL(api.url)
    with socket.create_connection((url.host, url.port or 80), timeout=10) as connection:
        connection.sendall(
            b"POST /v1/api-keys HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
            b"transfer-encoding: chunked\r\nx-api-key: " + person.key.encode() + b"\r\n\r\n"
            b'14\r\n{"name":"truncated"}\r\nnonsense\r\n'
        )
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(4096):
            pass

    keys = api.call("GET", "/v1/api-keys", by=person).json()["items"]
    assert [key["name"] for key in keys] == ["test"]


def test_a_method_that_a_path_does_not_have(api: Server) -> None:
    answer = api.call("PUT", "/v1/api-keys")

    assert_is_problem(answer, 405, "method_not_allowed")
    assert answer.headers["allow"] == "GET, HEAD, OPTIONS, POST"


def test_head_is_get_without_the_body(api: Server) -> None:
    person = api.person()

    head, get = (api.call(method, "/v1/me", by=person) for method in ("HEAD", "GET"))

    assert head.status_code == 200
    assert head.content == b""
    assert head.headers["content-type"] == get.headers["content-type"]


@pytest.mark.parametrize("content_type", [None, "text/plain", "application/x-www-form-urlencoded"])
def test_a_body_that_is_not_said_to_be_json(api: Server, content_type: str | None) -> None:
    headers = {"content-type": content_type} if content_type else {}
    answer = api.call("POST", "/v1/auth/login", content=b"{}", headers=headers)

    assert_is_problem(answer, 415, "unsupported_media_type")


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"nonsense", b'{"a": NaN}', b"\xff\xfe", b'{"email": "\xff"}', b"[" * 5000],
)
def test_a_body_that_is_not_json(api: Server, content: bytes) -> None:
    headers = {"content-type": "application/json; charset=utf-8"}

    answer = api.call("POST", "/v1/auth/login", content=content, headers=headers)

    assert answer.status_code in {400, 422}
    assert answer.headers["content-type"] == "application/problem+json"


def test_a_body_that_is_too_long(api: Server) -> None:
    headers = {"content-type": "application/json"}
    fits = b'{"email":"' + b"x" * (256 * 1024 - 12) + b'"}'

    longest = api.call("POST", "/v1/auth/login", content=fits, headers=headers)
    longer = api.call("POST", "/v1/auth/login", content=fits + b" ", headers=headers)
    streamed = api.call("POST", "/v1/auth/login", content=iter([fits, b" "]), headers=headers)

    assert_is_problem(longest, 422, "validation_failed")
    assert_is_problem(longer, 413, "body_too_large")
    assert_is_problem(streamed, 413, "body_too_large")


@pytest.mark.parametrize(
    ("body", "pointer", "code"),
    [
        ({"email": "a@b.example"}, "/password", "missing"),
        ({"email": 1, "password": "x"}, "/email", "invalid"),
        ({"email": "a@b.example", "password": "x", "otp": 1}, "/otp", "unknown"),
        ([], "", "invalid"),
        ({"email": "a\0b", "password": "x"}, "/email", "invalid"),
    ],
)
def test_a_wrong_field_is_named(api: Server, body: Any, pointer: str, code: str) -> None:
    answer = api.call("POST", "/v1/auth/login", json=body)

    problem = assert_is_problem(answer, 422, "validation_failed")
    assert [(e["pointer"], e["code"]) for e in problem["errors"]] == [(pointer, code)]
    assert all(e["message"].endswith(".") for e in problem["errors"])


@pytest.mark.parametrize(
    ("path", "pointer"),
    [
        ("/v1/api-keys?limit=0", "?limit"),
        ("/v1/api-keys?limit=101", "?limit"),
        ("/v1/api-keys?limit=ten", "?limit"),
        ("/v1/api-keys?page=2", "?page"),
        ("/v1/api-keys?limit=1&limit=2", "?limit"),
        ("/v1/me?verbose=1", "?verbose"),
        ("/v1/me?verbose", "?verbose"),
    ],
)
def test_a_wrong_query_parameter_is_named(api: Server, path: str, pointer: str) -> None:
    answer = api.call("GET", path, by=api.person())

    problem = assert_is_problem(answer, 422, "validation_failed")
    assert problem["errors"][0]["pointer"] == pointer


def test_outside_the_api_unknown_parameters_are_ignored(api: Server) -> None:
    for path in ("/healthz?x=1", "/readyz?x=%ff&x", "/docs?utm_source=mail", "/openapi.json?v=2"):
        assert api.call("GET", path).status_code == 200, path
    pages = Pages(api, api.person())
    for query in ("utm_source=mail", "utm_source=%ff&utm_source=x&fbclid", "a=%00"):
        for path in ("/", "/orders", "/keys", "/webhooks"):
            assert pages.get(f"{path}?{query}").status_code == 200, (path, query)
    assert pages.get("/webhooks?limit=none&utm_source=mail").status_code == 422
    pages.client.close()


def test_a_cursor_made_by_hand_is_rejected(api: Server) -> None:
    for cursor in ("x", "AAAA", "ä", "%00"):
        answer = api.call("GET", f"/v1/api-keys?cursor={cursor}", by=api.person())
        assert answer.status_code in {400, 422}, cursor
    answer = api.call("GET", "/v1/api-keys?cursor=AAAA", by=api.person())
    assert_is_problem(answer, 400, "malformed_cursor")


def test_credentials_are_looked_at_before_the_request(api: Server) -> None:
    answer = api.call("POST", "/v1/api-keys?x=1", content=b"nonsense")

    assert_is_problem(answer, 401, "credentials_missing")


def test_an_endpoint_without_a_body_needs_none_and_any_accept_will_do(api: Server) -> None:
    token = api.login(api.person())["access_token"]

    answer = api.call("POST", "/v1/auth/logout", token=token, headers={"accept": "image/png"})

    assert answer.status_code == 204


def test_every_kind_of_problem_has_a_page(api: Server) -> None:
    codes = problems.catalogue()
    assert len(codes) > 20

    listed = api.call("GET", "/problems").text
    for code, kind in codes.items():
        page = api.call("GET", f"/problems/{code}")
        assert page.status_code == 200
        assert page.headers["content-type"].startswith("text/html")
        assert escape(kind.title) in page.text
        assert f"/problems/{code}" in listed
    assert_is_problem(api.call("GET", "/problems/nonsense"), 404, "route_not_found")


def test_the_type_of_a_problem_opens_its_page(api: Server) -> None:
    problem = api.call("GET", "/v1/me").json()

    page = httpx.get(problem["type"])

    assert page.status_code == 200
    assert "Credentials are missing" in page.text
