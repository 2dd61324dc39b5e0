"""The pages that explain the errors of the API, one for each code."""

from markupsafe import Markup

from tradewind.dashboard.shell.render import Renderer
from tradewind.dashboard.shell.session import Sessions
from tradewind.web import problems
from tradewind.web.endpoint import Routes
from tradewind.web.pages import paragraphs
from tradewind.web.problems import RouteNotFound
from tradewind.web.request import Request
from tradewind.web.response import Response

# Public, so not `pages`: a program that asks for an unknown code gets a problem document.
routes = Routes("/problems", tag="Help", hidden=True)


@routes.get(media_type="text/html")
async def list_problems(request: Request, renderer: Renderer, sessions: Sessions) -> Response:
    """List every error code."""
    kinds = [
        (code, problems.status_of(kind), kind.title)
        for code, kind in sorted(problems.catalogue().items())
    ]
    caller = await sessions.find_or_none(request)
    return renderer.page("shell/problems.html", request, caller, kinds=kinds)


@routes.get("/{code}", media_type="text/html")
async def explain_problem(
    code: str, request: Request, renderer: Renderer, sessions: Sessions
) -> Response:
    """Explain an error: the page that the `type` of a problem document links to."""
    kind = problems.catalogue().get(code)
    if kind is None:
        raise RouteNotFound
    return renderer.page(
        "shell/problem.html",
        request,
        await sessions.find_or_none(request),
        code=code,
        problem_status=problems.status_of(kind),
        name=kind.title,
        # A docstring of ours, escaped by `paragraphs`.
        text=Markup(paragraphs(kind.__doc__ or kind.title)),  # noqa: S704
    )
