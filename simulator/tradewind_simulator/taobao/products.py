"""Search and detail in the Taobao dialect: yuan as strings in lists, fen as numbers in details."""

from typing import Any

import msgspec

from tradewind_simulator import money, pictures
from tradewind_simulator.calls import Call, Operation
from tradewind_simulator.model import Option, Product, Sku
from tradewind_simulator.responses import BusinessError
from tradewind_simulator.search import Sort
from tradewind_simulator.taobao import errors

_MOST = 20
_DEFAULT = 10
_MOST_SIMILAR = 60
_BAD_IMAGE = "PARAM_ILLEGAL"
_SORTS = {
    "PRICE_ASC": Sort.PRICE_ASC,
    "PRICE_DESC": Sort.PRICE_DESC,
    "SALE_QTY_DESC": Sort.SALES_DESC,
    "SALE_QTY_ASC": Sort.SALES_ASC,
}


def _image(call: Call, product: int, picture: int = 0) -> str:
    return f"{call.base}/images/{product}/{picture}.svg"


def _filters(call: Call) -> dict[str, int]:
    """`["min_price:2000"]` or `min_price:2000,max_price:9000`, in fen."""
    text = call.params.get("filters", "")
    if not text:
        return {}
    try:
        parts = msgspec.json.decode(text, type=list[str])
    except msgspec.MsgspecError:
        parts = text.split(",")
    pairs = (part.strip().partition(":") for part in parts)
    return {name: int(value) for name, _, value in pairs if value.strip().isdecimal()}


def search(call: Call) -> dict[str, Any]:
    """Search without a total: pages follow until one is empty."""
    bounds = _filters(call)
    matches = call.world.index.find(
        call.params.get("keyword", ""),
        _SORTS.get(call.params.get("sort", ""), Sort.RELEVANCE),
        bounds.get("min_price"),
        bounds.get("max_price"),
    )
    size = min(max(call.number("page_size", _DEFAULT), 1), _MOST)
    page = max(call.number("page_no", 1), 1)
    data = [_hit(call, product) for product in matches[(page - 1) * size : page * size]]
    return {
        "biz_error_code": None,
        "biz_error_msg": None,
        "data": {"page_no": page, "page_size": size, "data": data},
    }


def upload_image(call: Call) -> dict[str, Any]:
    image_id = str(pictures.upload(call.text("image_base64"), _BAD_IMAGE))
    return {"biz_error_code": None, "biz_error_msg": None, "data": {"image_id": image_id}}


def image_search(call: Call) -> dict[str, Any]:
    """List all similar products at once: there are no pages, prices or sorting."""
    similar = pictures.similar(call.world, call.text("image_id"), _BAD_IMAGE)
    data = [_hit(call, product) for product in similar[:_MOST_SIMILAR]]
    return {"biz_error_code": None, "biz_error_msg": None, "data": data}


def _hit(call: Call, product: Product) -> dict[str, Any]:
    shop = call.world.shop()
    price = money.yuan_text(product.lowest_fen)
    return {
        "item_id": product.id,
        "title": product.title,
        "price": price,
        "coupon_price": price,
        "main_image_url": _image(call, product.id),
        "shop_name": call.world.sellers[product.seller].name,
        "inventory": sum(shop.left(sku) for sku in product.skus),
        "tags": [],
        "multi_language_info": {
            "language": call.params.get("language", "en"),
            "title": product.title_en,
            "main_image_url": _image(call, product.id),
        },
    }


def _product(call: Call) -> Product:
    product = call.world.products.get(call.number("item_id"))
    if product is None or not product.listed:
        raise BusinessError("ITEM_NOT_FOUND", "item not found")
    return product


def detail(call: Call) -> dict[str, Any]:
    product = _product(call)
    seller = call.world.sellers[product.seller]
    skus = [_sku(call, product, sku) for sku in product.skus]
    data = {
        "item_resource": "taobao",
        "item_id": product.id,
        "title": product.title,
        "pic_urls": _pictures(call, product),
        "shop_name": seller.name,
        "shop_id": seller.id,
        "price": product.steps[0].price_fen,
        "promotion_price": product.steps[0].price_fen,
        "coupon_price": product.steps[0].price_fen,
        "description": product.title,
        "properties": [_property(at, attribute) for at, attribute in enumerate(product.attributes)],
        "sku_list": skus,
        "tags": [],
        "multi_language_info": {
            "language": call.params.get("language", "en"),
            "title": product.title_en,
            "main_image_url": _image(call, product.id),
            "properties": [
                _property(at, attribute, english=True)
                for at, attribute in enumerate(product.attributes)
            ],
            "sku_properties": [
                {
                    "sku_id": sku.id,
                    "properties": [
                        _property(at, attribute, english=True)
                        for at, attribute in enumerate(sku.options)
                    ],
                }
                for sku in product.skus
            ],
        },
    }
    return {"biz_error_code": None, "biz_error_msg": None, "data": data}


def _pictures(call: Call, product: Product) -> list[str]:
    pictures = sorted({0, *(sku.picture for sku in product.skus)})
    return [_image(call, product.id, picture) for picture in pictures]


def _sku(call: Call, product: Product, sku: Sku) -> dict[str, Any]:
    price = sku.price_fen
    return {
        "sku_id": sku.id,
        "quantity": call.world.shop().left(sku),
        "price": price,
        "promotion_price": price,
        "coupon_price": price,
        "pic_url": _image(call, product.id, sku.picture),
        "properties": [_property(at, option) for at, option in enumerate(sku.options)],
    }


def _property(at: int, option: Option, *, english: bool = False) -> dict[str, Any]:
    return {
        "prop_id": at + 1,
        "prop_name": option.name_en if english else option.name,
        "value_id": at + 1,
        "value_name": option.value_en if english else option.value,
    }


def product_get(call: Call) -> dict[str, Any]:
    """Write the other detail, with stock, minimum and the ids for orders."""
    product = _product(call)
    seller = call.world.sellers[product.seller]
    skus = [{**_sku(call, product, sku), "mp_skuId": sku.id, "status": "1"} for sku in product.skus]
    data = {
        "item_id": product.id,
        "mp_id": str(product.id),
        "title": product.title,
        "quantity": sum(sku["quantity"] for sku in skus),
        "category_id": str(product.category_id),
        "category_name": product.category,
        "shop_name": seller.name,
        "shop_id": seller.id,
        "user_nick": seller.login,
        "description": product.title,
        "product_unit": product.unit,
        "pic_urls": _pictures(call, product),
        "price": product.steps[0].price_fen,
        "promotion_price": product.steps[0].price_fen,
        "coupon_price": product.steps[0].price_fen,
        "begin_amount": product.minimum,
        "status": "1",
        "sku_list": skus,
    }
    return {"success": True, "error_code": None, "error_msg": None, "data": data}


OPERATIONS = (
    Operation("/traffic/item/search", "search", search, errors.search_error),
    Operation("/upload/image", "upload_image", upload_image, errors.search_error),
    Operation("/traffic/item/imgsearch", "image_search", image_search, errors.search_error),
    Operation("/traffic/item/get", "detail", detail, errors.search_error),
    Operation("/product/get", "detail", product_get, errors.product_error),
)
