"""The API reference over HTTP: pages, and the Markdown of every page."""

import json
from dataclasses import dataclass, field

import msgspec
from markupsafe import Markup

from tradewind.dashboard.reference import markdown
from tradewind.dashboard.reference.introduction import INTRODUCTION
from tradewind.dashboard.reference.model import ApiReference, ReferencePage
from tradewind.dashboard.shell.render import Renderer, TemplatePage
from tradewind.dashboard.shell.session import THEME_COOKIE, Sessions
from tradewind.events.event_types import EVENT_TYPES
from tradewind.web.endpoint import Routes
from tradewind.web.pages import paragraphs, with_code
from tradewind.web.problems import RouteNotFound
from tradewind.web.request import Request
from tradewind.web.response import Response
from tradewind.webhooks.headers import DESCRIPTIONS

# Public, so not `pages`: whoever asks for an unknown page gets a problem document.
routes = Routes("", tag="Reference", hidden=True)

_MARKDOWN = b"text/markdown; charset=utf-8"
_OTHER_PAGES = ("index", "event-types", "errors")
_THEMES = ("light", "dark")


@dataclass(frozen=True, slots=True)
class RenderedPages:
    """Pages that were rendered before, by their name and the viewer's theme.

    The reference is public and counts for no rate limit, so a page is rendered once.
    """

    responses: dict[tuple[str, str], Response] = field(default_factory=dict)


@routes.get("/docs", media_type="text/html")
async def docs_index(
    request: Request,
    renderer: Renderer,
    sessions: Sessions,
    reference: ApiReference,
    rendered: RenderedPages,
) -> Response:
    """The introduction, and every operation."""
    return _cached("index", request, renderer, sessions, reference, rendered)


@routes.get("/docs/{page}", media_type="text/html")
async def docs_page(
    page: str,
    request: Request,
    renderer: Renderer,
    sessions: Sessions,
    reference: ApiReference,
    rendered: RenderedPages,
) -> Response:
    """One page of the reference; with `.md` at the end, as Markdown."""
    return _cached(page, request, renderer, sessions, reference, rendered)


def _cached(
    page: str,
    request: Request,
    renderer: Renderer,
    sessions: Sessions,
    reference: ApiReference,
    rendered: RenderedPages,
) -> Response:
    theme = sessions.read_cookie(request, THEME_COOKIE) or ""
    key = (page, theme if theme in _THEMES else "")
    response = rendered.responses.get(key)
    if response is None:
        response = _response(page, request, renderer, reference)
        rendered.responses[key] = response
    return response


def _response(page: str, request: Request, renderer: Renderer, reference: ApiReference) -> Response:
    """The response that shows a page; RouteNotFound if there is no such page."""
    slug = page.removesuffix(".md")
    if slug != page:
        return Response(_markdown(reference, slug).encode(), content_type=_MARKDOWN)
    if page in _OTHER_PAGES:
        return _render(request, renderer, reference, page, f"reference/{page}.html")
    current = _find(reference, page)
    return _render(request, renderer, reference, page, "reference/page.html", current)


def _find(reference: ApiReference, slug: str) -> ReferencePage:
    page = reference.page(slug)
    if page is None:
        raise RouteNotFound
    return page


def _markdown(reference: ApiReference, slug: str) -> str:
    if slug == "index":
        return markdown.index_markdown(reference, INTRODUCTION)
    if slug == "event-types":
        return markdown.events_markdown()
    if slug == "errors":
        return markdown.errors_markdown(reference.errors)
    return markdown.page_markdown(_find(reference, slug))


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
        delivery_headers=DESCRIPTIONS,
        # Texts of ours, escaped by these functions.
        text=lambda value: Markup(paragraphs(value)),  # noqa: S704
        sentence=lambda value: Markup(with_code(value)),  # noqa: S704
        page=current,
    )
    return renderer.response(request, page)


def _pretty_event(body: object) -> str:
    return json.dumps(msgspec.to_builtins(body), indent=2)
