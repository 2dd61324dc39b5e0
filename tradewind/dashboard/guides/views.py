"""HTML from the Markdown of a guide, and the list of all guides for programs."""

import posixpath
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from markupsafe import Markup

from tradewind.dashboard.guides.library import Guide, GuideSection

_ABSOLUTE = re.compile(r"[a-z]+:|/|#")
# The markers of a part that a command writes.
_MARKER = re.compile(r"^<!-- (?:begin|end) .*-->$", re.MULTILINE)
_NOT_IN_ANCHORS = re.compile(r"[^\w\- ]")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of the second level, for the contents of the page."""

    text: str
    anchor: str


@dataclass(frozen=True, slots=True)
class RenderedGuide:
    """A guide as HTML, without its title."""

    html: Markup
    headings: Sequence[Heading]


class _Renderer(RendererHTML):
    """Wraps code blocks so that they can be copied, and tables so that they can scroll."""

    def fence(
        self, tokens: Sequence[Token], index: int, _options: OptionsDict, _env: EnvType
    ) -> str:
        text = tokens[index].content
        copy = (
            f'<button type="button" class="copy" data-copy="{escape(text)}" '
            'aria-label="Copy code" hidden>Copy</button>'
        )
        return f'<div class="code">{copy}<pre tabindex="0"><code>{escape(text)}</code></pre></div>'

    def table_open(self, *_arguments: object) -> str:
        return '<div class="scroll" tabindex="0"><table>'

    def table_close(self, *_arguments: object) -> str:
        return "</table></div>"


# Raw HTML in a guide is shown as text.
_markdown = MarkdownIt("commonmark", {"html": False}, renderer_cls=_Renderer).enable("table")


def render(guide: Guide, url_of: Callable[[str], str | None]) -> RenderedGuide:
    """Render a guide; `url_of` gives the URL of a file of docs/, None if it is not served."""
    tokens = _markdown.parse(_MARKER.sub("", guide.markdown))
    if tokens and tokens[0].type == "heading_open" and tokens[0].tag == "h1":
        tokens = tokens[3:]
    headings = []
    folder = posixpath.dirname(guide.path)
    for index, token in enumerate(tokens):
        if token.type == "heading_open":
            text = _plain(tokens[index + 1])
            token.attrSet("id", anchor_of(text))
            if token.tag == "h2":
                headings.append(Heading(text, anchor_of(text)))
        for child in token.children or ():
            _relink(child, folder, url_of)
    html = _markdown.renderer.render(tokens, _markdown.options, {})
    return RenderedGuide(Markup(html), headings)  # noqa: S704 - the renderer escapes all text


def anchor_of(heading: str) -> str:
    """The anchor that links in Markdown use for a heading."""
    return _NOT_IN_ANCHORS.sub("", heading.lower()).replace(" ", "-")


def index_for_programs(
    sections: Sequence[GuideSection],
    reference: Sequence[tuple[str, str, str]],
    public_url: str,
) -> str:
    """The text of /llms.txt: what there is to read, as Markdown.

    `reference` has the title, the path and the subject of each page of the API reference.
    """
    lines = [
        "# Tradewind",
        "",
        "> Cross-border purchasing: one HTTP/JSON API to search products on marketplaces, order",
        "> there, pay after an approval, and be told of every change by signed webhooks.",
        "",
        f"- [OpenAPI document]({public_url}/openapi.json): every operation of the API",
        f"- [Error codes]({public_url}/problems): what each `code` of a problem document means",
    ]
    lines += ["", "## API reference", ""]
    lines += [f"- [{title}]({public_url}{path}): {text}" for title, path, text in reference]
    for section in sections:
        lines += ["", f"## {section.heading}", ""]
        lines += [
            f"- [{guide.title}]({public_url}/guides/{guide.path}.md): {guide.summary}"
            for guide in section.guides
        ]
    return "\n".join(lines) + "\n"


def _plain(inline: Token) -> str:
    return "".join(child.content for child in inline.children or ())


def _relink(token: Token, folder: str, url_of: Callable[[str], str | None]) -> None:
    """Have a relative link or image of a guide point to what the server serves."""
    attribute = {"link_open": "href", "image": "src"}.get(token.type)
    target = str(token.attrGet(attribute)) if attribute else ""
    if attribute is None or _ABSOLUTE.match(target):
        return
    path, hash_mark, anchor = target.partition("#")
    url = url_of(posixpath.normpath(posixpath.join(folder, path)))
    if url is None:
        token.attrs.pop(attribute)  # a file of the repository that is not a guide
    else:
        token.attrSet(attribute, f"{url}{hash_mark}{anchor}")
