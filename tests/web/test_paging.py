"""Paging: every row once, whatever is added meanwhile."""

import base64
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kit.server import Person, Server

from tradewind import ids
from tradewind.web.paging import MalformedCursor, page, read_cursor, write_cursor


def make_keys(api: Server, person: Person, count: int) -> list[str]:
    """Make API keys; their ids, newest first."""
    made = []
    for number in range(count):
        answer = api.call("POST", "/v1/api-keys", by=person, json={"name": f"key {number}"})
        assert answer.status_code == 201, answer.text
        api.launcher.secrets.add(answer.json()["key"])
        made.append(answer.json()["id"])
    return made[::-1]


def get_page(api: Server, person: Person, **query: Any) -> dict[str, Any]:
    answer = api.call("GET", "/v1/api-keys", by=person, params=query)
    assert answer.status_code == 200, answer.text
    result: dict[str, Any] = answer.json()
    return result


def test_a_walk_meets_every_row_once_while_rows_are_added(api: Server) -> None:
    person = api.person()
    there = make_keys(api, person, 10) + [
        item["id"] for item in get_page(api, person)["items"][-1:]
    ]

    met, cursor = [], None
    for _ in range(10):
        result = get_page(api, person, limit=4, **({"cursor": cursor} if cursor else {}))
        met.append([item["id"] for item in result["items"]])
        cursor = result["next_cursor"]
        assert result["has_more"] == (cursor is not None)
        if cursor is None:
            break
        make_keys(api, person, 2)

    assert met == [there[0:4], there[4:8], there[8:11]]
    assert len(get_page(api, person, limit=100)["items"]) == 11 + 2 * 2


def test_a_page_asked_for_twice_is_the_same_page(api: Server) -> None:
    person = api.person()
    make_keys(api, person, 3)
    cursor = get_page(api, person, limit=2)["next_cursor"]

    once = get_page(api, person, limit=1, cursor=cursor)
    make_keys(api, person, 1)

    assert get_page(api, person, limit=1, cursor=cursor) == once


def test_a_list_that_just_fills_its_page_has_no_other(api: Server) -> None:
    person = api.person()
    make_keys(api, person, 2)

    result = get_page(api, person, limit=3)

    assert len(result["items"]) == 3
    assert (result["has_more"], result["next_cursor"]) == (False, None)


def test_without_a_limit_a_page_has_twenty_items(api: Server) -> None:
    person = api.person()
    make_keys(api, person, 20)

    assert len(get_page(api, person)["items"]) == 20


@pytest.mark.parametrize("limit", ["0", "101", "-1", "many", "", "1.5"])
def test_a_limit_is_1_to_100(api: Server, limit: str) -> None:
    answer = api.call("GET", "/v1/api-keys", by=api.person(), params={"limit": limit})

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == "?limit"


def test_a_cursor_of_another_list_is_rejected(api: Server) -> None:
    operator = api.operator()
    make_keys(api, operator, 1)
    cursor = get_page(api, operator, limit=1)["next_cursor"]

    answer = api.call("GET", "/v1/admin/accounts", by=operator, params={"cursor": cursor})

    assert answer.status_code == 400
    assert answer.json()["code"] == "malformed_cursor"
    assert answer.json()["detail"] == "The cursor is not a `next_cursor` of this list."


@pytest.mark.parametrize(
    "cursor",
    [
        "",
        "x",
        "!!!!",
        "żółw",
        "AAAA",
        "kqhhcGkta2V5c8E=",  # the right list, and then no id
        base64.urlsafe_b64encode(b"\x92\xa8api-keys\xa1\xff").decode(),  # text that is not UTF-8
        base64.urlsafe_b64encode(b"\x92\xa1\xff\xa1x").decode(),
    ],
)
def test_garbage_is_no_cursor(api: Server, cursor: str) -> None:
    answer = api.call("GET", "/v1/api-keys", by=api.person(), params={"cursor": cursor})

    assert answer.status_code == 400
    assert answer.json()["code"] == "malformed_cursor"


def test_a_cursor_is_read_back_as_the_key_that_it_was_made_of() -> None:
    key = ids.new()

    cursor = write_cursor("orders", key)

    assert read_cursor("orders", cursor, UUID) == key
    assert read_cursor("orders", None, UUID) is None
    with pytest.raises(MalformedCursor):
        read_cursor("events", cursor, UUID)


def test_a_cursor_with_a_key_of_another_type_is_rejected() -> None:
    with pytest.raises(MalformedCursor):
        read_cursor("orders", write_cursor("orders", 17), UUID)


@settings(deadline=None)
@given(st.text(max_size=60))
def test_no_text_does_worse_than_to_be_rejected(text: str) -> None:
    with pytest.raises(MalformedCursor):
        read_cursor("orders", text, UUID)


@settings(deadline=None)
@given(st.binary(max_size=60))
def test_no_bytes_do_worse_than_to_be_rejected(raw: bytes) -> None:
    with pytest.raises(MalformedCursor):
        read_cursor("orders", base64.urlsafe_b64encode(raw).decode(), UUID)


@pytest.mark.parametrize(
    ("rows", "items", "more"), [([], [], False), ([3, 2], [3, 2], False), ([3, 2, 1], [3, 2], True)]
)
def test_a_page_is_made_of_one_row_more_than_it_shows(
    rows: list[int], items: list[int], *, more: bool
) -> None:
    made = page("numbers", rows, 2, key=lambda row: row, show=lambda row: row)

    assert made.items == items
    assert made.has_more is more
    assert made.next_cursor == (write_cursor("numbers", 2) if more else None)
