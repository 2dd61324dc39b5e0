"""Product search and detail at Taobao Global."""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import msgspec

from tradewind.platforms.failures import UnreadableResponse
from tradewind.platforms.model import (
    Offer,
    Product,
    ProductAttribute,
    Query,
    SearchPage,
    Sku,
    Sort,
)
from tradewind.platforms.taobao.values import (
    Json,
    fen_of_yuan,
    identity,
    picture_url,
    record,
    records,
    text,
    values,
    whole,
)

T = TypeVar("T")

LARGEST_PAGE = 20


@dataclass(frozen=True, slots=True)
class PageSpan:
    """The marketplace's pages that hold a page of ours, and how many results to skip."""

    page_size: int
    first: int
    last: int
    skip: int


def span_of(page: int, size: int) -> PageSpan:
    """Map a page of any size to the marketplace's pages of at most twenty."""
    if size <= LARGEST_PAGE:
        return PageSpan(size, page, page, 0)
    begin, end = (page - 1) * size, page * size
    first = begin // LARGEST_PAGE
    return PageSpan(
        LARGEST_PAGE, first + 1, (end - 1) // LARGEST_PAGE + 1, begin - first * LARGEST_PAGE
    )


def join_pages(parts: Sequence[Sequence[T]], span: PageSpan, size: int) -> tuple[Sequence[T], bool]:
    """Return our page, and whether results may follow it.

    A short part ends the results, whatever the parts after it hold. If every part is full, the
    results may go on, since the marketplace states no total.
    """
    results: list[T] = []
    ended = False
    for part in parts:
        results.extend(part)
        ended = len(part) < span.page_size
        if ended:
            break
    end = span.skip + size
    return tuple(results[span.skip : end]), not ended or len(results) > end


ITEM_PAGE = "https://item.taobao.com/item.htm?id="

_SORTS = {
    Sort.PRICE_ASC: "PRICE_ASC",
    Sort.PRICE_DESC: "PRICE_DESC",
    Sort.SALES_DESC: "SALE_QTY_DESC",
}
# Everything is written in Chinese; into other languages there is no translation.
_LANGUAGES = frozenset({"en", "ja", "ko", "ru", "vi"})


def language(lang: str) -> dict[str, str]:
    language_code = lang.partition("-")[0].lower()
    return {"language": language_code} if language_code in _LANGUAGES else {}


def search_params(query: Query, page_no: int, page_size: int) -> dict[str, str]:
    """Write the request: price limits are in fen, though the prices in results are in yuan."""
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
    """A page of the marketplace, and the total if it states one.

    A hit without an id cannot be bought and is None, so that the page keeps its length.
    """

    offers: Sequence[Offer | None]
    total: int | None


def hits(data: object, item_page: str) -> Hits:
    page = {} if data is None else data
    if not isinstance(page, Mapping) or not isinstance(page.get("data"), list | None):
        raise UnreadableResponse("no list of products")
    offers = tuple(_hit(raw, item_page) for raw in values(page.get("data")))
    return Hits(offers, whole(page.get("results_total")))


def upload_params(image: bytes) -> dict[str, str]:
    return {"image_base64": b64encode(image).decode()}


def uploaded_image(data: object) -> str:
    """Read the ID of a picture that was uploaded."""
    image_id = identity(record(data).get("image_id"))
    if image_id is None:
        raise UnreadableResponse("no image_id")
    return image_id


def similar_hits(data: object, item_page: str) -> Hits:
    """Read the products that look like a picture: a list, without a page around it."""
    return hits({"data": data} if isinstance(data, list) else data, item_page)


def image_search_params(query: Query) -> dict[str, str]:
    return {"image_id": query.image_id or "", **language(query.lang)}


def image_search_page(similar: Hits, query: Query) -> SearchPage:
    """Return a page of the products that look like a picture.

    The marketplace lists all of them at once: it knows no pages, prices or sorting here.
    """
    low = query.min_price_fen if query.min_price_fen is not None else 0
    offers = [
        offer
        for offer in similar.offers
        if offer is not None and _is_priced(offer, low, query.max_price_fen, query)
    ]
    if query.sort in (Sort.PRICE_ASC, Sort.PRICE_DESC):
        offers.sort(key=lambda offer: offer.price_fen or 0, reverse=query.sort is Sort.PRICE_DESC)
    begin = (query.page - 1) * query.size
    return SearchPage(offers[begin : begin + query.size], len(offers), query.page, query.size)


def _is_priced(offer: Offer, low: int, high: int | None, query: Query) -> bool:
    """Whether the price is within the limits; an unknown one is only if there are none."""
    if offer.price_fen is None:
        return query.min_price_fen is None and high is None
    return low <= offer.price_fen and (high is None or offer.price_fen <= high)


def _hit(hit: object, item_page: str) -> Offer | None:
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
        image_url=picture_url(raw.get("main_image_url")),
        price_fen=price,
        price_max_fen=price,
        seller_name=text(raw.get("shop_name")),
    )


@dataclass(frozen=True, slots=True)
class ListedSku:
    """The id that orders use for a SKU, and its current price."""

    order_id: str
    price_fen: int | None


@dataclass(frozen=True, slots=True)
class ItemListing:
    """The ids that orders use for a product and its SKUs; searches use others."""

    order_id: str
    skus: Mapping[str, ListedSku]
    min_order_quantity: int | None


def listing(data: object, product_id: str) -> ItemListing:
    """Read a listing; without ids for orders, the ids of the search are used."""
    raw = record(data)
    if not raw:
        raise UnreadableResponse("no product")
    skus = {
        sku_id: ListedSku(identity(sku.get("mp_skuId")) or sku_id, _price(sku))
        for sku in records(raw.get("sku_list"))
        if (sku_id := identity(sku.get("sku_id")))
    }
    order_id = identity(raw.get("mp_id")) or product_id
    return ItemListing(order_id, skus, whole(raw.get("begin_amount")))


def product(data: object, product_id: str, item_page: str) -> Product:
    raw = record(data)
    if not raw:
        raise UnreadableResponse("no product")
    translated = record(raw.get("multi_language_info"))
    skus = _skus(raw, translated)
    prices = [sku.price_fen for sku in skus if sku.price_fen is not None]
    price = _price(raw)
    stocks = [sku.stock for sku in skus if sku.stock is not None]
    images = tuple(url for raw_url in values(raw.get("pic_urls")) if (url := picture_url(raw_url)))
    offer = Offer(
        id=identity(raw.get("item_id")) or product_id,
        title=text(raw.get("title")) or "",
        title_translated=text(translated.get("title")),
        url=item_page + product_id,
        image_url=images[0] if images else None,
        price_fen=min(prices, default=price),
        price_max_fen=max(prices, default=price),
        min_order_quantity=whole(raw.get("begin_amount")),
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
        attributes=tuple(
            ProductAttribute(name, value)
            for name, value in (_attributes(translated) or _attributes(raw)).items()
            if value
        ),
    )


def _skus(raw: Json, translated: Json) -> tuple[Sku, ...]:
    translations = {
        identity(sku.get("sku_id")): _attributes(sku)
        for sku in records(translated.get("sku_properties"))
    }
    return tuple(
        Sku(
            id=sku_id,
            attributes=translations.get(sku_id) or _attributes(sku),
            price_fen=_price(sku),
            stock=whole(sku.get("quantity")),
            image_url=picture_url(sku.get("pic_url")),
        )
        for sku in records(raw.get("sku_list"))
        if (sku_id := identity(sku.get("sku_id")))
    )


def _attributes(raw: Json) -> dict[str, str]:
    return {
        name: text(attribute.get("value_name")) or ""
        for attribute in records(raw.get("properties"))
        if (name := text(attribute.get("prop_name")))
    }


def _price(raw: Json) -> int | None:
    """Return the price in fen: that of a promotion, if there is one; coupons do not count."""
    return whole(raw.get("promotion_price")) or whole(raw.get("price"))
