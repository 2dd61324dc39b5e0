"""Static files: read at the start, served under an address that changes with their content."""

import hashlib
from collections.abc import Mapping
from importlib.resources import files

_TYPES = {
    "css": b"text/css; charset=utf-8",
    "js": b"text/javascript; charset=utf-8",
    "svg": b"image/svg+xml",
}


class Static:
    """The files of `static/`, and one version for all of them.

    Modules import each other by relative paths, so they must change their address together.
    """

    def __init__(self) -> None:
        folder = files(__package__) / "static"
        found = {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}
        self._files: Mapping[str, bytes] = dict(sorted(found.items()))
        digest = hashlib.sha256()
        for name, content in self._files.items():
            digest.update(name.encode() + b"\0" + content + b"\0")
        self.version = digest.hexdigest()[:12]

    def url(self, name: str) -> str:
        if name not in self._files:
            raise LookupError(f"There is no static file {name}.")
        return f"/static/{self.version}/{name}"

    def find(self, name: str) -> tuple[bytes, bytes] | None:
        """A file's content and its type."""
        content = self._files.get(name)
        return None if content is None else (content, _TYPES[name.rpartition(".")[2]])
