"""What the pages of the API reference show: pages, operations, fields, errors. Frozen values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ReferenceField:
    """A field of a body, or a parameter, with the fields inside of it."""

    name: str
    kind: str
    is_required: bool
    description: str
    limits: Sequence[str]
    example: str
    fields: Sequence["ReferenceField"] = ()


@dataclass(frozen=True, slots=True)
class ErrorLink:
    """An error that an operation may answer with; its page explains it."""

    status: int
    code: str
    title: str


@dataclass(frozen=True, slots=True)
class CauseLink:
    """An event that an operation causes, at once or later, and the name of the cause."""

    event: str
    cause: str


@dataclass(frozen=True, slots=True)
class SuccessResponse:
    """A response of success: its fields, its own headers, and an example."""

    status: str
    description: str
    media_type: str
    fields: Sequence[ReferenceField]
    headers: Sequence[ReferenceField]
    example: str


@dataclass(frozen=True, slots=True)
class ReferenceOperation:
    """One operation of the API, with a request that is filled in."""

    id: str
    method: str
    path: str
    title: str
    description: str
    role: str
    needs_credentials: bool
    path_parameters: Sequence[ReferenceField]
    query_parameters: Sequence[ReferenceField]
    header_parameters: Sequence[ReferenceField]
    body_media_type: str
    body_fields: Sequence[ReferenceField]
    body_example: str
    responses: Sequence[SuccessResponse]
    errors: Sequence[ErrorLink]
    events: Sequence[CauseLink]
    # Code by language, in the order of the tabs.
    samples: Mapping[str, str]

    @property
    def is_stream(self) -> bool:
        """Whether its response does not end by itself."""
        return any(response.media_type == "text/event-stream" for response in self.responses)


@dataclass(frozen=True, slots=True)
class ReferencePage:
    """The operations under one heading."""

    slug: str
    title: str
    description: str
    operations: Sequence[ReferenceOperation]


@dataclass(frozen=True, slots=True)
class ApiReference:
    """Everything that the reference shows."""

    title: str
    summary: str
    description: str
    pages: Sequence[ReferencePage]
    errors: Sequence[ErrorLink]

    def page(self, slug: str) -> ReferencePage | None:
        return next((page for page in self.pages if page.slug == slug), None)
