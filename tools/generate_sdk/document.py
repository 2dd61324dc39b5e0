"""The operations of the OpenAPI document as the generators need them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tradewind.runtime.api import reference

_JSON = "application/json"
_STREAM = "text/event-stream"
_KEY_HEADER = "Idempotency-Key"
_CURSORS = ("cursor", "after")


@dataclass(frozen=True)
class Parameter:
    """A parameter of a path or of a query."""

    name: str
    schema: Mapping[str, Any]
    description: str
    is_required: bool


@dataclass(frozen=True)
class RequestBody:
    """What an operation is sent: JSON of a named schema, or a file."""

    schema: str | None
    media_type: str
    is_required: bool


@dataclass(frozen=True)
class Operation:
    """One operation."""

    name: str
    method: str
    path: str
    summary: str
    description: str
    path_parameters: tuple[Parameter, ...]
    query: tuple[Parameter, ...]
    takes_key: bool
    body: RequestBody | None
    result: str | None
    """The schema of the JSON that it returns."""
    returns_file: bool
    returns_stream: bool
    """Whether it returns server-sent events, without an end."""
    cursor: str | None
    """The parameter that takes the cursor of the next page, if it returns a list in pages."""
    item: str | None
    """The schema of an item of that list."""


class Document:
    """Reads the document that this code serves."""

    def __init__(self) -> None:
        self.whole: dict[str, Any] = reference()
        self.schemas: dict[str, Any] = self.whole["components"]["schemas"]

    def operations(self) -> list[Operation]:
        return [
            self._operation(path, method, described)
            for path, methods in self.whole["paths"].items()
            for method, described in methods.items()
        ]

    def _operation(self, path: str, method: str, described: Any) -> Operation:
        parameters = [self._resolved(each) for each in described.get("parameters", ())]
        query = tuple(self._parameters(parameters, "query"))
        result, media_type = self._result(described["responses"])
        cursor, item = self._paging(result, query)
        return Operation(
            name=described["operationId"],
            method=method.upper(),
            path=path,
            summary=described["summary"],
            description=described.get("description", ""),
            path_parameters=tuple(self._parameters(parameters, "path")),
            query=query,
            takes_key=any(each["name"] == _KEY_HEADER for each in parameters),
            body=self._body(described.get("requestBody")),
            result=result,
            returns_file=media_type not in (None, _STREAM),
            returns_stream=media_type == _STREAM,
            cursor=cursor,
            item=item,
        )

    def _resolved(self, value: Any) -> Any:
        target: Any = self.whole
        for step in value.get("$ref", "").split("/")[1:]:
            target = target[step]
        return target if "$ref" in value else value

    @staticmethod
    def _parameters(parameters: list[Any], where: str) -> Iterator[Parameter]:
        for each in parameters:
            if each["in"] == where:
                yield Parameter(
                    each["name"],
                    each["schema"],
                    each.get("description", ""),
                    each.get("required", False),
                )

    def _body(self, described: Any) -> RequestBody | None:
        if described is None:
            return None
        described = self._resolved(described)
        media_type, content = next(iter(described["content"].items()))
        schema = _name(content["schema"]) if media_type == _JSON else None
        return RequestBody(schema, media_type, described.get("required", False))

    def _result(self, responses: Any) -> tuple[str | None, str | None]:
        """The schema of the JSON of a success, or the media type of a success that is no JSON."""
        results = {
            (_name(content["schema"]), None) if media_type == _JSON else (None, media_type)
            for status, response in responses.items()
            if status.startswith("2")
            for media_type, content in self._resolved(response).get("content", {}).items()
        }
        if len(results) > 1:
            raise ValueError(f"An operation returns different things: {responses}")
        return results.pop() if results else (None, None)

    def _paging(
        self, result: str | None, query: tuple[Parameter, ...]
    ) -> tuple[str | None, str | None]:
        properties = self.schemas[result].get("properties", {}) if result else {}
        if not {"items", "has_more", "next_cursor"} <= set(properties):
            return None, None
        cursor = next((each.name for each in query if each.name in _CURSORS), None)
        return (cursor, _name(properties["items"]["items"])) if cursor else (None, None)


def _name(schema: Any) -> str:
    """The name of a schema that is used by reference, as all of ours are."""
    reference_path: str = schema["$ref"]
    return reference_path.rpartition("/")[2]
