"""Forged cursors: 400 in every list, and never a server error."""

import base64
import re
import struct
import time
from collections.abc import Iterator
from typing import Any

import httpx
import msgspec
import pytest
from kit import scorecard
from kit.system import ADDRESS, System
from kit.webhook_endpoint import running_endpoint

from tradewind.auth.model import Role
from tradewind.runtime.api import reference

pytestmark = pytest.mark.xdist_group("system")

_PATIENCE_SECONDS = 20.0


def timestamp(seconds: int) -> msgspec.msgpack.Ext:
    return msgspec.msgpack.Ext(-1, struct.pack(">Iq", 0, seconds))


# None of these can stand in a cursor in place of an id, a time or a number that is really there.
FORGED: list[Any] = [
    *(None, True, 2**63, 2**64 - 1, 1.5, float("nan"), float("inf"), "", "x", "a\0b", b"\0" * 16),
    *("2026-01-01T00:00:00", "2026-01-01T00:00:00Z", [], {}, [[]]),
    *map(timestamp, (253402300800, 253402214400, -62135596800, 2**62)),
]


@pytest.fixture
def filled(system: System) -> Iterator[tuple[System, dict[str, str]]]:
    """Somebody with two of everything that is listed; what stands for an id in a path."""
    person = system.api.person(roles=(Role.BUYER, Role.APPROVER, Role.OPERATOR))
    mine = System(system.api, system.market, person, system.approver, system.skus)
    with running_endpoint() as endpoint:
        endpoint.answer = lambda _: 500
        hooks = [mine.ok("POST", "/v1/webhooks", json={"url": endpoint.url()}) for _ in "ab"]
        key = mine.ok("POST", "/v1/api-keys", json={"name": "second"})
        system.api.launcher.secrets |= {key["key"], *(hook["secret"] for hook in hooks)}
        orders = [mine.order() for _ in "ab"]
        recover = f"/v1/webhooks/{hooks[0]['id']}/recover"
        for _ in "ab":
            job = mine.ok("POST", recover, json={"since": "2026-01-01T00:00:00Z"})
            mine.ok("DELETE", f"{recover}/{job['id']}")
        for order in orders:
            mine.request_payment(order["id"])
        mine.ok("DELETE", f"/v1/orders/{orders[0]['id']}/payment")
        mine.request_payment(orders[0]["id"])
        for _ in "ab":
            mine.ok("POST", "/v1/addresses", json=ADDRESS)
        fields = ("product_id", "quantity", *ADDRESS)
        made = mine.ok(
            "POST",
            "/v1/imports?platform=sandbox",
            content=",".join(fields) + 2 * ("\n" + "x," * len(fields)),
            headers={"content-type": "text/csv"},
        )
        yield (
            mine,
            {"orders": orders[0]["id"], "webhooks": hooks[0]["id"], "imports": made["id"]},
        )


def lists() -> Iterator[tuple[str, str, list[dict[str, str]]]]:
    """Every list of the API: its path, the parameter of its cursor, and ways to sort and filter."""
    document = reference()
    for path, operations in document["paths"].items():
        parameters = [
            _resolved(document, item) for item in operations.get("get", {}).get("parameters", [])
        ]
        if path == "/v1/events/stream":  # it gives out no cursors, and takes those of /v1/events
            continue
        queries = {
            parameter["name"]: parameter["schema"]
            for parameter in parameters
            if parameter["in"] == "query"
        }
        for name in queries.keys() & {"cursor", "after"}:
            ways: list[dict[str, str]] = [{}]
            for other, schema in queries.items():
                values = _resolved(document, schema.get("items", schema)).get("enum", ())
                ways += [{other: value} for value in values]
            yield path, name, ways


def _resolved(document: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """What a reference leads to; anything else is itself."""
    for step in schema.get("$ref", "").split("/")[1:]:
        document = document[step]
    return document if "$ref" in schema else schema


def genuine(client: httpx.Client, path: str, name: str, ways: list[dict[str, str]]) -> list[Any]:
    """The cursors of a list, one of each kind that it gives out, with what was asked for them."""
    result: dict[Any, tuple[str, dict[str, str], str, str]] = {}
    for way in ways:
        answer = client.get(path, params={**way, "limit": 1})
        assert answer.status_code == 200, answer.text
        cursor = answer.json()["next_cursor"]
        if cursor is not None:
            again = client.get(path, params={**way, "limit": 1, name: cursor})
            assert again.status_code == 200, again.text
            result.setdefault(_kind(cursor), (path, way, name, cursor))
    return list(result.values())


def _kind(cursor: str) -> Any:
    return _opened(cursor)[0]


def _opened(cursor: str) -> list[Any]:
    raw: list[Any] = msgspec.msgpack.decode(base64.urlsafe_b64decode(cursor))
    return raw


def _closed(value: Any) -> str:
    return base64.urlsafe_b64encode(msgspec.msgpack.encode(value)).decode()


def forgeries(cursor: str) -> Iterator[str]:
    """Whatever can be made of a cursor that nobody gave out."""
    yield from ("", "x", "AAAA", "ä", "null", "0", cursor[:1], cursor[: len(cursor) // 2])
    yield from (cursor[:-1], cursor + "A", cursor + "=", cursor + "\n", " " + cursor, cursor * 2)
    raw = base64.urlsafe_b64decode(cursor)
    yield from (base64.urlsafe_b64encode(other).decode() for other in (raw[:-1], raw + b"\0"))
    name, key, *_ = _opened(cursor)
    yield from map(_closed, ([name], [key], [name, key, key], [name + "x", key], [None, key], name))
    parts = key if isinstance(key, list) else [key]
    for index in range(len(parts)):
        for value in FORGED:
            changed = [*parts[:index], value, *parts[index + 1 :]]
            yield _closed([name, changed if isinstance(key, list) else changed[0]])
    if isinstance(key, list):
        yield from (_closed([name, key[:-1]]), _closed([name, [*key, 1]]), _closed([name, key[0]]))


def test_a_cursor_that_a_list_did_not_give_out_is_malformed(
    filled: tuple[System, dict[str, str]],
) -> None:
    system, ids = filled
    client = httpx.Client(base_url=system.api.url, headers=system.buyer.headers, timeout=10)
    problems: list[str] = []
    result: list[tuple[str, dict[str, str], str, str]] = []
    with scorecard.kept_for_later(problems):
        for template, name, ways in lists():
            path = re.sub(r"\{\w+\}", ids.get(template.split("/")[2], ""), template)
            deadline = time.monotonic() + _PATIENCE_SECONDS
            while not (cursors := genuine(client, path, name, ways)):
                assert time.monotonic() < deadline, f"Give {template} two rows to list."
                time.sleep(0.1)
            result += cursors

    asked = 0
    wrong: list[tuple[str, dict[str, str], str, str]] = []
    for path, way, name, cursor in result:
        others = [other for _, _, _, other in result if _kind(other) != _kind(cursor)]
        for forged in (*forgeries(cursor), *others):
            answer = client.get(path, params={**way, name: forged})
            asked += 1
            if (answer.status_code, answer.json().get("code")) != (400, "malformed_cursor"):
                wrong.append((path, way, forged, answer.text))
    client.close()

    scorecard.record(20, asked, violations=len(wrong) + len(problems))
    assert problems == []
    assert len(result) >= 15
    assert wrong == []
