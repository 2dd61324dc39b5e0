"""Inputs: every error has its pointer, and nothing malformed gets through."""

import asyncio
from datetime import UTC, datetime
from typing import Annotated, Any
from urllib.parse import quote

import httpx
import msgspec
import pytest
from kit.server import Server

from tradewind.errors import ApiError, ValidationFailed
from tradewind.web.inputs import (
    BODY_LIMIT,
    Input,
    Moment,
    body_reader,
    read_query,
    reject_query,
)
from tradewind.web.problems import BodyTooLarge, MalformedJson, UnsupportedMediaType
from tradewind.web.request import Request

NO_NUL = "Must not contain the character U+0000."


class Item(Input):
    """Something to buy."""

    sku: str
    quantity: Annotated[int, msgspec.Meta(ge=1)] = 1


class Basket(Input):
    """Several of them."""

    items: list[Item]
    note: str | None = None


class Filter(Input):
    """A query."""

    limit: int = 20
    words: list[str] | None = None
    ids: Annotated[list[str], msgspec.Meta(extra={"commas": False})] | None = None
    locked: bool | None = None
    after: Moment | None = None
    text: str | None = None


def read_body(
    raw: bytes, content_type: str = "application/json", *, form: bool = False, chunk: int = 65536
) -> Any:
    chunks = [raw[start : start + chunk] for start in range(0, len(raw), chunk)] or [b""]

    async def receive() -> dict[str, Any]:
        body = chunks.pop(0)
        return {"type": "http.request", "body": body, "more_body": bool(chunks)}

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/",
        "query_string": b"",
        "headers": [(b"content-type", content_type.encode())] if content_type else [],
    }
    read = body_reader(Filter if form else Basket, form=form)
    assert read
    return asyncio.run(_awaited(read(Request(scope, receive, ()))))


async def _awaited(work: Any) -> Any:
    return await work


def complaint(error: ApiError) -> dict[str, str]:
    [field_error] = error.facts["errors"]
    return dict(field_error)


def test_a_body_is_read_into_its_type_whatever_its_parts() -> None:
    raw = '{"items":[{"sku":"żółw","quantity":2},{"sku":"b"}]}'.encode()

    expected = Basket(items=[Item(sku="żółw", quantity=2), Item(sku="b")])

    assert read_body(raw) == expected
    assert read_body(raw, chunk=3) == expected
    assert read_body(raw, "Application/JSON; charset=utf-8") == expected


@pytest.mark.parametrize(
    ("raw", "pointer", "code", "message"),
    [
        (b"{}", "/items", "missing", "Is required."),
        (b'{"items":[{}]}', "/items/0/sku", "missing", "Is required."),
        (b'{"items":[{"sku":"a"},{}]}', "/items/1/sku", "missing", "Is required."),
        (b'{"items":[],"x":1}', "/x", "unknown", "Is not a known field."),
        (
            b'{"items":[{"sku":"a","x":1}]}',
            "/items/0/x",
            "unknown",
            "Is not a known field.",
        ),
        (b'{"items":[],"a/b~c":1}', "/a~1b~0c", "unknown", "Is not a known field."),
        (b'{"items":[],"a\\nb":1}', "/a\nb", "unknown", "Is not a known field."),
        (b'{"items":[],"":1}', "/", "unknown", "Is not a known field."),
        (b'{"items":[{"sku":1}]}', "/items/0/sku", "invalid", "Must be text."),
        (b'{"items":[null]}', "/items/0", "invalid", "Must be an object."),
        (
            b'{"items":[{"sku":"a","quantity":0}]}',
            "/items/0/quantity",
            "invalid",
            "Must be a whole number of at least 1.",
        ),
        (
            b'{"items":[{"sku":"a","quantity":"1"}]}',
            "/items/0/quantity",
            "invalid",
            "Must be a whole number of at least 1.",
        ),
        (b'{"items":{}}', "/items", "invalid", "Must be a list."),
        (b"[]", "", "invalid", "Must be an object."),
        (b"null", "", "invalid", "Must be an object."),
        (b'{"items":[{"sku":"a\\u0000b"}]}', "/items/0/sku", "invalid", NO_NUL),
        (b'{"items":[{"sku":"\\\\\\u0000"}]}', "/items/0/sku", "invalid", NO_NUL),
        (b'{"items":[],"\\u0000":1}', "/\0", "unknown", "Is not a known field."),
    ],
)
def test_a_wrong_field_is_named_by_its_pointer(
    raw: bytes, pointer: str, code: str, message: str
) -> None:
    with pytest.raises(ValidationFailed) as caught:
        read_body(raw)

    assert complaint(caught.value) == {"pointer": pointer, "code": code, "message": message}
    assert caught.value.detail == f"{pointer or 'The body'}: {message}"


def test_an_escaped_backslash_before_u0000_is_only_text() -> None:
    assert read_body(b'{"items":[{"sku":"\\\\u0000"}]}').items == [Item(sku="\\u0000")]


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{",
        b'{"items":[]} x',
        b'{"items":[],}',
        b"\xef\xbb\xbf{}",
        b'{"items":[{"sku":"\xff"}]}',  # not UTF-8
        b'{"items":[{"sku":"\xc0\x80"}]}',  # U+0000, spelled too long
        b'{"items":[{"sku":"\xed\xa0\x80"}]}',  # half of a pair of surrogates
        b'{"items":[{"sku":"\\ud800"}]}',
        b'{"items":[{"sku":"a\x00b"}]}',
        b"[" * 100_000,
    ],
)
def test_what_is_not_json_is_malformed(raw: bytes) -> None:
    with pytest.raises((MalformedJson, ValidationFailed)) as caught:
        read_body(raw)

    if raw[:1] != b"[":  # which is known to be wrong before its end is reached
        assert caught.type is MalformedJson
        assert caught.value.detail.startswith("The body is not JSON: ")


@pytest.mark.parametrize("content_type", ["", "text/plain", "application/jsonp", "json", "*/*"])
def test_a_body_says_that_it_is_json(content_type: str) -> None:
    with pytest.raises(UnsupportedMediaType) as caught:
        read_body(b'{"items":[]}', content_type)

    assert caught.value.detail == "Send the body with Content-Type: application/json."


@pytest.mark.parametrize("chunk", [1000, BODY_LIMIT, 10 * BODY_LIMIT])
def test_a_body_has_256_kib_at_most(chunk: int) -> None:
    frame = '{"items":[],"note":"%s"}'
    fits = (frame % ("x" * (BODY_LIMIT - len(frame) + 2))).encode()
    assert len(fits) == BODY_LIMIT

    assert len(read_body(fits, chunk=chunk).note) == BODY_LIMIT - len(frame) + 2
    with pytest.raises(BodyTooLarge):
        read_body(fits + b" ", chunk=chunk)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (b"", Filter()),
        (b"limit=5&words=a,b&locked=true", Filter(limit=5, words=["a", "b"], locked=True)),
        (b"words=a", Filter(words=["a"])),
        (b"words=a&words=b,c", Filter(words=["a", "b", "c"])),
        (b"ids=a,b", Filter(ids=["a,b"])),
        (b"ids=a,b&ids=c", Filter(ids=["a,b", "c"])),
        (b"text=", Filter(text="")),
        (b"text=a%20b+c%26d", Filter(text="a b c&d")),
        (b"text=%C5%BC%C3%B3%C5%82w", Filter(text="żółw")),
        ("text=żółw".encode(), Filter(text="żółw")),
        (b"text=a=b", Filter(text="a=b")),
        (
            b"after=2026-01-01T08:00:00%2B08:00",
            Filter(after=datetime(2026, 1, 1, tzinfo=UTC)),
        ),
    ],
)
def test_a_query_is_read_into_its_type(query: bytes, expected: Filter) -> None:
    assert read_query(query, Filter) == expected


@pytest.mark.parametrize(
    ("query", "pointer", "code"),
    [
        (b"limit=five", "?limit", "invalid"),
        (b"limit=", "?limit", "invalid"),
        (b"limit=1&limit=2", "?limit", "duplicate"),
        (b"limit=1&limit=1", "?limit", "duplicate"),
        (b"nope=1", "?nope", "unknown"),
        (b"nope", "?nope", "unknown"),
        (b"LIMIT=1", "?LIMIT", "unknown"),
        (b"locked=maybe", "?locked", "invalid"),
        (b"after=2026-01-01T00:00:00", "?after", "invalid"),  # no offset
        (b"after=2026-01-01T00:00:00+08:00", "?after", "invalid"),  # + is a blank here
        (b"after=yesterday", "?after", "invalid"),
        (b"text=a%00b", "?text", "invalid"),
        (b"text=%ff", "?", "invalid"),
        (b"text=\xff", "?", "invalid"),
        (b"text=%ED%A0%80", "?", "invalid"),
        (b"&".join(b"a%d=1" % number for number in range(201)), "?", "invalid"),
    ],
)
def test_a_wrong_parameter_is_named(query: bytes, pointer: str, code: str) -> None:
    with pytest.raises(ValidationFailed) as caught:
        read_query(query, Filter)

    error = complaint(caught.value)
    assert (error["pointer"], error["code"]) == (pointer, code)
    assert error["message"].endswith(".")


def test_where_no_parameters_are_taken_every_one_is_unknown() -> None:
    with pytest.raises(ValidationFailed) as caught:
        reject_query(b"verbose=1&more=2&verbose=2")

    pointers = [(error["pointer"], error["code"]) for error in caught.value.facts["errors"]]
    assert pointers == [("?verbose", "unknown"), ("?more", "unknown")]


class Pieces(Input):
    """Quantities by variant."""

    pieces: dict[str, int] = msgspec.field(default_factory=dict)


def test_a_page_sends_the_members_of_a_map_by_name() -> None:
    query = b"pieces[red]=2&pieces[a%5Db%5B]=3&pieces[none]=&other[x]=1&pieces]=4"

    assert read_query(query, Pieces, page=True).pieces == {"red": 2, "a]b[": 3}
    with pytest.raises(ValidationFailed) as rejected:
        read_query(b"pieces[red]=many", Pieces, page=True)
    assert rejected.value.errors[0].pointer == "?pieces/red"
    with pytest.raises(ValidationFailed):
        read_query(b"pieces[red]=2", Pieces)
    with pytest.raises(ValidationFailed):
        read_query(b"pieces=2", Pieces, page=True)


def test_a_form_is_read_like_a_query_and_named_like_a_body() -> None:
    kind = "application/x-www-form-urlencoded"

    assert read_body("text=żółw&limit=5".encode(), kind, form=True) == Filter(text="żółw", limit=5)
    for raw, pointer in ((b"nope=1", "/nope"), (b"limit=x", "/limit"), (b"text=%00", "/text")):
        with pytest.raises(ValidationFailed) as caught:
            read_body(raw, kind, form=True)
        assert complaint(caught.value)["pointer"] == pointer
    with pytest.raises(UnsupportedMediaType):
        read_body(b"{}", "application/json", form=True)


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b'{"name":"a\\u0000"}', 422, "validation_failed"),
        (b'{"name":"\xff"}', 400, "malformed_json"),
        (b'{"name":"\\ud800"}', 400, "malformed_json"),
        (b'{"name":"a","x":1}', 422, "validation_failed"),
        (b"", 400, "malformed_json"),
        (b'{"name":"' + b"a" * BODY_LIMIT + b'"}', 413, "body_too_large"),
    ],
)
def test_a_body_that_is_rejected_changes_nothing(
    api: Server, body: bytes, status: int, code: str
) -> None:
    person = api.person()
    headers = {"content-type": "application/json"}

    answer = api.call("POST", "/v1/api-keys", by=person, content=body, headers=headers)

    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert answer.headers["content-type"] == "application/problem+json"
    assert len(api.call("GET", "/v1/api-keys", by=person).json()["items"]) == 1


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/v1/api-keys?limit=1&limit=1", 422),
        ("/v1/api-keys?cursor=%00", 422),
        ("/v1/api-keys?cursor=%ff", 422),
        ("/v1/me?verbose=1", 422),
        ("/v1/api-keys/%ff", 404),
        ("/v1/api-keys/" + quote("key_\0", safe=""), 404),
        ("/v1/%2e%2e/me", 404),
        ("/v1//me", 404),
        ("/v1/me/", 404),
    ],
)
def test_no_odd_address_is_an_internal_error(api: Server, path: str, status: int) -> None:
    method = "DELETE" if path.startswith("/v1/api-keys/") else "GET"

    # httpx would tidy the path up; a raw one goes out as it is.
    url = httpx.URL(api.url).copy_with(raw_path=path.encode())
    answer = httpx.request(method, url, headers=api.person().headers, timeout=10)

    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
