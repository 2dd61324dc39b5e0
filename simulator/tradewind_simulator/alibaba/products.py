"""Search, by text or picture, and detail in the 1688 dialect; prices are strings of yuan."""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from tradewind_simulator import money, pictures, times
from tradewind_simulator.alibaba import errors
from tradewind_simulator.calls import Call, Operation
from tradewind_simulator.model import Option, Product, Quote, Sku
from tradewind_simulator.responses import BusinessError
from tradewind_simulator.search import Sort
from tradewind_simulator.world import World

_NAMESPACE = "com.alibaba.fenxiao.crossborder"
_MOST = 50
_LISTED_AT = 1_713_571_200.0  # every offer was put up at some time after this
_SORTS = {
    ("price", "asc"): Sort.PRICE_ASC,
    ("price", "desc"): Sort.PRICE_DESC,
    ("monthSold", "desc"): Sort.SALES_DESC,
    ("monthSold", "asc"): Sort.SALES_ASC,
}


class _Query(Struct):
    country: str
    keyword: str = ""
    imageId: str = ""  # noqa: N815
    beginPage: int = 1  # noqa: N815 - the platform's own name
    pageSize: int = 20  # noqa: N815
    sort: str = ""
    priceStart: str | None = None  # noqa: N815
    priceEnd: str | None = None  # noqa: N815
    categoryId: int | None = None  # noqa: N815


class _Upload(Struct):
    imageBase64: str  # noqa: N815


class _Wanted(Struct):
    offerId: int  # noqa: N815
    country: str


def search(call: Call) -> dict[str, Any]:
    query = call.read("offerQueryParam", _Query)
    matches = call.world.index.find(
        query.keyword, _sort(query.sort), _fen(query.priceStart), _fen(query.priceEnd),
        query.categoryId,
    )  # fmt: skip
    return _page(call, query, matches)


def upload_image(call: Call) -> dict[str, Any]:
    upload = call.read("uploadImageParam", _Upload)
    return _found(str(pictures.upload(upload.imageBase64, "400")))


def image_search(call: Call) -> dict[str, Any]:
    query = call.read("offerQueryParam", _Query)
    matches = pictures.similar(
        call.world, query.imageId, "400", _sort(query.sort), _fen(query.priceStart),
        _fen(query.priceEnd),
    )  # fmt: skip
    return _page(call, query, matches)


def _page(call: Call, query: _Query, matches: Sequence[Product]) -> dict[str, Any]:
    size = min(max(query.pageSize, 1), _MOST)
    page = max(query.beginPage, 1)
    page_matches = matches[(page - 1) * size : page * size]
    data = [_hit(call, product, query.country) for product in page_matches]
    return _found(
        {
            "totalRecords": len(matches),
            "totalPage": -(-len(matches) // size),
            "pageSize": size,
            "currentPage": page,
            "data": data,
        }
    )


def _found(result: dict[str, Any] | str) -> dict[str, Any]:
    return {"result": {"success": True, "code": "200", "message": "操作成功", "result": result}}


def _sort(text: str) -> Sort:
    try:
        wanted = msgspec.json.decode(text or "{}", type=dict[str, str])
    except msgspec.MsgspecError:
        wanted = {}
    return next((_SORTS[pair] for pair in wanted.items() if pair in _SORTS), Sort.RELEVANCE)


def _fen(text: str | None) -> int | None:
    if not text:
        return None
    try:
        return money.fen_of(text)
    except ValueError:
        raise BusinessError("400", f"not a price: {text}") from None


def _title(product: Product, country: str) -> str:
    return product.title if country.startswith("zh") else product.title_en


def image(base: str, product: int, picture: int = 0) -> str:
    return f"{base}/images/{product}/{picture}.svg"


def _hit(call: Call, product: Product, country: str) -> dict[str, Any]:
    seller = call.world.sellers[product.seller]
    price = money.yuan_text(product.lowest_fen)
    return {
        "imageUrl": image(call.base, product.id),
        "subject": product.title,
        "subjectTrans": _title(product, country),
        "offerId": product.id,
        "isJxhy": False,
        "priceInfo": {"price": price, "consignPrice": price, "promotionPrice": None},
        "repurchaseRate": f"{product.repurchase}%",
        "monthSold": product.sold,
        "traceInfo": f"object_id@{product.id}^object_type@offer",
        "isOnePsale": product.minimum == 1,
        "sellerIdentities": [seller.identity],
        "offerIdentities": [],
        "tradeScore": "4.8",
        "companyName": seller.name,
        "topCategoryId": product.category_id,
        "secondCategoryId": product.category_id,
        "createDate": times.readable(_LISTED_AT + product.id % 50_000_000),
        "modifyDate": times.readable(_LISTED_AT + product.id % 50_000_000),
        "minOrderQuantity": product.minimum,
        "sellerDataInfo": {
            "repeatPurchasePercent": str(product.repurchase),
            "tpYear": seller.years,
        },
        "promotionURL": f"{call.base}/offer/{product.id}.html",
    }


def detail(call: Call) -> dict[str, Any]:
    wanted = call.read("offerDetailParam", _Wanted)
    product = call.world.products.get(wanted.offerId)
    if product is None:
        raise BusinessError("404", f"offer not found: {wanted.offerId}")
    return _found(_detail(call, product, wanted.country))


def _detail(call: Call, product: Product, country: str) -> dict[str, Any]:
    seller = call.world.sellers[product.seller]
    pictures = sorted({0, *(sku.picture for sku in product.skus)})
    return {
        "offerId": product.id,
        "categoryId": product.category_id,
        "categoryName": product.category,
        "subject": product.title,
        "subjectTrans": _title(product, country),
        "description": f'<p>{product.title}</p><img src="{image(call.base, product.id)}">',
        "productImage": {"images": [image(call.base, product.id, picture) for picture in pictures]},
        "productAttribute": [
            _attribute(at, attribute) for at, attribute in enumerate(product.attributes)
        ],
        "productSkuInfos": _skus(call, product),
        "productSaleInfo": {
            "amountOnSale": left(call.world, product),
            "priceRangeList": [
                {"startQuantity": step.quantity, "price": money.yuan_text(step.price_fen)}
                for step in product.steps
            ],
            "quoteType": int(product.quote.value),
            "unitInfo": {"unit": product.unit, "transUnit": product.unit_en},
        },
        "productShippingInfo": {
            "sendGoodsAddressText": f"{seller.province}{seller.city}",
            "weight": product.grams / 1000,
            "shippingTimeGuarantee": "shipIn48Hours",
        },
        "isJxhy": False,
        "sellerOpenId": f"BBB{seller.id:x}",
        "companyName": seller.name,
        "minOrderQuantity": product.minimum,
        "batchNumber": product.batch,
        "status": "published" if product.listed else "member expired",
        "soldOut": str(product.sold),
        "tradeScore": "4.8",
        "promotionUrl": f"{call.base}/offer/{product.id}.html",
    }


def left(world: World, product: Product) -> int:
    shop = world.shop()
    return sum(shop.left(sku) for sku in product.skus)


def _attribute(at: int, option: Option) -> dict[str, Any]:
    return {
        "attributeId": str(at + 1),
        "attributeName": option.name,
        "value": option.value,
        "attributeNameTrans": option.name_en,
        "valueTrans": option.value_en,
    }


def _skus(call: Call, product: Product) -> list[dict[str, Any]]:
    if product.quote is Quote.BY_QUANTITY_NO_SKU:
        return []
    return [_sku(call, product, sku) for sku in product.skus]


def _sku(call: Call, product: Product, sku: Sku) -> dict[str, Any]:
    price = money.yuan_text(sku.price_fen)
    return {
        "amountOnSale": call.world.shop().left(sku),
        "price": price if product.quote is Quote.BY_SKU else None,
        "skuId": sku.id,
        "specId": sku.spec,
        "consignPrice": price,
        "skuAttributes": [
            {
                "attributeId": at + 1,
                "attributeName": option.name,
                "attributeNameTrans": option.name_en,
                "value": option.value,
                "valueTrans": option.value_en,
                "skuImageUrl": image(call.base, product.id, sku.picture) if at == 0 else None,
            }
            for at, option in enumerate(sku.options)
        ],
    }


OPERATIONS = {
    f"{_NAMESPACE}/{operation.name}": operation
    for operation in (
        Operation("product.search.keywordQuery", "search", search, errors.product_error),
        Operation("product.image.upload", "upload_image", upload_image, errors.product_error),
        Operation("product.search.imageQuery", "image_search", image_search, errors.product_error),
        Operation("product.search.queryProductDetail", "detail", detail, errors.product_error),
    )
}
