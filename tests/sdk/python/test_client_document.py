"""The client has a method for every operation of the document, with every parameter."""

import importlib
import inspect
import sys
import tomllib
from pathlib import Path
from typing import Any

import httpx
import pytest
from kit.server import Server
from tradewind_sdk.client import AsyncTradewind, Tradewind
from tradewind_sdk.client.generated.operations import METHODS
from tradewind_sdk.client.transport import VERSION

from tradewind.runtime.api import reference

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT / "tools"))
python_client = importlib.import_module("python_client")


def test_the_client_is_the_one_that_the_document_makes() -> None:
    for name, text in python_client.files(reference()).items():
        written = (python_client.FOLDER / name).read_text()
        assert written == text, f"{name} is out of date; run: make client"


def test_every_operation_of_a_server_has_a_method_with_every_parameter(api: Server) -> None:
    document = httpx.get(f"{api.url}/openapi.json").json()
    operations = {
        operation["operationId"]: operation
        for methods in document["paths"].values()
        for operation in methods.values()
    }
    assert set(METHODS) == set(operations)
    client, async_client = Tradewind(api.url), AsyncTradewind(api.url)

    for name, operation in operations.items():
        expected = parameters(document, operation)
        for each in (client, async_client):
            resource, _, method = METHODS[name].partition(".")
            function = getattr(getattr(each, resource), method)
            assert set(inspect.signature(function).parameters) == expected, name
            assert function.__doc__.startswith(operation["summary"].split(".")[0][:40]), name
    client.close()


def parameters(document: Any, operation: Any) -> set[str]:
    """The names of everything that a request of this operation can carry."""

    def resolved(value: Any) -> Any:
        target = document
        for step in value.get("$ref", "").split("/")[1:]:
            target = target[step]
        return target if "$ref" in value else value

    names = {resolved(each)["name"] for each in operation["parameters"]}
    for kind, content in operation.get("requestBody", {}).get("content", {}).items():
        if kind == "application/json":
            names |= set(resolved(content["schema"])["properties"])
        else:
            names.add("content")
    return {name.replace("-", "_").lower() for name in names}


def test_the_version_is_that_of_the_package() -> None:
    project = tomllib.loads((ROOT / "sdk/python/pyproject.toml").read_text())["project"]

    assert project["version"] == VERSION


def test_a_document_that_cannot_be_translated_is_refused() -> None:
    document = reference()
    document["paths"]["/v1/orders/new"] = {"post": document["paths"]["/v1/orders"]["post"]}
    with pytest.raises(python_client.DocumentError, match="Several operations"):
        python_client.files(document)

    document = reference()
    document["components"]["schemas"]["Order"]["properties"]["a-b"] = {}
    with pytest.raises(python_client.DocumentError, match=r"Order\.a-b"):
        python_client.files(document)
