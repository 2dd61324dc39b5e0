"""Static files: read at startup and served at URLs that change with their content."""

import hashlib
from collections.abc import Mapping
from importlib.resources import files

from tradewind.web.endpoint import Routes
from tradewind.web.problems import RouteNotFound
from tradewind.web.response import NO_STORE, Response

routes = Routes("/static", tag="Dashboard", hidden=True, quiet=True)

_TYPES = {
    "css": b"text/css; charset=utf-8",
    "js": b"text/javascript; charset=utf-8",
    "svg": b"image/svg+xml",
}
_FOREVER = (b"cache-control", b"public, max-age=31536000, immutable")


class Static:
    """The files of `static/`, with one version for all of them.

    Modules import each other by relative paths, so their URLs must change together.
    """

    def __init__(self) -> None:
        folder = files(__package__) / "static"
        contents = {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}
        self._files: Mapping[str, bytes] = dict(sorted(contents.items()))
        digest = hashlib.sha256()
        for name, content in self._files.items():
            digest.update(name.encode() + b"\0" + content + b"\0")
        self.version = digest.hexdigest()[:12]

    def url(self, name: str) -> str:
        if name not in self._files:
            raise LookupError(f"There is no static file {name}.")
        return f"/static/{self.version}/{name}"

    def find(self, name: str) -> tuple[bytes, bytes] | None:
        """The content and the type of a file."""
        content = self._files.get(name)
        return None if content is None else (content, _TYPES[name.rpartition(".")[2]])


@routes.get("/{version}/{name}")
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
