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
class ReferencePages:
    """The pages of the reference, each rendered once for each theme that viewers have.

    The reference is public and counts for no rate limit.
    """

    reference: ApiReference
    renderer: Renderer
    sessions: Sessions
    _rendered: dict[tuple[str, str], Response] = field(default_factory=dict)

    def response(self, request: Request, page: str) -> Response:
        """The response that shows a page; RouteNotFound if there is no such page."""
        theme = self.sessions.read_cookie(request, THEME_COOKIE) or ""
        key = (page, theme if theme in _THEMES else "")
        if key not in self._rendered:
            self._rendered[key] = self._render(request, page)
        return self._rendered[key]

    def _render(self, request: Request, page: str) -> Response:
        slug = page.removesuffix(".md")
        if slug != page:
            return Response(self._markdown(slug).encode(), content_type=_MARKDOWN)
        is_other = page in _OTHER_PAGES
        shown = TemplatePage(
            f"reference/{page}.html" if is_other else "reference/page.html",
            slug=page,
            reference=self.reference,
            introduction=INTRODUCTION,
            event_types=[
                (event_type, [(cause, _pretty_event(cause.example)) for cause in event_type.causes])
                for event_type in EVENT_TYPES
            ],
            delivery_headers=DESCRIPTIONS,
            # Texts of ours, escaped by these functions.
            text=lambda value: Markup(paragraphs(value)),  # noqa: S704
            sentence=lambda value: Markup(with_code(value)),  # noqa: S704
            page=None if is_other else self._find(page),
        )
        return self.renderer.response(request, shown)

    def _markdown(self, slug: str) -> str:
        if slug == "index":
            return markdown.index_markdown(self.reference, INTRODUCTION)
        if slug == "event-types":
            return markdown.events_markdown()
        if slug == "errors":
            return markdown.errors_markdown(self.reference.errors)
        return markdown.page_markdown(self._find(slug))

    def _find(self, slug: str) -> ReferencePage:
        page = self.reference.page(slug)
        if page is None:
            raise RouteNotFound
        return page


@routes.get("/docs", media_type="text/html")
async def docs_index(request: Request, pages: ReferencePages) -> Response:
    """The introduction, and every operation."""
    return pages.response(request, "index")


@routes.get("/docs/{page}", media_type="text/html")
async def docs_page(page: str, request: Request, pages: ReferencePages) -> Response:
    """One page of the reference; with `.md` at the end, as Markdown."""
    return pages.response(request, page)


def _pretty_event(body: object) -> str:
    return json.dumps(msgspec.to_builtins(body), indent=2)
