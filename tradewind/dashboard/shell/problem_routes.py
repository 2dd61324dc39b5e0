"""What explains the API's refusals: a page for each kind of problem."""

from markupsafe import Markup

from tradewind.dashboard.shell.render import Renderer
from tradewind.dashboard.shell.session import Sessions
from tradewind.web import problems
from tradewind.web.endpoint import Routes
from tradewind.web.pages import paragraphs
from tradewind.web.problems import RouteNotFound
from tradewind.web.request import Request
from tradewind.web.response import Response

# Not pages of somebody: they are open to all, and a program that asks for a code that does not
# exist gets a problem document.
routes = Routes("/problems", tag="Help", hidden=True)


@routes.get(media_type="text/html")
async def list_problems(request: Request, renderer: Renderer, sessions: Sessions) -> Response:
    """Every kind of problem."""
    kinds = [
        (code, problems.status_of(kind), kind.title)
        for code, kind in sorted(problems.catalogue().items())
    ]
    return renderer.page("problems.html", request, await sessions.glance(request), kinds=kinds)


@routes.get("/{code}", media_type="text/html")
async def explain_problem(
    code: str, request: Request, renderer: Renderer, sessions: Sessions
) -> Response:
    """The page that the `type` of a problem document points to."""
    kind = problems.catalogue().get(code)
    if kind is None:
        raise RouteNotFound
    return renderer.page(
        "problem.html",
        request,
        await sessions.glance(request),
        code=code,
        problem_status=problems.status_of(kind),
        name=kind.title,
        # A docstring of ours, escaped where it is made into paragraphs.
        text=Markup(paragraphs(kind.__doc__ or kind.title)),  # noqa: S704
    )
