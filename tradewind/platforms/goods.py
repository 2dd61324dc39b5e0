"""Goods: what a line of an order buys, as its product's detail shows it. Pure."""

from collections.abc import Sequence
from dataclasses import replace

from tradewind.platforms.model import Goods, Line, Product, Sku

# Marketplaces set no limits to their texts. What is stored with every order has some.
_LONGEST_TEXT = 500
_LONGEST_URL = 2000
_MOST_ATTRIBUTES = 20


def with_goods(line: Line, product: Product, lines: Sequence[Line]) -> Line:
    """The line with its goods; `lines` are all lines of the order.

    The quantities of all variants of a product count together for its price ranges.
    """
    quantity = sum(other.quantity for other in lines if other.product_id == line.product_id)
    return replace(line, goods=goods_of(product, line.sku_id, quantity))


def goods_of(product: Product, sku_id: str | None, quantity: int) -> Goods:
    """The goods of a product or variant at this quantity."""
    offer, sku = product.offer, _sku(product, sku_id)
    return Goods(
        title=_text(offer.title),
        title_translated=_text(offer.title_translated),
        image_url=_url(sku.image_url if sku else None) or _url(offer.image_url),
        attributes=_attributes(product, sku),
        unit_price_fen=unit_price(product, sku_id, quantity),
        seller_id=_text(offer.seller_id),
        seller_name=_text(offer.seller_name),
    )


def unit_price(product: Product, sku_id: str | None, quantity: int) -> int | None:
    """The price of one piece in fen, without freight; None if it is unknown.

    It is the price of the variant. A product that is priced by quantity has price ranges instead;
    below the first one, the price is that of the first.
    """
    sku = _sku(product, sku_id)
    if sku is not None and sku.price_fen is not None:
        return sku.price_fen
    ranges = sorted(product.price_ranges, key=lambda step: step.min_quantity)
    if ranges:
        reached = [step for step in ranges if step.min_quantity <= quantity]
        return (reached[-1] if reached else ranges[0]).price_fen
    return product.offer.price_fen


def _sku(product: Product, sku_id: str | None) -> Sku | None:
    return next((sku for sku in product.skus if sku.id == sku_id), None)


def _attributes(product: Product, sku: Sku | None) -> dict[str, str] | None:
    """The attributes of the variant; None for a variant that the product does not list."""
    if sku is None:
        return None if product.skus else {}
    pairs = [(_text(name), _text(value)) for name, value in sku.attributes.items()]
    return {name: value for name, value in pairs[:_MOST_ATTRIBUTES] if name and value}


def _text(text: str | None) -> str | None:
    """A text without the spaces around it, of a bounded length; None if it is empty."""
    return (text or "").strip()[:_LONGEST_TEXT] or None


def _url(url: str | None) -> str | None:
    """A URL that is not too long to be kept: a part of one would lead nowhere."""
    return url if url and len(url) <= _LONGEST_URL else None
