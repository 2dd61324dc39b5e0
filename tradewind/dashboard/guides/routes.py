"""The pages of the guides, each also as Markdown, and the list of them for programs."""

from functools import cache
from pathlib import PurePath

from tradewind.dashboard.guides.library import IMAGE_TYPES, Guide, Guides
from tradewind.dashboard.guides.views import RenderedGuide, index_for_programs, render
from tradewind.dashboard.reference.markdown import page_links
from tradewind.dashboard.reference.model import ApiReference
from tradewind.dashboard.shell.render import Renderer, TemplatePage
from tradewind.dashboard.shell.session import Sessions
from tradewind.web.endpoint import Routes
from tradewind.web.problems import RouteNotFound
from tradewind.web.request import Request
from tradewind.web.response import Response
from tradewind.web.urls import PublicUrl

# Public, so not `pages`: a program that asks for an unknown guide gets a problem document.
routes = Routes("", tag="Help", hidden=True)

_MARKDOWN = b"text/markdown; charset=utf-8"
_PLAIN = b"text/plain; charset=utf-8"
_DAY = (b"cache-control", b"max-age=86400")


@routes.get("/guides")
async def list_guides(
    request: Request, guides: Guides, renderer: Renderer, sessions: Sessions
) -> Response:
    """List all guides."""
    page = TemplatePage("guides/guides.html", guide_sections=guides.sections)
    return renderer.response(request, page, me=await sessions.find_or_none(request))


@routes.get("/guides/{section}/{name}")
async def show_guide(
    section: str,
    name: str,
    request: Request,
    guides: Guides,
    renderer: Renderer,
    sessions: Sessions,
) -> Response:
    """Show a guide, its Markdown (`….md`), or an image of one."""
    path = f"{section}/{name}"
    image = guides.image(path)
    if image is not None:
        return Response(image, headers=[_DAY], content_type=IMAGE_TYPES[PurePath(path).suffix])
    guide = guides.find(path.removesuffix(".md"))
    if guide is None:
        raise RouteNotFound
    if path.endswith(".md"):
        return Response(guide.markdown.encode(), content_type=_MARKDOWN)
    page = TemplatePage(
        "guides/guide.html",
        guide=guide,
        rendered=_rendered(guides, guide),
    )
    return renderer.response(request, page, me=await sessions.find_or_none(request))


@routes.get("/llms.txt")
async def list_for_programs(
    guides: Guides, reference: ApiReference, public_url: PublicUrl
) -> Response:
    """List the guides and the API reference for programs that read Markdown."""
    text = index_for_programs(guides.sections, page_links(reference), public_url.text)
    return Response(text.encode(), content_type=_PLAIN)


@cache
def _rendered(guides: Guides, guide: Guide) -> RenderedGuide:
    """The guide as HTML. It depends on no request, and takes milliseconds."""
    return render(guide, guides.url)
