"""Goods: what a line of an order buys, as its product or its marketplace order shows it. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tradewind.platforms.model import Goods, Item, Line, Product, Sku

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


def ordered_goods(
    *,
    title: str | None,
    image_url: str | None,
    attributes: Mapping[str, str] | None,
    unit_price_fen: int | None,
    seller_name: str | None,
) -> Goods | None:
    """The goods of a line as its order on the marketplace shows them; None without a title.

    Orders name neither the translated title nor the seller by the id that products do.
    """
    shown_title = _text(title)
    if shown_title is None:
        return None
    return Goods(
        title=shown_title,
        image_url=_url(image_url),
        attributes=None if attributes is None else _bounded(attributes),
        unit_price_fen=unit_price_fen,
        seller_name=_text(seller_name),
    )


def fill_from_items(lines: Sequence[Line], items: Sequence[Item]) -> Sequence[Line]:
    """The lines with the goods that the marketplace's own lines show, where none are known yet.

    The same lines if there is nothing to add. A line without a variant matches the only line of
    its product, and the only line of an order matches the only one of the marketplace, whatever
    their ids are: Taobao has other ids in orders than in its search.
    """
    if all(line.goods is not None for line in lines):
        return lines
    by_variant = {(item.product_id, item.sku_id): item.goods for item in items if item.goods}
    by_product: dict[str | None, list[Goods]] = {}
    for (product_id, _), goods in by_variant.items():
        by_product.setdefault(product_id, []).append(goods)

    def find(line: Line) -> Goods | None:
        if len(lines) == len(by_variant) == 1:
            return next(iter(by_variant.values()))
        exact = by_variant.get((line.product_id, line.sku_id))
        others = by_product.get(line.product_id, [])
        return exact or (others[0] if line.sku_id is None and len(others) == 1 else None)

    known_goods = [line.goods or find(line) for line in lines]
    if all(goods is line.goods for goods, line in zip(known_goods, lines, strict=True)):
        return lines
    return [replace(line, goods=goods) for goods, line in zip(known_goods, lines, strict=True)]


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
    return _bounded(sku.attributes)


def _bounded(attributes: Mapping[str, str]) -> dict[str, str]:
    pairs = [(_text(name), _text(value)) for name, value in attributes.items()]
    return {name: value for name, value in pairs[:_MOST_ATTRIBUTES] if name and value}


def _text(text: str | None) -> str | None:
    """A text without the spaces around it, of a bounded length; None if it is empty."""
    return (text or "").strip()[:_LONGEST_TEXT] or None


def _url(url: str | None) -> str | None:
    """A URL that is not too long to be kept: a part of one would lead nowhere."""
    return url if url and len(url) <= _LONGEST_URL else None
