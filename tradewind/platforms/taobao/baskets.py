"""Preview and creation of orders at Taobao Global."""

from collections.abc import Mapping, Sequence

import msgspec

from tradewind.platforms.failures import UnreadableResponse
from tradewind.platforms.model import (
    Address,
    Line,
    OrderRequest,
    Placed,
    Preview,
    SellerPreview,
    UnavailableLine,
)
from tradewind.platforms.taobao.errors import reason_of
from tradewind.platforms.taobao.products import ItemListing, ListedSku
from tradewind.platforms.taobao.values import (
    Json,
    amount,
    identity,
    record,
    records,
    text,
    whole,
)

ItemListings = Mapping[str, ItemListing]


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _address(address: Address) -> str:
    return _json(
        {
            "name": address.name,
            "mobile_phone": address.phone,
            "phone": address.phone,
            "country": "中国",
            "state": address.province,
            "city": address.city,
            "district": address.district,
            "address": address.detail,
            "zip": address.postal_code or "",
        }
    )


def has_sku(line: Line, listing: ItemListing) -> bool:
    """Whether the product can have the SKU of a line; a listing without SKUs does not tell."""
    if line.sku_id is None:
        return True
    return line.sku_id in listing.skus if listing.skus else line.sku_id.isdecimal()


def _sku(line: Line, listing: ItemListing) -> ListedSku | None:
    """Return the SKU of a line; without a name, the product's only SKU."""
    if line.sku_id is not None:
        return listing.skus.get(line.sku_id) or ListedSku(line.sku_id, None)
    return next(iter(listing.skus.values())) if len(listing.skus) == 1 else None


def _order_ids(line: Line, listings: ItemListings) -> tuple[str, str | None]:
    """Return the ids that an order uses for the product and SKU of a line."""
    listing = listings[line.product_id]
    sku = _sku(line, listing)
    return listing.order_id, sku.order_id if sku else None


def render_params(
    lines: Sequence[Line], address: Address, listings: ItemListings
) -> dict[str, str]:
    """Write the request; the marketplace calls an address in China a warehouse."""
    items = []
    for line in lines:
        item_id, sku_id = _order_ids(line, listings)
        item = {"item_id": item_id, "sku_id": sku_id, "quantity": line.quantity}
        items.append({name: value for name, value in item.items() if value is not None})
    receiver = _address(address)
    return {
        "render_item_List": _json(items),  # spelled like this
        "need_supplychain_service": "false",
        "warehouse_address": receiver,
        "receiver_address": receiver,
    }


def preview(
    data: object,
    lines: Sequence[Line],
    listings: ItemListings,
    missing: Sequence[UnavailableLine] = (),
) -> Preview:
    """Read a preview; `missing` are lines that were not part of the request."""
    raw = record(data)
    if not raw:
        raise UnreadableResponse("no preview")
    lines_by_ids = {_order_ids(line, listings): line for line in lines}
    sellers = tuple(_seller(part, lines_by_ids) for part in records(raw.get("render_item_list")))
    total = amount(raw.get("total_real_pay_price"))
    unavailable = tuple(
        _unavailable(sku, lines_by_ids) for sku in records(raw.get("unavailable_sku_list"))
    )
    return Preview(
        sellers=sellers,
        total_fen=total if total is not None else sum(seller.total_fen for seller in sellers),
        unavailable=(*missing, *unavailable),
    )


def _product_ids(
    raw: Json, lines_by_ids: Mapping[tuple[str, str | None], Line]
) -> tuple[str, str | None]:
    """Return the product and SKU of a row, by the ids that the request used for them."""
    item_id, sku_id = identity(raw.get("item_id")) or "", identity(raw.get("sku_id"))
    line = lines_by_ids.get((item_id, sku_id)) or lines_by_ids.get((item_id, None))
    if line is None and sku_id is None:
        line = next((each for (item, _), each in lines_by_ids.items() if item == item_id), None)
    return (line.product_id, line.sku_id) if line else (item_id, sku_id)


def _seller(raw: Json, lines_by_ids: Mapping[tuple[str, str | None], Line]) -> SellerPreview:
    total = amount(raw.get("order_fee"))
    if total is None:
        raise UnreadableResponse("a seller's part without a price")
    freight = amount(raw.get("mainland_shipping_fee")) or 0
    rows = records(raw.get("item_price_infos"))
    lines = tuple(
        Line(*_product_ids(row, lines_by_ids), whole(row.get("quantity")) or 1) for row in rows
    )
    goods = sum(
        (amount(row.get("origin_price")) or 0) * line.quantity
        for row, line in zip(rows, lines, strict=True)
    )
    # If a part costs more than its list prices, they say nothing about a discount.
    goods = max(goods, total - freight)
    return SellerPreview(
        seller_id=identity(raw.get("seller_id")) or text(raw.get("nick")) or "",
        lines=lines,
        goods_fen=goods,
        freight_fen=freight,
        discount_fen=goods + freight - total,
        total_fen=total,
    )


def _unavailable(raw: Json, lines_by_ids: Mapping[tuple[str, str | None], Line]) -> UnavailableLine:
    message = text(raw.get("error_msg")) or text(raw.get("reason")) or ""
    reason = reason_of(text(raw.get("error_code")) or "", message)
    return UnavailableLine(*_product_ids(raw, lines_by_ids), reason)


def create_params(request: OrderRequest, listings: ItemListings, limit_fen: int) -> dict[str, str]:
    """Write the request; the marketplace rejects an order that costs more than `limit_fen`."""
    receiver = _address(request.address)
    lines = [_order_line(number, line, listings) for number, line in enumerate(request.lines, 1)]
    return {
        "outer_purchase_id": request.reference,
        "purchase_amount": str(limit_fen),
        "order_line_list": _json(lines),
        "receiver": receiver,
        "warehouse_address_info": receiver,
        "support_partial_success": "false",
        "need_sys_retry": "false",
        "order_remark": request.remark or "",
    }


def _order_line(number: int, line: Line, listings: ItemListings) -> dict[str, object]:
    item_id, sku_id = _order_ids(line, listings)
    sku = _sku(line, listings[line.product_id])
    order_line = {
        "itemId": item_id,
        "skuId": sku_id,
        "quantity": line.quantity,
        "price": sku.price_fen if sku else None,
        "currency": "CNY",
        "orderLineNo": str(number),
    }
    return {name: value for name, value in order_line.items() if value is not None}


def placed(data: object) -> Placed:
    """Read the orders that were created: one for each seller."""
    orders = records(record(data).get("order_list"))
    ids = tuple(number for order in orders if (number := identity(order.get("purchase_id"))))
    if not ids or len(ids) < len(orders):
        raise UnreadableResponse("an order without an id")
    amounts = [whole(order.get("estimate_amount")) for order in orders]
    readable = [amount for amount in amounts if amount is not None]
    return Placed(ids, sum(readable) if len(readable) == len(amounts) else None)
