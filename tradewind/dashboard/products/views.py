"""A product for people: its description as plain text, and the curl commands to order it. Pure."""

import json
import re
import shlex
from collections.abc import Iterator
from html import unescape

from tradewind.platforms.model import Product, ProductAttribute
from tradewind.products.detail import ProductDetail

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
_ADDRESS = {
    "name": "张三",
    "phone": "15251667788",
    "province": "浙江省",
    "city": "杭州市",
    "district": "滨江区",
    "detail": "网商路699号",
}


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


def unit_price(product: Product, sku_id: str | None, quantity: int) -> int | None:
    """The unit price in fen at this quantity, without freight; None if it is unknown."""
    ranges = [step for step in product.price_ranges if step.min_quantity <= quantity]
    if ranges:
        return max(ranges, key=lambda step: step.min_quantity).price_fen
    sku_price = next((sku.price_fen for sku in product.skus if sku.id == sku_id), None)
    return product.offer.price_fen if sku_price is None else sku_price


def curl_command(
    public_url: str, path: str, detail: ProductDetail, sku_id: str | None, quantity: int, key: str
) -> str:
    """A command for a shell; the API key comes from the variable TRADEWIND_KEY.

    Values of the marketplace are quoted, so that a shell reads them as text.
    """
    item: dict[str, object] = {"product_id": detail.product.offer.id, "quantity": quantity}
    if sku_id:
        item["sku_id"] = sku_id
    body = {"platform": detail.platform, "items": [item], "address": _ADDRESS}
    lines = [
        f"curl {shlex.quote(public_url + path)}",
        '-H "x-api-key: $TRADEWIND_KEY"',
        *([f'-H "idempotency-key: {key}"'] if key else []),
        '-H "content-type: application/json"',
        f"-d {shlex.quote(json.dumps(body, ensure_ascii=False))}",
    ]
    return " \\\n  ".join(lines)
