"""The guides as they are in docs/, with the titles and summaries of its README."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import tradewind

# The folder beside the package. An installation without it serves no guides.
DOCS = Path(tradewind.__file__).parents[1] / "docs"

_SECTIONS = {
    "tutorials": "Tutorials",
    "how-to": "How-to guides",
    "reference": "Reference",
    "explanation": "Explanation",
    "runbooks": "Runbooks",
}
_LISTED = re.compile(r"^\| \[[^\]]+\]\(([a-z-]+)/([a-z0-9-]+)\.md\) \| (.+) \|$", re.MULTILINE)
_IMAGES = "images"
IMAGE_TYPES: Mapping[str, bytes] = {".png": b"image/png", ".svg": b"image/svg+xml"}


@dataclass(frozen=True, slots=True)
class Guide:
    """A page of docs/. Its path is that of the file, without `.md`."""

    path: str
    title: str
    summary: str
    markdown: str


@dataclass(frozen=True, slots=True)
class GuideSection:
    """The guides of one folder, in the order of docs/README.md."""

    heading: str
    guides: Sequence[Guide]


class Guides:
    """All guides and their images, read once."""

    def __init__(self, folder: Path = DOCS) -> None:
        index = folder / "README.md"
        text = index.read_text(encoding="utf-8") if index.is_file() else ""
        sections: dict[str, list[Guide]] = {name: [] for name in _SECTIONS}
        for section, name, summary in _LISTED.findall(text):
            if section in sections:
                sections[section].append(_read(folder, f"{section}/{name}", summary))
        self.sections = [
            GuideSection(heading, sections[name])
            for name, heading in _SECTIONS.items()
            if sections[name]
        ]
        self._by_path = {guide.path: guide for guides in sections.values() for guide in guides}
        self._images: Mapping[str, bytes] = {
            f"{_IMAGES}/{file.name}": file.read_bytes()
            for file in sorted((folder / _IMAGES).glob("*.*"))
            if file.suffix in IMAGE_TYPES
        }

    def find(self, path: str) -> Guide | None:
        return self._by_path.get(path)

    def image(self, path: str) -> bytes | None:
        return self._images.get(path)

    def url(self, path: str) -> str | None:
        """Where a file of docs/ is served; None: nowhere."""
        if path in self._images:
            return f"/guides/{path}"
        guide = self.find(path.removesuffix(".md")) if path.endswith(".md") else None
        return f"/guides/{guide.path}" if guide else None


def _read(folder: Path, path: str, summary: str) -> Guide:
    markdown = (folder / f"{path}.md").read_text(encoding="utf-8")
    title = markdown.partition("\n")[0].removeprefix("# ").strip()
    return Guide(path, title, summary, markdown)
