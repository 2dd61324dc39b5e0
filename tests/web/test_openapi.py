"""The OpenAPI document: complete, exact, usable by other tools, with valid examples."""

import re
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from kit.server import Server

from tradewind.runtime.api import endpoints, reference
from tradewind.web.endpoint import Routes
from tradewind.web.inputs import Output
from tradewind.web.openapi import describe
from tradewind.web.openapi_schemas import Schemas

PUBLIC = {"login", "refresh", "healthz", "readyz", "receive_notice"}
# Of all operations on average: errors, headers and examples are shared.
LARGEST_OPERATION = 4_450


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return reference()


def resolved(document: dict[str, Any], value: dict[str, Any]) -> dict[str, Any]:
    """What a reference leads to; anything else is itself."""
    for step in value.get("$ref", "").split("/")[1:]:
        document = document[step]
    return document if "$ref" in value else value


def every_object(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for inner in value.values():
            yield from every_object(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from every_object(inner)


def test_the_server_serves_the_document_and_it_is_small(
    api: Server, document: dict[str, Any]
) -> None:
    answer = api.call("GET", "/openapi.json")

    assert answer.json() == document
    operations = sum(len(path) for path in document["paths"].values())
    assert len(answer.content) < LARGEST_OPERATION * operations


def test_schema_names_are_public_names(document: dict[str, Any]) -> None:
    names = document["components"]["schemas"]

    assert all(re.fullmatch("[A-Z][A-Za-z0-9]*", name) for name in names)
    assert {"Order", "OrderInput", "OrderPage", "OrderStatus", "PlatformOrderStatus"} <= set(names)


def test_two_types_with_one_public_name_stop_the_start() -> None:
    def type_named(name: str, module: str = "here") -> type:
        return msgspec.defstruct(name, [("id", str)], bases=(Output,), module=module)

    with pytest.raises(TypeError, match="ThingOut and Thing"):
        Schemas([], [type_named("ThingOut"), type_named("Thing")])
    with pytest.raises(TypeError, match=r"rename one of these classes: .*Twin"):
        Schemas([], [type_named("Twin"), type_named("Twin", "there")])


def test_two_operations_with_one_id_and_tags_without_description_stop_the_start() -> None:
    async def look() -> None:
        """Look."""

    routes = Routes("/v1/things", tag="Things")
    routes.get()(look)
    with pytest.raises(TypeError, match="Things"):
        describe(routes.endpoints, (), {})
    routes.post()(look)
    with pytest.raises(TypeError, match="look"):
        describe(routes.endpoints, (), {"Things": "All of them."})


def test_every_enum_has_a_type_and_those_of_answers_say_that_they_may_grow(
    document: dict[str, Any],
) -> None:
    schemas = document["components"]["schemas"]

    enums = [schema for schema in every_object(document) if "enum" in schema]
    assert len(enums) > 20
    assert {schema["type"] for schema in enums} == {"string"}
    for schema in (schemas["OrderStatus"], schemas["Order"]["properties"]["waiting_for"]):
        assert schema["x-extensible-enum"] == schema["enum"]
        assert "More values may be added" in schema["description"]
    assert "x-extensible-enum" not in schemas["AdvanceInput"]["properties"]["to"]


def test_the_id_of_a_path_is_called_id(document: dict[str, Any]) -> None:
    """`order_id` only ever means the marketplace's id of an order."""
    names = {tuple(re.findall(r"{(\w+)}", path)) for path in document["paths"]}

    assert names <= {(), ("id",), ("platform",), ("platform", "id"), ("id", "dlv"), ("id", "job")}
    assert "/v1/orders/{id}" in document["paths"]


def test_a_parameter_that_is_no_id_cannot_be_read_from_a_path() -> None:
    async def look(order_id: int) -> None: ...

    with pytest.raises(TypeError, match=r"/v1/things/\{id\}"):
        Routes("/v1/things", tag="Things").get("/{id}")(look)


def test_every_endpoint_asks_for_credentials_but_the_few_that_cannot() -> None:
    without = {e.handler.__name__ for e in endpoints() if e.caller is None and not e.hidden}

    assert without == PUBLIC


def test_every_operation_says_all_about_itself(document: dict[str, Any]) -> None:
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            where = f"{method} {path}"
            assert operation["summary"], where
            parameters = [resolved(document, each) for each in operation["parameters"]]
            names = {parameter["name"] for parameter in parameters}
            assert {part[1:-1] for part in path.split("/") if part.startswith("{")} <= names
            for status, described in operation["responses"].items():
                answer = resolved(document, described)
                assert "X-Request-Id" in answer["headers"], where
                if operation["security"]:
                    assert {"RateLimit", "RateLimit-Policy"} <= set(answer["headers"]), where
                if int(status) >= 400 and "content" in answer:
                    media = answer["content"].get("application/problem+json")
                    assert media is None or media["examples"], where
            if operation["security"]:
                token, key = operation["security"]
                assert token["accessToken"] == key["apiKey"]
                assert set(key["apiKey"]) <= {"buyer", "approver", "operator"}
                assert {"401", "403", "422", "429", "500", "503"} <= set(operation["responses"])


def test_every_example_of_a_body_can_be_sent(document: dict[str, Any]) -> None:
    def example(content: dict[str, Any]) -> Any:
        return resolved(document, content["application/json"]["examples"]["example"])["value"]

    for endpoint in endpoints():
        if endpoint.hidden:
            continue
        operation = document["paths"][endpoint.path][endpoint.method.lower()]
        if endpoint.body is not None:
            msgspec.convert(example(operation["requestBody"]["content"]), endpoint.body)
        if endpoint.returns is not None and endpoint.media_type == "application/json":
            answer = operation["responses"][str(endpoint.status)]
            msgspec.convert(example(answer["content"]), endpoint.returns)
