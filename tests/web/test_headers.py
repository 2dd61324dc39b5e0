"""Headers that allow one value only, and conditional requests."""

import httpx
import pytest
from kit.server import Server
from kit.system import System

from tradewind.web.conditional import matches
from tradewind.web.request import Request

pytestmark = pytest.mark.xdist_group("system")


def get_me(api: Server, *headers: tuple[str, str]) -> httpx.Response:
    return httpx.get(f"{api.url}/v1/me", headers=list(headers), timeout=10)


def test_two_different_credentials_in_one_header_are_rejected(api: Server) -> None:
    person, other = api.person(), api.person()
    tokens = [api.login(item)["access_token"] for item in (person, other)]
    pairs = {
        "x-api-key": (person.key, other.key),
        "authorization": (f"Bearer {tokens[0]}", f"Bearer {tokens[1]}"),
    }
    for name, (pair, another) in pairs.items():
        for second in (another, "", "nonsense"):
            for values in ((pair, second), (second, pair)):
                answer = get_me(api, *((name, value) for value in values))
                assert (answer.status_code, answer.json()["code"]) == (400, "duplicate_header")
                assert name in answer.json()["detail"]
        same = get_me(api, (name, pair), (name.title(), pair))
        assert (same.status_code, same.json()["id"]) == (200, person.id)


def test_two_different_idempotency_keys_are_rejected_and_nothing_is_ordered(system: System) -> None:
    key = "idempotency-key"
    body = system.order_body()
    url = f"{system.api.url}/v1/orders"
    by = list(system.buyer.headers.items())

    answer = httpx.post(url, headers=[*by, (key, "one"), (key, "two")], json=body, timeout=10)
    assert (answer.status_code, answer.json()["code"]) == (400, "duplicate_header")
    assert key in answer.json()["detail"]
    assert system.ok("GET", "/v1/orders")["items"] == []

    same = httpx.post(url, headers=[*by, (key, "one"), (key, "one")], json=body, timeout=10)
    assert same.status_code == 201


def test_an_order_that_a_client_has_already_is_not_sent_again(system: System) -> None:
    order = system.order()
    path = f"/v1/orders/{order['id']}"
    tag = system.call("GET", path).headers["etag"]
    strong = tag.removeprefix("W/")

    for known in ("*", tag, strong, f'"a,b", {tag}', f'W/"x",{strong} , "y"'):
        answer = system.call("GET", path, headers={"if-none-match": known})
        assert (answer.status_code, answer.headers["etag"], answer.content) == (304, tag, b"")
    for unknown in ('"*"', '"x"', strong.strip('"'), "", f'"{strong}', f"w/{strong[1:]}"):
        assert system.call("GET", path, headers={"if-none-match": unknown}).status_code == 200


@pytest.mark.parametrize(
    ("lines", "known"),
    [
        ([], False),
        (["*"], True),
        ([" * "], True),
        (["*", "*"], False),
        (['"x"', 'W/"1"'], True),
        (['"x, W/", "1"'], True),
        (['"x"1"'], False),
        (['"11"'], False),
        (['""'], False),
    ],
)
def test_a_list_of_entity_tags_is_read_as_rfc_9110_has_it(lines: list[str], *, known: bool) -> None:
    headers = [(b"if-none-match", line.encode()) for line in lines]
    scope = {
        "type": "http",
        "method": "GET",
        "path": "/",
        "query_string": b"",
        "headers": headers,
    }

    async def receive() -> dict[str, object]:
        raise AssertionError("nothing is read")

    assert matches(Request(scope, receive, ()), 'W/"1"') is known
