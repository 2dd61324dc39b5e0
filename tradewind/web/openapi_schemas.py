"""The schemas of the reference: a public name for each type, and examples."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

_REF = "#/components/schemas/{name}"
_PAGE = re.compile(r"Page_(?P<item>\w+)_")
_PUBLIC = re.compile(r"[A-Z][A-Za-z0-9]*")
_MAY_GROW = "More values may be added later: accept unknown values."
_JSON_TYPES = {str: "string", bool: "boolean", int: "integer", float: "number"}


class Schemas:
    """The JSON Schemas of the types in requests, responses and webhooks.

    A name that is used twice, or that contains a module path, is an error at the start: client
    generators turn the names into class names.
    """

    def __init__(self, inputs: Iterable[Any], outputs: Iterable[Any]) -> None:
        inputs, outputs = list(inputs), list(outputs)
        described = msgspec.json.schema_components([*inputs, *outputs], ref_template=_REF)
        raw, components = msgspec.json.decode(msgspec.json.encode(described))  # defaults are JSON
        names = _public_names(components)
        schemas = [_renamed(schema, names) for schema in raw]
        self._by_type = dict(zip([*inputs, *outputs], schemas, strict=True))
        self.components = {names[name]: _renamed(components[name], names) for name in components}
        for schema in self.components.values():
            schema.pop("title", None)  # the name in our code
        self._give_types_to_enums()
        self._mark_growing_enums(self._by_type[kind] for kind in outputs)

    def of(self, kind: Any) -> dict[str, Any]:
        """The schema of a type: a reference where it has a name."""
        schema: dict[str, Any] = self._by_type[kind]
        return schema

    def name_of(self, kind: Any) -> str | None:
        """The public name of a type, where it has one."""
        reference: str | None = self._by_type[kind].get("$ref")
        return reference and reference.rpartition("/")[2]

    def resolved(self, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        if "$ref" in schema:
            component: Mapping[str, Any] = self.components[schema["$ref"].rpartition("/")[2]]
            return component
        return schema

    def example(self, schema: Mapping[str, Any]) -> Any:
        """A complete example, from the examples of its fields."""
        if "examples" in schema:
            return schema["examples"][0]
        schema = self.resolved(schema)
        if "properties" in schema:
            return {name: self.example(field) for name, field in schema["properties"].items()}
        if "anyOf" in schema:
            return self.example(schema["anyOf"][0])
        if schema.get("type") == "array":
            return [self.example(schema["items"])]
        for word in ("examples", "enum"):
            if word in schema:
                return schema[word][0]
        return schema.get(
            "default",
            {"string": "text", "integer": 1, "boolean": False}.get(schema.get("type", "null")),
        )

    def _give_types_to_enums(self) -> None:
        for schema in self._every([*self._by_type.values(), *self.components.values()]):
            if "enum" in schema and "type" not in schema:
                (kind,) = {type(value) for value in schema["enum"]}
                schema["type"] = _JSON_TYPES[kind]

    def _mark_growing_enums(self, outputs: Iterable[dict[str, Any]]) -> None:
        """Say of every enum in a response that it may get new values."""
        for schema in self._every(outputs, follow=True):
            if "enum" in schema:
                texts = (schema.get("description"), _MAY_GROW)
                schema["description"] = " ".join(filter(None, texts))
                schema["x-extensible-enum"] = schema["enum"]

    def _every(
        self, roots: Iterable[dict[str, Any]], *, follow: bool = False
    ) -> Iterator[dict[str, Any]]:
        """Every object in these schemas, once; with `follow`, in what they refer to as well."""
        waiting: list[Any] = list(roots)
        visited: set[int] = set()
        while waiting:
            value = waiting.pop()
            if isinstance(value, list):
                waiting += value
            if not isinstance(value, dict) or id(value) in visited:
                continue
            visited.add(id(value))
            yield value
            waiting += value.values()
            if follow and "$ref" in value:
                waiting.append(self.resolved(value))


def _public_names(components: Iterable[str]) -> dict[str, str]:
    names = {name: _public_name(name) for name in components}
    by_public: dict[str, list[str]] = {}
    for name, public in names.items():
        by_public.setdefault(public, []).append(name)
    wrong = [public for public in by_public if not _PUBLIC.fullmatch(public)]
    clashing = [" and ".join(same) for same in by_public.values() if len(same) > 1]
    if wrong or clashing:
        raise TypeError(
            "Each type of the API needs its own public name; rename one of these classes: "
            + "; ".join([*wrong, *clashing])
        )
    return names


def _public_name(name: str) -> str:
    """The name of a type as callers read it.

    `OrderOut` is an `Order`, `OrderIn` an `OrderInput`, and a page of orders an `OrderPage`.
    """
    if page := _PAGE.fullmatch(name):
        return f"{_public_name(page['item'])}Page"
    if name.endswith("Out"):
        return name.removesuffix("Out")
    return f"{name.removesuffix('In')}Input" if name.endswith("In") else name


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    """A copy of the schema with references to the public names."""
    if isinstance(value, list):
        return [_renamed(item, names) for item in value]
    if not isinstance(value, dict):
        return value
    renamed = {key: _renamed(item, names) for key, item in value.items()}
    if "default" in renamed and renamed["default"] is None:
        del renamed["default"]  # says no more than that the field may be left out
    if isinstance(renamed.get("$ref"), str):
        renamed["$ref"] = _REF.format(name=names[renamed["$ref"].rpartition("/")[2]])
    return renamed
