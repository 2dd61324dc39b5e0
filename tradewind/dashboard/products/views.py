"""A product for people: its description as text, and the lines that preview and order it. Pure."""

import json
import re
import shlex
from collections.abc import Iterator
from html import unescape

from tradewind.products.wire import ProductOut

_BLOCKS = frozenset(
    {"address", "blockquote", "br", "dd", "div", "dl", "dt", "hr", "li", "ol", "p", "section"}
    | {"table", "td", "th", "tr", "ul", "h1", "h2", "h3", "h4", "h5", "h6"}
)
_UNSEEN = frozenset({"script", "style", "template", "head", "title", "noscript", "iframe"})
_LONGEST = 20_000
_COMMENT = "<!--"
# No tag goes on behind the next `<`, so that none is looked for twice in the same letters.
_MARKUP = re.compile(r"<!--|-->|<(?P<closes>/?)(?P<name>[A-Za-z][A-Za-z0-9]*)[^<>]*>|<[!?/][^<>]*>")
# Python reads no decimal number of thousands of digits, and no letter has such a one.
_ENDLESS_NUMBER = re.compile(r"&#[0-9]{8,};?")
_ADDRESS = {
    "name": "张三",
    "phone": "15251667788",
    "province": "浙江省",
    "city": "杭州市",
    "district": "滨江区",
    "detail": "网商路699号",
}


def as_text(html: str | None) -> str:
    """What a person would read in a description that may be HTML; its markup is left out.

    Every letter is looked at a fixed number of times, whatever it is: who writes descriptions
    must not be able to keep us busy. What is left of odd markup is text, and shown as such.
    """
    text = _ENDLESS_NUMBER.sub("\ufffd", (html or "")[:_LONGEST])
    lines = unescape("".join(_said(text))).splitlines()
    kept = [re.sub(r"\s+", " ", line).strip() for line in lines]
    return "\n".join(line for line in kept if line)


def _said(text: str) -> Iterator[str]:
    """The pieces of a text between its tags, without those that nobody sees."""
    unseen, end = "", 0
    for found in _MARKUP.finditer(text):
        name = (found["name"] or "").lower()
        if not unseen:
            yield text[end : found.start()]
            if name in _BLOCKS:
                yield "\n"
            if found[0] == _COMMENT:
                unseen = _COMMENT
            elif name in _UNSEEN and not found["closes"] and not found[0].endswith("/>"):
                unseen = name
        elif unseen == _COMMENT:
            unseen = "" if found[0].endswith("-->") else unseen
        elif found["closes"] and name == unseen:
            unseen = ""
        end = found.end()
    if not unseen:
        yield text[end:]


def unit_price(product: ProductOut, sku_id: str | None, quantity: int) -> float | None:
    """What a piece costs in this quantity, as far as the product says; freight comes on top."""
    reached = [one for one in product.price_ranges if one.min_quantity <= quantity]
    if reached:
        return max(reached, key=lambda one: one.min_quantity).price_cny
    chosen = next((one.price_cny for one in product.skus if one.id == sku_id), None)
    return product.price_cny if chosen is None else chosen


def curl(
    public_url: str, path: str, product: ProductOut, sku_id: str | None, quantity: int, key: str
) -> str:
    """A line to paste into a shell; the API key is taken from the variable TRADEWIND_KEY.

    What a marketplace wrote is quoted, so that no shell reads it as anything but text.
    """
    item: dict[str, object] = {"product_id": product.id, "quantity": quantity}
    if sku_id:
        item["sku_id"] = sku_id
    body = {"platform": product.platform, "items": [item], "address": _ADDRESS}
    lines = [
        f"curl {shlex.quote(public_url + path)}",
        '-H "x-api-key: $TRADEWIND_KEY"',
        *([f'-H "idempotency-key: {key}"'] if key else []),
        '-H "content-type: application/json"',
        f"-d {shlex.quote(json.dumps(body, ensure_ascii=False))}",
    ]
    return " \\\n  ".join(lines)
