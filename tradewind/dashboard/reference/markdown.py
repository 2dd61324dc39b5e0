"""The API reference as Markdown, for people with an editor and for language models. Pure."""

from collections.abc import Iterator, Sequence

import msgspec

from tradewind.dashboard.reference.introduction import IntroductionSection
from tradewind.dashboard.reference.model import (
    ApiReference,
    ErrorLink,
    ReferenceField,
    ReferenceOperation,
    ReferencePage,
)
from tradewind.events.event_types import EVENT_TYPES

_FENCES = {"curl": "sh", "Python": "python", "Node": "js", "Go": "go"}


def page_links(reference: ApiReference) -> Sequence[tuple[str, str, str]]:
    """The title, the path and the subject of every page, for lists of what there is to read."""
    return [
        ("Introduction", "/docs/index.md", "credentials, errors, lists and idempotency"),
        *((page.title, f"/docs/{page.slug}.md", page.description) for page in reference.pages),
        ("Event types", "/docs/event-types.md", "every event, its causes, and an example of each"),
        ("Errors", "/docs/errors.md", "every error code"),
    ]


def index_markdown(reference: ApiReference, introduction: Sequence[IntroductionSection]) -> str:
    lines = [f"# {reference.title} API", "", reference.description, ""]
    for section in introduction:
        lines += [f"## {section.heading}", "", section.text, ""]
    for page in reference.pages:
        lines += [f"## [{page.title}]({page.slug}.md)", "", page.description, ""]
        lines += [f"- `{each.method} {each.path}`: {each.title}" for each in page.operations]
        lines.append("")
    return _text(lines)


def page_markdown(page: ReferencePage) -> str:
    lines = [f"# {page.title}", "", page.description, ""]
    for operation in page.operations:
        lines += _operation(operation)
    return _text(lines)


def events_markdown() -> str:
    lines = ["# Event types", ""]
    for event_type in EVENT_TYPES:
        lines += [f"## {event_type.name}", "", event_type.description, ""]
        for cause in event_type.causes:
            example = msgspec.json.encode(cause.example).decode()
            lines += [f"### {cause.name}", "", cause.description, "", *_fenced("json", example)]
    return _text(lines)


def errors_markdown(errors: Sequence[ErrorLink]) -> str:
    lines = ["# Errors", "", "| code | status | title |", "|---|---|---|"]
    lines += [
        f"| [`{each.code}`](/problems/{each.code}) | {each.status} | {each.title} |"
        for each in errors
    ]
    return _text(lines)


def _operation(operation: ReferenceOperation) -> Iterator[str]:
    yield from [f"## {operation.title}", "", f"`{operation.method} {operation.path}`", ""]
    if operation.description:
        yield from [operation.description, ""]
    for heading, fields in (
        ("Path parameters", operation.path_parameters),
        ("Query parameters", operation.query_parameters),
        ("Headers", operation.header_parameters),
        ("Request body", operation.body_fields),
    ):
        if fields:
            yield from [f"### {heading}", "", *_fields(fields), ""]
    for response in operation.responses:
        yield from [f"### Response {response.status}", "", response.description, ""]
        if response.fields:
            yield from [*_fields(response.fields), ""]
        if response.example:
            yield from _fenced("json", response.example)
    yield from _listed(
        "Errors",
        [
            f"{error.status} [`{error.code}`](/problems/{error.code}): {error.title}"
            for error in operation.errors
        ],
    )
    yield from _listed(
        "Events", [f"[`{link.event}`](event-types.md): {link.cause}" for link in operation.events]
    )
    for language, code in operation.samples.items():
        yield from [f"### {language}", "", *_fenced(_FENCES[language], code)]


def _listed(heading: str, items: Sequence[str]) -> Sequence[str]:
    return [f"### {heading}", "", *(f"- {item}" for item in items), ""] if items else ()


def _fields(fields: Sequence[ReferenceField], indent: str = "") -> Iterator[str]:
    for field in fields:
        notes = [field.kind, *(["required"] if field.is_required else []), *field.limits]
        text = f" {field.description}" if field.description else ""
        yield f"{indent}- `{field.name}` ({'; '.join(notes)}){':' if text else ''}{text}"
        yield from _fields(field.fields, f"{indent}  ")


def _fenced(language: str, code: str) -> Sequence[str]:
    return [f"```{language}", code, "```", ""]


def _text(lines: Sequence[str]) -> str:
    return "\n".join(lines).rstrip("\n") + "\n"
