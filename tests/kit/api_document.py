"""The OpenAPI document as tests use it: operations, parameters, and bodies to send."""

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from tradewind import ids
from tradewind.runtime.api import reference

# The prefix of an id, by the pattern that the document gives for it.
KINDS = {kind.pattern: kind.prefix for kind in vars(ids).values() if isinstance(kind, ids.Kind)}


@dataclass(frozen=True)
class Slot:
    """Where a request takes an id. `kind` is the id's prefix, or the name of a text."""

    place: Literal["path", "query", "body"]
    name: str
    kind: str


@dataclass(frozen=True)
class Operation:
    """One operation of the document."""

    name: str
    method: str
    path: str
    role: str | None
    parameters: tuple[Any, ...]
    body: Any
    slots: tuple[Slot, ...]

    @property
    def path_slots(self) -> list[Slot]:
        return [slot for slot in self.slots if slot.place == "path"]

    def body_with(self, values: dict[Slot, str]) -> Any:
        """The document's own example of a body, with these ids in it."""
        body = copy.deepcopy(self.body)
        for slot, value in values.items():
            if slot.place == "body":
                *parents, last = slot.name.split("/")[1:]
                inner = body
                for step in parents:
                    inner = inner[int(step) if isinstance(inner, list) else step]
                inner[last] = value
        return body


class Document:
    """Reads the document that this code serves."""

    def __init__(self) -> None:
        self.whole = reference()

    def resolved(self, value: Any) -> Any:
        result: Any = self.whole
        for step in value.get("$ref", "").split("/")[1:]:
            result = result[step]
        return result if "$ref" in value else value

    def operations(self) -> Iterator[Operation]:
        """Every operation whose response ends: a stream of events does not."""
        for path, methods in self.whole["paths"].items():
            for method, described in methods.items():
                if "text/event-stream" in described["responses"].get("200", {}).get("content", ()):
                    continue
                parameters = [self.resolved(each) for each in described["parameters"]]
                body, in_body = self._body(described.get("requestBody"))
                slots = [slot for each in parameters for slot in self._slots_of(each)]
                roles = [role for each in described["security"] for role in each.get("apiKey", ())]
                yield Operation(
                    described["operationId"],
                    method.upper(),
                    path,
                    roles[0] if roles else None,
                    tuple(parameters),
                    body,
                    (*slots, *in_body),
                )

    def _slots_of(self, parameter: Any) -> Iterator[Slot]:
        schema = self.resolved(parameter["schema"])
        place, name = parameter["in"], parameter["name"]
        if schema.get("type") == "array":
            schema = self.resolved(schema["items"])
        if schema.get("pattern") in KINDS:
            yield Slot(place, name, KINDS[schema["pattern"]])
        elif place in ("path", "query") and _is_free_text(schema):
            yield Slot(place, name, name)

    def _body(self, described: Any) -> tuple[Any, list[Slot]]:
        if described is None:
            return None, []
        content = described["content"].get("application/json")
        if content is None:  # a file
            return None, []
        example = self.resolved(content["examples"]["example"])["value"]
        return example, list(self._ids_in(content["schema"], example, ""))

    def _ids_in(self, schema: Any, value: Any, pointer: str) -> Iterator[Slot]:
        schema = self.resolved(schema)
        for option in schema.get("anyOf", ()):
            yield from self._ids_in(option, value, pointer)
        if schema.get("pattern") in KINDS:
            yield Slot("body", pointer, KINDS[schema["pattern"]])
        for name, field in schema.get("properties", {}).items():
            yield from self._ids_in(field, value and value[name], f"{pointer}/{name}")
        if schema.get("type") == "array" and value:
            yield from self._ids_in(schema["items"], value[0], f"{pointer}/0")


def _is_free_text(schema: Any) -> bool:
    return schema.get("type") == "string" and not {"enum", "format", "pattern"} & set(schema)
