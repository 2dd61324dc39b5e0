"""Schemathesis with the facts that it cannot know: valid bodies and forged cursors."""

import itertools
from collections.abc import Iterator
from typing import Any

import schemathesis
from hypothesis import strategies as st

from kit.api_document import Document
from kit.forged_cursors import forged_cursors
from kit.server import Person
from kit.system import System


def operation_name(operation: Any) -> str:
    name: str = operation.definition.raw["operationId"]
    return name


def document_of(system: System) -> Any:
    """The document that a server serves, as schemathesis makes requests from it."""
    schema = schemathesis.openapi.from_url(f"{system.api.url}/openapi.json")
    schema.config.generation.update(with_security_parameters=False)
    bodies = {operation.name: operation.body for operation in Document().operations()}
    working = {
        "platform": "sandbox",
        "items": system.order_body()["items"],
        "url": "http://127.0.0.1:9/",
    }
    numbers = itertools.count(1)

    def body_that_works(name: str) -> Any:
        """The document's example, with what exists here."""
        fresh = {"external_id": f"PO-{next(numbers)}", "email": f"{next(numbers)}@test.example"}
        values = {**working, **fresh, "expected_total_cny": None, "amount_cny": None}
        return {key: values.get(key, value) for key, value in bodies[name].items()}

    @schema.hook
    def flatmap_body(context: Any, body: Any) -> Any:
        name = operation_name(context.operation)
        made_up = st.just(body)
        if bodies[name] is None:
            return made_up
        return st.one_of(made_up, st.builds(body_that_works, st.just(name)))

    @schema.hook
    def flatmap_path_parameters(_context: Any, path_parameters: Any) -> Any:
        made_up = st.just(path_parameters)
        if "platform" not in (path_parameters or {}):
            return made_up
        return st.one_of(made_up, st.just({**path_parameters, "platform": "sandbox"}))

    @schema.hook
    def flatmap_query(context: Any, query: Any) -> Any:
        names = {parameter.name for parameter in context.operation.query} & {"cursor", "after"}
        made_up = st.just(query)
        if not names:
            return made_up
        cursors = forged_cursors(operation_name(context.operation))
        forged = st.fixed_dictionaries(dict.fromkeys(sorted(names), cursors))
        # Wrong filters would be refused before the cursor is read.
        return st.one_of(made_up, forged, forged.map(lambda cursor: {**(query or {}), **cursor}))

    return schema


def both_credentials(system: System, person: Person) -> Iterator[tuple[str, dict[str, str]]]:
    """The headers of a person's API key and of an access token, by turns."""
    token = system.api.login(person)["access_token"]
    return itertools.cycle(
        [
            ("API key", person.headers),
            ("access token", {"authorization": f"Bearer {token}"}),
        ]
    )
