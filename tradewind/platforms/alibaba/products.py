"""Product search and detail at 1688."""

import re
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
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
from tradewind.platforms.model import (
    Offer,
    PriceRange,
    Product,
    ProductAttribute,
    Query,
    SearchPage,
    Sku,
    Sort,
)

_LARGEST_MEASURE = 1_000_000
_SORTS: Mapping[Sort, Mapping[str, str]] = {
    Sort.PRICE_ASC: {"price": "asc"},
    Sort.PRICE_DESC: {"price": "desc"},
    Sort.SALES_DESC: {"monthSold": "desc"},
}
_SHIPS_WITHIN = re.compile(r"shipIn([0-9]{1,4})Hours")
PRODUCT_PAGE = "https://detail.1688.com/offer/{}.html"


def upload_params(image: bytes) -> dict[str, str]:
    return {"uploadImageParam": encode({"imageBase64": b64encode(image).decode()})}


def uploaded_image(response: Json) -> str:
    """Read the ID of a picture that was uploaded; zero means that it was not."""
    image_id = need(entry(response.get("result")).get("result"), "image ID")
    if image_id == "0":
        raise UnreadableResponse("The picture got no ID.")
    return image_id


def search_params(query: Query) -> dict[str, str]:
    """Write a search; that by a picture names the picture's ID instead of a text."""
    wanted = {"imageId": query.image_id} if query.image_id else {"keyword": query.text}
    params: dict[str, object] = {
        **wanted,
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
        # `sellerIdentities` are badges such as "tp_member"; a search by text names no seller.
        seller_name=text(hit.get("companyName")),
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
        attributes=[*_attributes(raw), *_parcel(entry(raw.get("productShippingInfo")))],
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


def _attributes(raw: Json) -> Iterator[ProductAttribute]:
    """Return the seller's facts, translated; several values of one name are one fact."""
    by_name: dict[str, list[str]] = {}
    for attribute in entries(raw.get("productAttribute")):
        name, value = _name(attribute, "attributeName"), _name(attribute, "value")
        if name and value and value not in by_name.setdefault(name, []):
            by_name[name].append(value)
    for name, values in by_name.items():
        if values:
            yield ProductAttribute(name, ", ".join(values))


def _parcel(shipping: Json) -> Iterator[ProductAttribute]:
    """Return weight, size and dispatch in words; 1688 means kilograms and centimetres."""
    weight = _measure(shipping.get("weight"))
    if weight:
        yield ProductAttribute("Weight", weight, "kg")
    sides = [_measure(shipping.get(name)) for name in ("length", "width", "height")]
    if all(sides):
        yield ProductAttribute("Package size", " x ".join(filter(None, sides)), "cm")
    origin = text(shipping.get("sendGoodsAddressText"))
    if origin:
        yield ProductAttribute("Ships from", origin)
    within = _SHIPS_WITHIN.fullmatch(text(shipping.get("shippingTimeGuarantee")) or "")
    if within:
        yield ProductAttribute("Ships within", within[1], "hours")


def _measure(value: object) -> str | None:
    """Write a length or weight without needless zeros; None if it is missing or not positive."""
    written = str(value) if isinstance(value, Decimal) else text(value)
    try:
        number = Decimal(written or "0")
    except ArithmeticError:
        return None
    return (
        f"{number.normalize():f}" if number.is_finite() and 0 < number < _LARGEST_MEASURE else None
    )


def _shipping(raw: Json) -> dict[str, str]:
    """Return the texts and numbers, under the marketplace's own names."""
    shipping = entry(raw.get("productShippingInfo"))
    return {
        name: str(value)
        for name, value in shipping.items()
        if isinstance(value, str | int | Decimal) and not isinstance(value, bool) and value != ""
    }
