"""Static files over HTTP: style sheets and modules, kept by browsers for a year."""

from tradewind.dashboard.shell.static_files import Static
from tradewind.web.endpoint import Routes
from tradewind.web.problems import RouteNotFound
from tradewind.web.response import NO_STORE, Response

routes = Routes("/static", tag="Dashboard", hidden=True, quiet=True)

_FOREVER = (b"cache-control", b"public, max-age=31536000, immutable")


@routes.get("/{version}/{name}")
async def static_file(version: str, name: str, static: Static) -> Response:
    """A file of the dashboard.

    While versions are replaced, a page of another one gets the file as it is here, unkept.
    """
    found = static.find(name)
    if found is None:
        raise RouteNotFound
    content, kind = found
    kept = _FOREVER if version == static.version else NO_STORE
    return Response(content, headers=[kept], content_type=kind)
