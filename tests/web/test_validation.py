"""Validation: all errors at once, each with a pointer and in plain words."""

import asyncio
import json
import re
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kit.server import Server
from kit.system import ADDRESS
from msgspec import Meta

from tradewind import ids
from tradewind.errors import MOST_ERRORS, FieldError, ValidationFailed
from tradewind.money import CnyIn
from tradewind.orders.inputs import DiffIn, OrderIn, OrdersQuery
from tradewind.runtime.api import endpoints, reference
from tradewind.web import validation
from tradewind.web.inputs import BODY_LIMIT, Input, Moment, body_reader, read_query, read_values
from tradewind.web.problems import MalformedJson
from tradewind.web.request import Request
from tradewind.web.validation import errors_in, errors_in_decoded

AN_ORDER = "ORD06EJ4KQZC5T9XN4R5ZJ2V7M8QW"
GARBAGE: list[Any] = [
    *(None, True, 0, -1, 1.5, 1e30, 10**30, "", " ", "\n", "x", "x" * 5000, "a\0b", "null"),
    *([], [None], [1, 2], {}, {"x": 1}, {"": {}}),
    *("2026-13-45T00:00:00Z", "9999-12-31T23:59:59Z", "2026-01-01T00:00:00", AN_ORDER + "\n"),
]
# A type in backticks, a union of types, a regular expression, a unit that nobody outside knows.
NOT_PLAIN = re.compile(
    r"Expected|null \||\| null|\bfen\b|\bint\b|\bstr\b|\bfloat\b|\bbool\b|\barray\b"
    r"|[\\^$]|\[[^\]]*-[^\]]*\]|\{\d"
)


class Part(Input):
    """A part of something."""

    sku: Annotated[str, Meta(min_length=1, max_length=5, pattern=validation.NOT_BLANK)]
    quantity: Annotated[int, Meta(ge=1, le=100)] = 1


class Thing(Input):
    """One field of every type that callers send."""

    kind: Literal["big", "small"]
    parts: Annotated[list[Part], Meta(max_length=3, extra={"distinct_by": ("sku",)})] = (
        msgspec.field(default_factory=list)
    )
    order: Annotated[str, Meta(pattern=ids.ORDER.pattern)] | None = None
    price: CnyIn | None = None
    at: Moment | None = None
    until: Moment | None = None
    is_new: bool = False
    note: Annotated[str, Meta(max_length=10)] = ""
    names: dict[Annotated[str, Meta(max_length=3)], Annotated[str, Meta(max_length=3)]] = (
        msgspec.field(default_factory=dict)
    )
    either: Annotated[int, Meta(ge=1)] | list[bool] | None = None

    def check_fields(self) -> Iterator[FieldError]:
        if self.at is not None and self.until is not None and self.until < self.at:
            yield FieldError("/until", "Must not be before `at`.")


def read_body(kind: Any, raw: bytes) -> Any:
    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": raw, "more_body": False}

    async def read() -> Any:
        reader = body_reader(kind, form=False)
        assert reader is not None
        return await reader(Request(scope, receive, ()))

    headers = [(b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": "/", "query_string": b"", "headers": headers}
    return asyncio.run(read())


def wrong(kind: Any, value: Any) -> dict[str, str]:
    """What is wrong with a body, by its pointer."""
    with pytest.raises(ValidationFailed) as caught:
        read_body(kind, json.dumps(value).encode())
    return {error.pointer: error.message for error in caught.value.errors}


def test_everything_that_is_wrong_is_told_at_once() -> None:
    body = {
        "knid": "big",
        "parts": [
            {"sku": "", "quantity": 0},
            {"sku": "   ", "quantity": "2"},
            {"sku": "a"},
            {"sku": "a", "quantity": 5},
            7,
        ],
        "order": "ORD1",
        "price": 1.005,
        "at": "tomorrow",
        "until": "2026-01-01T00:00:00",
        "is_new": "yes",
        "note": "much too long",
        "names": {"a/b~c": "long", "ok": 1},
        "either": "x",
        "a/b~c": 1,
    }

    text = "Must be text of 1 to 5 characters, not only spaces."
    number = "Must be a whole number from 1 to 100."
    moment = "Must be a time with an offset, such as 2026-11-15T01:02:03Z, or null."
    assert wrong(Thing, body) == {
        "/kind": "Is required.",
        "/knid": "Is not a known field; did you mean `kind`?",
        "/parts": "Must be a list of at most 3 items.",
        "/parts/0/sku": text,
        "/parts/0/quantity": number,
        "/parts/1/sku": text,
        "/parts/1/quantity": number,
        "/order": "Must be the id of an order, such as ORD06EJ4KQZC5T9XN4R5ZJ2V7M8QW, or null.",
        "/price": "Must be an amount in CNY from 0 to 1,000,000,000 with at most two decimals, "
        "such as 128.5, or null.",
        "/at": moment,
        "/until": moment,
        "/is_new": "Must be true or false.",
        "/note": "Must be text of at most 10 characters.",
        "/names/a~1b~0c": "Must be text of at most 3 characters.",
        "/names/ok": "Must be text of at most 3 characters.",
        "/either": "Must be a whole number of at least 1 or a list, or null.",
        "/a~1b~0c": "Is not a known field.",
    }


def test_what_no_schema_can_say_is_told_with_the_rest() -> None:
    at = {"at": "2026-01-02T00:00:00Z", "until": "2026-01-01T00:00:00Z"}
    same = {"parts": [{"sku": "a"}, {"sku": "b"}, {"sku": "a"}]}
    twice = "Has the same sku as /parts/0; send them as one item."

    # Decoded without an error, and beside an error that decoding finds.
    assert wrong(Thing, {"kind": "big", **same, "price": 0.001}).keys() == {"/parts/2", "/price"}
    assert wrong(Thing, {"kind": "huge", **same})["/parts/2"] == twice
    assert wrong(Thing, {"kind": "big", **at}) == {"/until": "Must not be before `at`."}
    assert wrong(Thing, {"kind": "big", "either": [True, 1, False, 2]}) == {
        "/either/1": "Must be true or false.",
        "/either/3": "Must be true or false.",
    }


def test_a_problem_lists_a_hundred_errors_at_the_most() -> None:
    with pytest.raises(ValidationFailed) as caught:
        read_body(DiffIn, json.dumps({"orders": [{}] * 1000}).encode())

    errors = caught.value.facts["errors"]
    assert len(errors) == MOST_ERRORS
    assert errors[0] == {"pointer": "/orders/0/id", "code": "missing", "message": "Is required."}
    assert caught.value.detail == "/orders/0/id: Is required. And 99 more errors."


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (
            b"limit=0&sort=price&status=paid,lost,gone&created_after=now&cursr=x&limit=5",
            {
                "?limit": ["Must be a whole number from 1 to 100.", "Must be sent only once."],
                "?sort": ["Must be one of: created_at, updated_at."],
                "?status/1": [],
                "?status/2": [],
                "?created_after": ["Must be a time with an offset, such as 2026-11-15T01:02:03Z."],
                "?cursr": ["Is not a known parameter; did you mean `cursor`?"],
            },
        ),
        (b"a~b/c=1", {"?a~0b~1c": ["Is not a known parameter."]}),
        (
            b"created_before=9999-12-31T23:59:59Z",
            {"?created_before": ["Must be a time with an offset, such as 2026-11-15T01:02:03Z."]},
        ),
    ],
)
def test_all_parameters_that_are_wrong_are_told_at_once(
    query: bytes, expected: dict[str, list[str]]
) -> None:
    with pytest.raises(ValidationFailed) as caught:
        read_query(query, OrdersQuery)

    reported: dict[str, list[str]] = {}
    for error in caught.value.errors:
        reported.setdefault(error.pointer, []).append(error.message)
    assert reported.keys() == expected.keys()
    assert all(reported[pointer] == messages for pointer, messages in expected.items() if messages)
    assert all(
        "one of: creating, " in reported.get(f"?status/{n}", ["one of: creating, "])[0]
        for n in (1, 2)
    )


def test_query_and_body_and_every_item_of_an_order_are_in_one_answer(api: Server) -> None:
    body = {
        "platform": "sandbox",
        "items": [{"product_id": "1", "quantity": 0}, {"quantity": 1}],
        "address": {**ADDRESS, "phone": "no number", "city": "  "},
        "expected_total_cny": 1.005,
    }

    answer = api.call(
        "POST", "/v1/orders?dry=1", by=api.person(), json=body, headers={"idempotency-key": "k"}
    )

    assert answer.status_code == 422
    assert {error["pointer"] for error in answer.json()["errors"]} == {
        "?dry",
        "/items/0/quantity",
        "/items/1/product_id",
        "/address/phone",
        "/address/city",
        "/expected_total_cny",
    }


def resolved(document: dict[str, Any], value: dict[str, Any]) -> dict[str, Any]:
    """What a reference of the document leads to."""
    for step in value["$ref"].split("/")[1:]:
        document = document[step]
    return document


def inputs_with_examples() -> list[Any]:
    """Every type that callers send, each with an example of it."""
    document = reference()
    result = {}
    for endpoint in endpoints():
        if endpoint.body is not None and not endpoint.hidden:
            operation = document["paths"][endpoint.path][endpoint.method.lower()]
            content = operation["requestBody"]["content"]["application/json"]
            result[endpoint.body] = resolved(document, content["examples"]["example"])["value"]
    return [pytest.param(kind, example, id=kind.__name__) for kind, example in result.items()]


def altered(example: Any) -> Iterator[Any]:
    """The example with each of its values replaced by garbage, left out, or joined by another."""
    yield from GARBAGE
    if isinstance(example, dict):
        yield {**example, "unheard_of": 1}
        for name, value in example.items():
            yield {key: kept for key, kept in example.items() if key != name}
            for other in altered(value):
                yield {**example, name: other}
        for garbage in GARBAGE:
            yield dict.fromkeys(example, garbage)
    elif isinstance(example, list) and example:
        yield example * 300
        for other in altered(example[0]):
            yield [other, example[0], other]


@pytest.mark.parametrize(("kind", "example"), inputs_with_examples())
def test_no_message_about_any_input_needs_a_programmer(kind: Any, example: Any) -> None:
    reported = 0
    for value in altered(example):
        result = errors_in(kind, value)
        try:
            decoded = msgspec.json.decode(msgspec.json.encode(value), type=kind)
        except msgspec.ValidationError:
            assert result, value
        else:
            if "\\u0000" not in json.dumps(value):
                assert (not result) is (not errors_in_decoded(kind, decoded)), (value, result)
        for error in result:
            reported += 1
            assert not NOT_PLAIN.search(error.message), error
            assert re.fullmatch(r"(Must|Is|Has|Its) .*[.?]", error.message), error
            assert error.pointer == "" or error.pointer.startswith("/")
    assert reported > 20


QUERIES = sorted(
    {e.query for e in endpoints() if e.query and not e.hidden}, key=lambda k: k.__name__
)


@pytest.mark.parametrize("kind", QUERIES, ids=lambda kind: kind.__name__)
def test_no_message_about_any_query_needs_a_programmer(kind: Any) -> None:
    for name in kind.__struct_fields__:
        for value in (
            "",
            "x" * 5000,
            "%00",
            "a,b,\u00e4",
            "-1",
            "1e400",
            "NaN",
            "null",
            "%20",
            "[",
        ):
            try:
                read_query(f"{name}={value}&unheard_of=1".encode(), kind)
            except ValidationFailed as failed:
                for error in failed.errors:
                    assert not NOT_PLAIN.search(error.message), error
                    assert re.fullmatch(r"(Must|Is|Has) .*[.?]", error.message), error
                    assert error.pointer.startswith("?"), error
            else:
                raise AssertionError(value)


_JSON = st.recursive(
    st.sampled_from([*GARBAGE, AN_ORDER, "big", "2026-01-01T00:00:00+08:00", 1, 100, 101, 0.25])
    | st.text(max_size=5)
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from([*Thing.__struct_fields__, *Part.__struct_fields__, "x"]),
            inner,
            max_size=6,
        )
    ),
    max_leaves=20,
)


@settings(deadline=None, max_examples=300)
@given(st.fixed_dictionaries({}, optional=dict.fromkeys(Thing.__struct_fields__, _JSON)) | _JSON)
def test_the_walk_finds_an_error_exactly_where_decoding_does(value: Any) -> None:
    if "\\u0000" in json.dumps(value):
        return  # which decoding takes, and is told apart before
    result = errors_in(Thing, value)
    try:
        decoded = msgspec.json.decode(json.dumps(value), type=Thing)
    except msgspec.ValidationError:
        assert result
    else:
        assert result == errors_in_decoded(Thing, decoded)


def test_values_of_a_form_are_checked_like_a_body() -> None:
    with pytest.raises(ValidationFailed) as caught:
        read_values(
            Thing, kind="huge", price="1,50", is_new="perhaps", at=datetime(1, 1, 1, tzinfo=UTC)
        )

    assert {error.pointer for error in caught.value.errors} == {"/kind", "/price", "/is_new", "/at"}
    with pytest.raises(ValidationFailed, match=r"decimals, such as 128\.5\.$"):  # no "or null"
        read_values(Thing, kind="big", price="1.005")
    assert read_values(Thing, kind="big", price="1.50", is_new="true").price == 1.5


def full(head: bytes, unit: bytes, tail: bytes) -> bytes:
    return head + unit * ((BODY_LIMIT - len(head) - len(tail)) // len(unit)) + tail


def numbered(head: bytes, unit: str, count: int, tail: bytes) -> bytes:
    return head + b",".join((unit % number).encode() for number in range(count)) + tail


KNOWN = f'{{"id":"{AN_ORDER}","updated_at":"2026-11-15T01:02:03Z"}}'


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        (OrderIn, numbered(b"{", '"quantitx%d":1', 15_000, b"}")),
        (OrderIn, full(b'{"items":[', b"0,", b"0]}")),
        (OrderIn, full(b'{"items":[', b"{},", b"{}]}")),
        (OrderIn, numbered(b'{"items":[', '{"product_id":"%d","quantity":1}', 7_000, b"]}")),
        (OrderIn, numbered(b'{"metadata":{', '"k%d":1', 20_000, b"}}")),
        (OrderIn, full(b'{"external_id":"', b" ", b'"}')),
        (OrderIn, full(b'{"remark":"', b"\\\\", b'\\u0000"}')),
        (OrderIn, full(b'{"address":{"phone":"', b"1 ", b'"}}')),
        (OrderIn, full(b'{"remark":', b"1", b"}")),
        (OrderIn, full(b'{"', b"a", b'":1}')),
        (OrderIn, b"[" * BODY_LIMIT),
        (DiffIn, full(b'{"orders":[', KNOWN.encode() + b",", b"{}]}")),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else value[:24].decode(),
)
def test_a_hostile_body_holds_the_event_loop_only_for_a_moment(kind: Any, body: bytes) -> None:
    assert len(body) <= BODY_LIMIT
    best = 1.0
    for _ in range(3):
        started = time.process_time()
        with pytest.raises((ValidationFailed, MalformedJson)):
            read_body(kind, body)
        best = min(best, time.process_time() - started)

    assert best < 0.05, f"{best * 1000:.1f} ms of CPU"
