"""A product for people: its description as text, and the lines that preview and order it. Pure."""

import json
import re
import shlex
from html.parser import HTMLParser

from tradewind.products.wire import ProductOut

_BLOCKS = frozenset(
    {"address", "blockquote", "br", "dd", "div", "dl", "dt", "hr", "li", "ol", "p", "section"}
    | {"table", "td", "th", "tr", "ul", "h1", "h2", "h3", "h4", "h5", "h6"}
)
_UNSEEN = frozenset({"script", "style", "template", "head", "title", "noscript", "iframe"})
_LONGEST = 20_000
_ADDRESS = {
    "name": "张三",
    "phone": "15251667788",
    "province": "浙江省",
    "city": "杭州市",
    "district": "滨江区",
    "detail": "网商路699号",
}


def as_text(html: str | None) -> str:
    """What a person would read in a description that may be HTML; its markup is left out."""
    reader = _Reader()
    reader.feed((html or "")[:_LONGEST])
    reader.close()
    lines = ("".join(reader.said)).splitlines()
    kept = [re.sub(r"\s+", " ", line).strip() for line in lines]
    return "\n".join(line for line in kept if line)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.said: list[str] = []
        self._unseen = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002 - the parser's
        if tag in _UNSEEN:
            self._unseen += 1
        if tag in _BLOCKS:
            self.said.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in _UNSEEN:
            self._unseen = max(0, self._unseen - 1)
        if tag in _BLOCKS:
            self.said.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._unseen:
            self.said.append(data)


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
