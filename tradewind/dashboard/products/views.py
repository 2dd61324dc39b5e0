"""A product for people: its description as plain text, and its attributes. Pure."""

import re
from collections.abc import Iterator
from html import unescape

from tradewind.platforms.model import ProductAttribute

_BLOCKS = frozenset(
    {"address", "blockquote", "br", "dd", "div", "dl", "dt", "hr", "li", "ol", "p", "section"}
    | {"table", "td", "th", "tr", "ul", "h1", "h2", "h3", "h4", "h5", "h6"}
)
_INVISIBLE = frozenset({"script", "style", "template", "head", "title", "noscript", "iframe"})
_LONGEST = 20_000
_COMMENT = "<!--"
# A tag ends before the next `<`, so that no character is searched twice for a tag.
_MARKUP = re.compile(r"<!--|-->|<(?P<closes>/?)(?P<name>[A-Za-z][A-Za-z0-9]*)[^<>]*>|<[!?/][^<>]*>")
# Python does not parse numbers of thousands of digits, and no character has such a number.
_ENDLESS_NUMBER = re.compile(r"&#[0-9]{8,};?")


def plain_text(html: str | None) -> str:
    """The text of a description that may be HTML.

    It takes linear time on any input, since sellers write descriptions. Malformed markup stays as
    text.
    """
    text = _ENDLESS_NUMBER.sub("\ufffd", (html or "")[:_LONGEST])
    lines = unescape("".join(_visible_text(text))).splitlines()
    kept = [re.sub(r"\s+", " ", line).strip() for line in lines]
    return "\n".join(line for line in kept if line)


def _visible_text(text: str) -> Iterator[str]:
    """The text between the tags, without that of invisible elements."""
    hidden_by, end = "", 0
    for tag in _MARKUP.finditer(text):
        name = (tag["name"] or "").lower()
        if not hidden_by:
            yield text[end : tag.start()]
            if name in _BLOCKS:
                yield "\n"
            if tag[0] == _COMMENT:
                hidden_by = _COMMENT
            elif name in _INVISIBLE and not tag["closes"] and not tag[0].endswith("/>"):
                hidden_by = name
        elif hidden_by == _COMMENT:
            hidden_by = "" if tag[0].endswith("-->") else hidden_by
        elif tag["closes"] and name == hidden_by:
            hidden_by = ""
        end = tag.end()
    if not hidden_by:
        yield text[end:]


def attribute_text(attribute: ProductAttribute) -> str:
    """The value of an attribute with its unit: "0.25 kg"."""
    return f"{attribute.value} {attribute.unit}" if attribute.unit else attribute.value
