"""The API reference over HTTP: pages, and the Markdown of every page."""

import json

import msgspec
from markupsafe import Markup

from tradewind.dashboard.reference import markdown
from tradewind.dashboard.reference.introduction import INTRODUCTION
from tradewind.dashboard.reference.model import ApiReference, ReferencePage
from tradewind.dashboard.shell.render import Renderer, TemplatePage
from tradewind.events.event_types import EVENT_TYPES
from tradewind.web.endpoint import Routes
from tradewind.web.pages import paragraphs, with_code
from tradewind.web.problems import RouteNotFound
from tradewind.web.request import Request
from tradewind.web.response import Response

# Public, so not `pages`: whoever asks for an unknown page gets a problem document.
routes = Routes("", tag="Reference", hidden=True)

_MARKDOWN = b"text/markdown; charset=utf-8"


@routes.get("/docs", media_type="text/html")
async def docs_index(request: Request, renderer: Renderer, reference: ApiReference) -> Response:
    """The introduction, and every operation."""
    return _render(request, renderer, reference, "index", "reference/index.html")


@routes.get("/docs/{page}", media_type="text/html")
async def docs_page(
    page: str, request: Request, renderer: Renderer, reference: ApiReference
) -> Response:
    """One page of the reference; with `.md` at the end, as Markdown."""
    slug, dot, _ = page.partition(".md")
    if dot:
        text = _markdown(reference, slug) if page == f"{slug}.md" else None
        if text is None:
            raise RouteNotFound
        return Response(text.encode(), content_type=_MARKDOWN)
    if page in ("event-types", "errors"):
        return _render(request, renderer, reference, page, f"reference/{page}.html")
    current = reference.page(page)
    if current is None:
        raise RouteNotFound
    return _render(request, renderer, reference, page, "reference/page.html", current)


def _markdown(reference: ApiReference, slug: str) -> str | None:
    """The Markdown of a page; None: there is no such page."""
    if slug == "index":
        return markdown.index_markdown(reference, INTRODUCTION)
    if slug == "event-types":
        return markdown.events_markdown()
    if slug == "errors":
        return markdown.errors_markdown(reference.errors)
    page = reference.page(slug)
    return None if page is None else markdown.page_markdown(page)


def _render(
    request: Request,
    renderer: Renderer,
    reference: ApiReference,
    slug: str,
    template: str,
    current: ReferencePage | None = None,
) -> Response:
    page = TemplatePage(
        template,
        slug=slug,
        reference=reference,
        introduction=INTRODUCTION,
        event_types=[
            (event_type, [(cause, _pretty_event(cause.example)) for cause in event_type.causes])
            for event_type in EVENT_TYPES
        ],
        # Texts of ours, escaped by these functions.
        text=lambda value: Markup(paragraphs(value)),  # noqa: S704
        sentence=lambda value: Markup(with_code(value)),  # noqa: S704
        page=current,
    )
    return renderer.response(request, page)


def _pretty_event(body: object) -> str:
    return json.dumps(msgspec.to_builtins(body), indent=2)
