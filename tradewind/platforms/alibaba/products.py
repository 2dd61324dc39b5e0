"""Product search and detail at 1688."""

from collections.abc import Mapping, Sequence
from decimal import Decimal

from tradewind.platforms.alibaba.values import (
    Json,
    encode,
    entries,
    entry,
    need,
    or_none,
    show_yuan,
    text,
    whole,
    yuan,
)
from tradewind.platforms.failures import UnreadableResponse
from tradewind.platforms.model import Offer, PriceRange, Product, Query, SearchPage, Sku, Sort

_SORTS: Mapping[Sort, Mapping[str, str]] = {
    Sort.PRICE_ASC: {"price": "asc"},
    Sort.PRICE_DESC: {"price": "desc"},
    Sort.SALES_DESC: {"monthSold": "desc"},
}
PRODUCT_PAGE = "https://detail.1688.com/offer/{}.html"


def search_params(query: Query) -> dict[str, str]:
    params: dict[str, object] = {
        "keyword": query.text,
        "beginPage": query.page,
        "pageSize": query.size,
        "country": query.lang,
    }
    if query.sort in _SORTS:
        params["sort"] = encode(_SORTS[query.sort])
    if query.min_price_fen is not None:
        params["priceStart"] = show_yuan(query.min_price_fen)
    if query.max_price_fen is not None:
        params["priceEnd"] = show_yuan(query.max_price_fen)
    return {"offerQueryParam": encode(params)}


def detail_params(offer_id: int, lang: str) -> dict[str, str]:
    return {"offerDetailParam": encode({"offerId": offer_id, "country": lang})}


def search_page(response: Json, query: Query) -> SearchPage:
    """Read a page of offers; an offer without an id is left out."""
    page = entry(entry(response.get("result")).get("result"))
    total = whole(page.get("totalRecords"), "totalRecords")
    if total is None:
        raise UnreadableResponse("The response has no totalRecords.")
    offers = [_hit(hit) for hit in entries(page.get("data")) if text(hit.get("offerId"))]
    return SearchPage(offers=offers, total=total, page=query.page, size=query.size)


def _hit(hit: Json) -> Offer:
    number = need(hit.get("offerId"), "offerId")
    price = or_none(yuan, entry(hit.get("priceInfo")).get("price"))
    return Offer(
        id=number,
        title=text(hit.get("subject")) or "",
        title_translated=text(hit.get("subjectTrans")),
        url=text(hit.get("promotionURL")) or PRODUCT_PAGE.format(number),
        image_url=text(hit.get("imageUrl")),
        price_fen=price,
        min_order_quantity=or_none(whole, hit.get("minOrderQuantity")),
        sold=or_none(whole, hit.get("monthSold")),
        repurchase_rate=_rate(hit.get("repurchaseRate")),
        # `sellerIdentities` are badges such as "tp_member"; only the detail names the seller.
    )


def _rate(value: object) -> float | None:
    """Read `35%` or `0.35` as a fraction."""
    written = str(value) if isinstance(value, Decimal) else text(value)
    if written is None:
        return None
    try:
        number = float(written.rstrip("%"))
    except ValueError:
        return None
    return number / 100 if written.endswith("%") else number


def product(response: Json) -> Product | None:
    """Read a product; None when the response has none."""
    raw = entry(entry(response.get("result")).get("result"))
    if not raw:
        return None
    sale = entry(raw.get("productSaleInfo"))
    variants = entries(raw.get("productSkuInfos"))
    skus = [_sku(variant) for variant in variants if text(variant.get("specId"))]
    ranges = _ranges(sale)
    images = _images(raw)
    return Product(
        offer=_offer(raw, skus, ranges, images),
        images=images,
        description=text(raw.get("description")),
        skus=skus,
        price_ranges=ranges,
        stock=or_none(whole, sale.get("amountOnSale")),
        shipping=_shipping(raw),
    )


def _offer(
    raw: Json, skus: Sequence[Sku], ranges: Sequence[PriceRange], images: Sequence[str]
) -> Offer:
    number = need(raw.get("offerId"), "offerId")
    prices = [sku.price_fen for sku in skus if sku.price_fen is not None]
    prices = prices or [step.price_fen for step in ranges]
    return Offer(
        id=number,
        title=text(raw.get("subject")) or "",
        title_translated=text(raw.get("subjectTrans")),
        url=text(raw.get("promotionUrl")) or PRODUCT_PAGE.format(number),
        image_url=images[0] if images else None,
        price_fen=min(prices, default=None),
        price_max_fen=max(prices, default=None),
        min_order_quantity=or_none(whole, raw.get("minOrderQuantity")),
        sold=or_none(whole, raw.get("soldOut")),
        seller_id=text(raw.get("sellerOpenId")),
        seller_name=text(raw.get("companyName")),
    )


def _sku(raw: Json) -> Sku:
    """Read a variant; its id is the `specId`.

    1688 has two ids for a variant: `skuId`, a number unique everywhere, and `specId`, unique
    within its offer. Preview and create take only the `specId`, so that is our id. A variant
    without a `specId` is not listed: its offer is bought without naming a variant.
    """
    attributes = entries(raw.get("skuAttributes"))
    images = (text(attribute.get("skuImageUrl")) for attribute in attributes)
    return Sku(
        id=need(raw.get("specId"), "specId"),
        attributes={
            _name(attribute, "attributeName"): _name(attribute, "value") for attribute in attributes
        },
        # An offer that is priced by quantity has no price here, but in its price ranges.
        price_fen=or_none(yuan, raw.get("price")),
        stock=or_none(whole, raw.get("amountOnSale")),
        image_url=next(filter(None, images), None),
    )


def _name(attribute: Json, name: str) -> str:
    return text(attribute.get(f"{name}Trans")) or text(attribute.get(name)) or ""


def _ranges(sale: Json) -> list[PriceRange]:
    ranges = []
    for step in entries(sale.get("priceRangeList")):
        start, price = or_none(whole, step.get("startQuantity")), or_none(yuan, step.get("price"))
        if start is not None and price is not None:
            ranges.append(PriceRange(start, price))
    return ranges


def _images(raw: Json) -> list[str]:
    listed = entry(raw.get("productImage")).get("images")
    return [url for url in listed if isinstance(url, str)] if isinstance(listed, list) else []


def _shipping(raw: Json) -> dict[str, str]:
    """Return the texts and numbers, under the marketplace's own names."""
    shipping = entry(raw.get("productShippingInfo"))
    return {
        name: str(value)
        for name, value in shipping.items()
        if isinstance(value, str | int | Decimal) and not isinstance(value, bool) and value != ""
    }
