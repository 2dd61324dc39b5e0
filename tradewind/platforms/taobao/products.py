"""Search and detail at Taobao Global: requests, pages, and what the responses say."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

from tradewind.platforms.failures import UnreadableResponse
from tradewind.platforms.model import Offer, Product, Query, Sku, Sort
from tradewind.platforms.taobao.values import (
    Json,
    fen_of_yuan,
    identity,
    record,
    records,
    text,
    values,
    whole,
)

T = TypeVar("T")

LARGEST = 20


@dataclass(frozen=True, slots=True)
class Cut:
    """Which of the marketplace's pages hold one of ours, and what to skip at their start."""

    page_size: int
    first: int
    last: int
    skip: int


def cut(page: int, size: int) -> Cut:
    if size <= LARGEST:
        return Cut(size, page, page, 0)
    begin, end = (page - 1) * size, page * size
    first = begin // LARGEST
    return Cut(LARGEST, first + 1, (end - 1) // LARGEST + 1, begin - first * LARGEST)


def joined(parts: Sequence[Sequence[T]], where: Cut, size: int) -> Sequence[T]:
    """Our page. A short part ends the results, whatever the parts after it hold."""
    found: list[T] = []
    for part in parts:
        found.extend(part)
        if len(part) < where.page_size:
            break
    return tuple(found[where.skip : where.skip + size])


def least_total(page: int, size: int, found: int, *, more: bool) -> int:
    """How many results there are at least, since the marketplace does not say how many.

    One more than were seen, while more may follow, so that there is a next page to ask for.
    """
    return (page - 1) * size + found + (1 if more else 0)


def may_follow(parts: Sequence[Sequence[T]], where: Cut, size: int) -> bool:
    """Whether there may be results after our page: every part is full, or they reach beyond it."""
    held = 0
    for part in parts:
        held += len(part)
        if len(part) < where.page_size:
            return held > where.skip + size
    return True


ITEM_PAGE = "https://item.taobao.com/item.htm?id="

_SORTS = {
    Sort.PRICE_ASC: "PRICE_ASC",
    Sort.PRICE_DESC: "PRICE_DESC",
    Sort.SALES_DESC: "SALE_QTY_DESC",
}
# Chinese is what everything is written in; for any other language there is no translation.
_LANGUAGES = frozenset({"en", "ja", "ko", "ru", "vi"})


def language(lang: str) -> dict[str, str]:
    known = lang.partition("-")[0].lower()
    return {"language": known} if known in _LANGUAGES else {}


def search_params(query: Query, page_no: int, page_size: int) -> dict[str, str]:
    """Price limits are in fen, though the prices that come back are in yuan."""
    bounds = (("min_price", query.min_price_fen), ("max_price", query.max_price_fen))
    filters = [f"{name}:{fen}" for name, fen in bounds if fen is not None]
    params = {
        "keyword": query.text,
        "page_no": str(page_no),
        "page_size": str(page_size),
        "sort": _SORTS.get(query.sort, ""),
        "filters": msgspec.json.encode(filters).decode() if filters else "",
        **language(query.lang),
    }
    return {name: value for name, value in params.items() if value}


@dataclass(frozen=True, slots=True)
class Hits:
    """One page of the marketplace's own, and how much there is in all, should it ever say.

    A hit without an id cannot be bought and is None; it takes up its place in the page.
    """

    offers: Sequence[Offer | None]
    total: int | None


def hits(data: Any, item_page: str) -> Hits:
    found = {} if data is None else data
    if not isinstance(found, Mapping) or not isinstance(found.get("data"), list | None):
        raise UnreadableResponse("no list of products")
    offers = tuple(_hit(raw, item_page) for raw in values(found.get("data")))
    return Hits(offers, whole(found.get("results_total")))


def _hit(hit: Any, item_page: str) -> Offer | None:
    raw = record(hit)
    item_id = identity(raw.get("item_id"))
    if item_id is None:
        return None
    price = fen_of_yuan(raw.get("price"))
    return Offer(
        id=item_id,
        title=text(raw.get("title")) or "",
        title_translated=text(record(raw.get("multi_language_info")).get("title")),
        url=item_page + item_id,
        image_url=_address(raw.get("main_image_url")),
        price_fen=price,
        price_max_fen=price,
        min_order_quantity=None,
        sold=None,
        repurchase_rate=None,
        seller_id=None,
        seller_name=text(raw.get("shop_name")),
    )


@dataclass(frozen=True, slots=True)
class ListedSku:
    """A SKU by the id that orders use, and its price now."""

    ordered_as: str
    price_fen: int | None


@dataclass(frozen=True, slots=True)
class ItemListing:
    """A product as it is ordered, which is by other ids than those that a search finds."""

    ordered_as: str
    skus: Mapping[str, ListedSku]
    min_order_quantity: int | None


def listing(data: Any, product_id: str) -> ItemListing:
    """Where the marketplace names no other ids, its first ones serve."""
    raw = record(data)
    if not raw:
        raise UnreadableResponse("no product")
    skus = {
        found: ListedSku(identity(sku.get("mp_skuId")) or found, _price(sku))
        for sku in records(raw.get("sku_list"))
        if (found := identity(sku.get("sku_id")))
    }
    ordered_as = identity(raw.get("mp_id")) or product_id
    return ItemListing(ordered_as, skus, whole(raw.get("begin_amount")))


def product(data: Any, product_id: str, item_page: str) -> Product:
    raw = record(data)
    if not raw:
        raise UnreadableResponse("no product")
    translated = record(raw.get("multi_language_info"))
    skus = _skus(raw, translated)
    prices = [sku.price_fen for sku in skus if sku.price_fen is not None]
    price = _price(raw)
    stocks = [sku.stock for sku in skus if sku.stock is not None]
    images = tuple(found for one in values(raw.get("pic_urls")) if (found := _address(one)))
    offer = Offer(
        id=identity(raw.get("item_id")) or product_id,
        title=text(raw.get("title")) or "",
        title_translated=text(translated.get("title")),
        url=item_page + product_id,
        image_url=images[0] if images else None,
        price_fen=min(prices, default=price),
        price_max_fen=max(prices, default=price),
        min_order_quantity=whole(raw.get("begin_amount")),
        sold=None,
        repurchase_rate=None,
        seller_id=identity(raw.get("shop_id")),
        seller_name=text(raw.get("shop_name")),
    )
    return Product(
        offer=offer,
        images=images,
        description=text(raw.get("description")),
        skus=skus,
        price_ranges=(),
        stock=sum(stocks) if stocks else whole(raw.get("quantity")),
        shipping={},
    )


def _skus(raw: Json, translated: Json) -> tuple[Sku, ...]:
    words = {
        identity(one.get("sku_id")): _attributes(one)
        for one in records(translated.get("sku_properties"))
    }
    return tuple(
        Sku(
            id=found,
            attributes=words.get(found) or _attributes(sku),
            price_fen=_price(sku),
            stock=whole(sku.get("quantity")),
            image_url=_address(sku.get("pic_url")),
        )
        for sku in records(raw.get("sku_list"))
        if (found := identity(sku.get("sku_id")))
    )


def _attributes(raw: Json) -> dict[str, str]:
    return {
        name: text(one.get("value_name")) or ""
        for one in records(raw.get("properties"))
        if (name := text(one.get("prop_name")))
    }


def _price(raw: Json) -> int | None:
    """In fen here. What is paid is the promotion's price, if there is one; coupons are not ours."""
    return whole(raw.get("promotion_price")) or whole(raw.get("price"))


def _address(raw: Any) -> str | None:
    """Pictures are often addressed without a scheme."""
    found = text(raw)
    return f"https:{found}" if found and found.startswith("//") else found
