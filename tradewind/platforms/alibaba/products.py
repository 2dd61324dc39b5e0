"""Search and detail of 1688: what we ask with, and offers read into our words."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from tradewind.platforms.alibaba.values import (
    Json,
    encode,
    entries,
    entry,
    need,
    show_yuan,
    text,
    text_or,
    whole,
    whole_or_none,
    yuan_or_none,
)
from tradewind.platforms.failures import UnreadableResponse
from tradewind.platforms.model import Offer, PriceRange, Product, Query, SearchPage, Sku, Sort

_SORTS: Mapping[Sort, Mapping[str, str]] = {
    Sort.PRICE_ASC: {"price": "asc"},
    Sort.PRICE_DESC: {"price": "desc"},
    Sort.SALES_DESC: {"monthSold": "desc"},
}
_PAGE = "https://detail.1688.com/offer/{}.html"


def search_params(query: Query) -> dict[str, str]:
    asked: dict[str, Any] = {
        "keyword": query.text,
        "beginPage": query.page,
        "pageSize": query.size,
        "country": query.lang,
    }
    if query.sort in _SORTS:
        asked["sort"] = encode(_SORTS[query.sort])
    if query.min_price_fen is not None:
        asked["priceStart"] = show_yuan(query.min_price_fen)
    if query.max_price_fen is not None:
        asked["priceEnd"] = show_yuan(query.max_price_fen)
    return {"offerQueryParam": encode(asked)}


def detail_params(offer_id: int, lang: str) -> dict[str, str]:
    return {"offerDetailParam": encode({"offerId": offer_id, "country": lang})}


def found(answer: Json, query: Query) -> SearchPage:
    """A page of offers. An offer that nobody can read is left out, not the whole page."""
    page = entry(entry(answer.get("result")).get("result"))
    total = whole(page.get("totalRecords"), "totalRecords")
    if total is None:
        raise UnreadableResponse("The answer has no totalRecords.")
    offers = [_hit(hit) for hit in entries(page.get("data")) if text(hit.get("offerId"))]
    return SearchPage(offers=offers, total=total, page=query.page, size=query.size)


def _hit(hit: Json) -> Offer:
    number = need(hit.get("offerId"), "offerId")
    price = yuan_or_none(entry(hit.get("priceInfo")).get("price"))
    return Offer(
        id=number,
        title=text_or(hit.get("subject"), ""),
        title_translated=text(hit.get("subjectTrans")),
        url=text_or(hit.get("promotionURL"), _PAGE.format(number)),
        image_url=text(hit.get("imageUrl")),
        price_fen=price,
        price_max_fen=None,
        min_order_quantity=whole_or_none(hit.get("minOrderQuantity")),
        sold=whole_or_none(hit.get("monthSold")),
        repurchase_rate=_rate(hit.get("repurchaseRate")),
        # `sellerIdentities` are badges such as "tp_member": who sells only the detail tells.
        seller_id=None,
        seller_name=None,
    )


def _rate(value: Any) -> float | None:
    """`35%` or `0.35`, as a part of one."""
    written = str(value) if isinstance(value, Decimal) else text(value)
    if written is None:
        return None
    try:
        number = float(written.rstrip("%"))
    except ValueError:
        return None
    return number / 100 if written.endswith("%") else number


def product(answer: Json) -> Product | None:
    """The product; None when the platform answers without one."""
    shown = entry(entry(answer.get("result")).get("result"))
    if not shown:
        return None
    sale = entry(shown.get("productSaleInfo"))
    skus = [_sku(one) for one in entries(shown.get("productSkuInfos")) if text(one.get("specId"))]
    ranges = _ranges(sale)
    images = _images(shown)
    return Product(
        offer=_offer(shown, skus, ranges, images),
        images=images,
        description=text(shown.get("description")),
        skus=skus,
        price_ranges=ranges,
        stock=whole_or_none(sale.get("amountOnSale")),
        shipping=_shipping(shown),
    )


def _offer(
    shown: Json, skus: Sequence[Sku], ranges: Sequence[PriceRange], images: Sequence[str]
) -> Offer:
    number = need(shown.get("offerId"), "offerId")
    prices = [sku.price_fen for sku in skus if sku.price_fen is not None]
    prices = prices or [step.price_fen for step in ranges]
    return Offer(
        id=number,
        title=text_or(shown.get("subject"), ""),
        title_translated=text(shown.get("subjectTrans")),
        url=text_or(shown.get("promotionUrl"), _PAGE.format(number)),
        image_url=images[0] if images else None,
        price_fen=min(prices, default=None),
        price_max_fen=max(prices, default=None),
        min_order_quantity=whole_or_none(shown.get("minOrderQuantity")),
        sold=whole_or_none(shown.get("soldOut")),
        repurchase_rate=None,
        seller_id=text(shown.get("sellerOpenId")),
        seller_name=text(shown.get("companyName")),
    )


def _sku(shown: Json) -> Sku:
    """A variant, by its `specId`.

    1688 has two ids for a variant: `skuId`, a number unique everywhere, and `specId`, unique
    within its offer. Preview and create take only `specId`, so that is the id we hand out, and
    a variant without one is not listed: its offer is bought without naming a variant.
    """
    attributes = entries(shown.get("skuAttributes"))
    image = (text(one.get("skuImageUrl")) for one in attributes)
    return Sku(
        id=need(shown.get("specId"), "specId"),
        attributes={_name(one, "attributeName"): _name(one, "value") for one in attributes},
        # An offer that is priced by quantity has no price here; its price ranges tell.
        price_fen=yuan_or_none(shown.get("price")),
        stock=whole_or_none(shown.get("amountOnSale")),
        image_url=next(filter(None, image), None),
    )


def _name(attribute: Json, name: str) -> str:
    return text(attribute.get(f"{name}Trans")) or text_or(attribute.get(name), "")


def _ranges(sale: Json) -> list[PriceRange]:
    ranges = []
    for step in entries(sale.get("priceRangeList")):
        start, price = whole_or_none(step.get("startQuantity")), yuan_or_none(step.get("price"))
        if start is not None and price is not None:
            ranges.append(PriceRange(start, price))
    return ranges


def _images(shown: Json) -> list[str]:
    listed = entry(shown.get("productImage")).get("images")
    return [one for one in listed if isinstance(one, str)] if isinstance(listed, list) else []


def _shipping(shown: Json) -> dict[str, str]:
    """What is said in single words and numbers, under the platform's own names."""
    said = entry(shown.get("productShippingInfo"))
    return {
        name: str(value)
        for name, value in said.items()
        if isinstance(value, str | int | Decimal) and not isinstance(value, bool) and value != ""
    }
