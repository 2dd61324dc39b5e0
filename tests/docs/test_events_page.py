"""docs/reference/events.md: its samples have the shape of what is sent."""

import json
from typing import Any

import httpx
from kit.blocks import compared, find
from kit.system import System

PAGE = "docs/reference/events.md"


def test_the_body_and_the_stream_are_as_printed(system: System) -> None:
    (body,), (stream,) = find(PAGE, "json"), find(PAGE, "text")
    system.order()
    event = system.ok("GET", "/v1/events?limit=1")["items"][0]

    assert shape(json.loads(body.text)) == shape(event)
    headers = {**system.buyer.headers, "last-event-id": "0"}
    with httpx.stream(
        "GET", f"{system.api.url}/v1/events/stream", headers=headers, timeout=10
    ) as response:
        lines = response.iter_lines()
        sent = next(block for block in iter(lambda: read_block(lines), None) if "data" in block)
    printed = dict(line.split(": ", 1) for line in stream.text.splitlines())
    assert list(printed) == list(sent)
    assert printed["id"].isdigit()
    assert sent["id"] == "1"
    assert printed["event"] == sent["event"] == event["event"]
    assert json.loads(sent["data"]) == event
    shown = printed["data"].partition("…")[0]
    assert [*shape(json.loads(shown + "null}"))] == [*event][:3]
    compared([body, stream])


def shape(value: Any) -> Any:
    """The names of an object, and the types of its values."""
    if isinstance(value, dict):
        return {name: shape(inner) for name, inner in value.items()}
    return type(value).__name__


def read_block(lines: Any) -> dict[str, str]:
    """The fields of the next block of a stream."""
    fields: dict[str, str] = {}
    for line in lines:
        if not line:
            return fields
        name, _, value = line.partition(": ")
        fields[name] = value
    raise AssertionError("the stream ended")
