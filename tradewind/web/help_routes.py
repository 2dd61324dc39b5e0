"""What explains the API: a page for each kind of problem, and what plain pages look like."""

from tradewind.web import pages, problems
from tradewind.web.answer import Answer
from tradewind.web.endpoint import Routes
from tradewind.web.problems import RouteNotFound

routes = Routes("", tag="Help", hidden=True)


@routes.get("/problems", media_type="text/html")
async def list_problems() -> Answer:
    """Every kind of problem."""
    rows = "".join(
        f'<li><a href="/problems/{code}"><code>{code}</code></a> '
        f'<span class="soft">{problems.status_of(kind)} · {kind.title}</span></li>'
        for code, kind in sorted(problems.catalogue().items())
    )
    return pages.page("Problems", f"<ul>{rows}</ul>")


@routes.get("/problems/{code}", media_type="text/html")
async def explain_problem(code: str) -> Answer:
    """The page that the `type` of a problem document points to."""
    kind = problems.catalogue().get(code)
    if kind is None:
        raise RouteNotFound
    text = pages.paragraphs(kind.__doc__ or kind.title)
    known = f"<p class=code>HTTP {problems.status_of(kind)} · <code>{code}</code></p>"
    more = (
        '<p class=soft><a href="/problems">All problems</a> · <a href="/docs">API reference</a></p>'
    )
    return pages.page(kind.title, known + text + more)


@routes.get(pages.STYLE_PATH, media_type="text/css")
async def pages_style() -> Answer:
    """The stylesheet of plain pages."""
    return Answer(
        pages.STYLE, headers=[(b"cache-control", b"max-age=3600")], content_type=b"text/css"
    )


@routes.get(pages.ICON_PATH, media_type="image/svg+xml")
async def icon() -> Answer:
    """The mark of this service."""
    headers = [(b"cache-control", b"max-age=86400")]
    return Answer(pages.ICON, headers=headers, content_type=b"image/svg+xml")
