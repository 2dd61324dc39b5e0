"""The routes of the frame: static files, live updates, and the pages about errors of the API."""

from markupsafe import Markup

from tradewind.dashboard.shell.live import Live
from tradewind.dashboard.shell.render import Renderer, Static, TemplatePage
from tradewind.dashboard.shell.session import Sessions
from tradewind.web import problems
from tradewind.web.caller import Caller
from tradewind.web.endpoint import Routes
from tradewind.web.pages import paragraphs
from tradewind.web.problems import RouteNotFound
from tradewind.web.request import Request
from tradewind.web.response import NO_STORE, Response

static_routes = Routes("/static", tag="Dashboard", hidden=True, quiet=True)
live_routes = Routes("/live", tag="Dashboard", hidden=True, quiet=True, pages=True)
# Public, so not `pages`: a program that asks for an unknown code gets a problem document.
problem_routes = Routes("/problems", tag="Help", hidden=True)

_FOREVER = (b"cache-control", b"public, max-age=31536000, immutable")


@static_routes.get("/{version}/{name}")
async def static_file(version: str, name: str, static: Static) -> Response:
    """Serve a file of the dashboard.

    During a deployment, a page of another version gets the file of this one, uncached.
    """
    file = static.find(name)
    if file is None:
        raise RouteNotFound
    content, content_type = file
    caching = _FOREVER if version == static.version else NO_STORE
    return Response(content, headers=[caching], content_type=content_type)


@live_routes.get()
async def live(request: Request, caller: Caller, live: Live) -> Response:
    """Server-sent events: `change`, with the topics that changed."""
    events = live.events(caller, request.headers.get("last-event-id"))
    headers = [NO_STORE, (b"x-accel-buffering", b"no")]
    return Response(headers=headers, content_type=b"text/event-stream", stream=events)


@problem_routes.get()
async def list_problems(request: Request, renderer: Renderer, sessions: Sessions) -> Response:
    """List every error code."""
    kinds = [
        (code, problems.status_of(kind), kind.title)
        for code, kind in sorted(problems.catalogue().items())
    ]
    me = await sessions.find_or_none(request)
    return renderer.response(request, TemplatePage("shell/problems.html", kinds=kinds), me=me)


@problem_routes.get("/{code}")
async def explain_problem(
    code: str, request: Request, renderer: Renderer, sessions: Sessions
) -> Response:
    """Explain an error: the page that the `type` of a problem document links to."""
    kind = problems.catalogue().get(code)
    if kind is None:
        raise RouteNotFound
    page = TemplatePage(
        "shell/problem.html",
        code=code,
        problem_status=problems.status_of(kind),
        name=kind.title,
        # A docstring of ours, escaped by `paragraphs`.
        text=Markup(paragraphs(kind.__doc__ or kind.title)),  # noqa: S704
    )
    return renderer.response(request, page, me=await sessions.find_or_none(request))
