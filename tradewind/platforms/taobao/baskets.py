"""Buying: lines and an address as the marketplace wants them, and what it answers."""

from collections.abc import Mapping, Sequence
from typing import Any

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


def _sku(line: Line, listing: ItemListing) -> ListedSku | None:
    """The SKU that is meant: the named one, or the only one."""
    if line.sku_id is not None:
        return listing.skus.get(line.sku_id) or ListedSku(line.sku_id, None)
    return next(iter(listing.skus.values())) if len(listing.skus) == 1 else None


def _ordered(line: Line, listings: ItemListings) -> tuple[str, str | None]:
    """The ids that an order names a line by."""
    listing = listings[line.product_id]
    sku = _sku(line, listing)
    return listing.ordered_as, sku.ordered_as if sku else None


def render_params(
    lines: Sequence[Line], address: Address, listings: ItemListings
) -> dict[str, str]:
    """Goods go to an address in China, which the marketplace calls a warehouse."""
    items = []
    for line in lines:
        item_id, sku_id = _ordered(line, listings)
        named = {"item_id": item_id, "sku_id": sku_id, "quantity": line.quantity}
        items.append({name: value for name, value in named.items() if value is not None})
    where = _address(address)
    return {
        "render_item_List": _json(items),  # spelled like this
        "need_supplychain_service": "false",
        "warehouse_address": where,
        "receiver_address": where,
    }


def preview(
    data: Any, lines: Sequence[Line], listings: ItemListings, gone: Sequence[UnavailableLine] = ()
) -> Preview:
    """`gone` are lines that could not even be asked about."""
    raw = record(data)
    if not raw:
        raise UnreadableResponse("no preview")
    ours = {_ordered(line, listings): line for line in lines}
    sellers = tuple(_seller(part, ours) for part in records(raw.get("render_item_list")))
    total = amount(raw.get("total_real_pay_price"))
    unavailable = tuple(_unavailable(one, ours) for one in records(raw.get("unavailable_sku_list")))
    return Preview(
        sellers=sellers,
        total_fen=total if total is not None else sum(seller.total_fen for seller in sellers),
        unavailable=(*gone, *unavailable),
    )


def _named(raw: Json, ours: Mapping[tuple[str, str | None], Line]) -> tuple[str, str | None]:
    """A row's product and SKU by the ids that it was asked for by."""
    item_id, sku_id = identity(raw.get("item_id")) or "", identity(raw.get("sku_id"))
    line = ours.get((item_id, sku_id)) or ours.get((item_id, None))
    if line is None and sku_id is None:
        line = next((one for (item, _), one in ours.items() if item == item_id), None)
    return (line.product_id, line.sku_id) if line else (item_id, sku_id)


def _seller(raw: Json, ours: Mapping[tuple[str, str | None], Line]) -> SellerPreview:
    total = amount(raw.get("order_fee"))
    if total is None:
        raise UnreadableResponse("a seller's part without a price")
    freight = amount(raw.get("mainland_shipping_fee")) or 0
    rows = records(raw.get("item_price_infos"))
    lines = tuple(Line(*_named(row, ours), whole(row.get("quantity")) or 1) for row in rows)
    goods = sum(
        (amount(row.get("origin_price")) or 0) * line.quantity
        for row, line in zip(rows, lines, strict=True)
    )
    # The list prices of a part that costs more than them say nothing about a discount.
    goods = max(goods, total - freight)
    return SellerPreview(
        seller_id=identity(raw.get("seller_id")) or text(raw.get("nick")) or "",
        lines=lines,
        goods_fen=goods,
        freight_fen=freight,
        discount_fen=goods + freight - total,
        total_fen=total,
    )


def _unavailable(raw: Json, ours: Mapping[tuple[str, str | None], Line]) -> UnavailableLine:
    said = text(raw.get("error_msg")) or text(raw.get("reason")) or ""
    return UnavailableLine(*_named(raw, ours), reason_of(text(raw.get("error_code")) or "", said))


def create_params(draft: OrderRequest, listings: ItemListings, limit_fen: int) -> dict[str, str]:
    """`limit_fen` is the price guard: the marketplace refuses to create above it."""
    where = _address(draft.address)
    lines = [_order_line(at, line, listings) for at, line in enumerate(draft.lines, 1)]
    return {
        "outer_purchase_id": draft.reference,
        "purchase_amount": str(limit_fen),
        "order_line_list": _json(lines),
        "receiver": where,
        "warehouse_address_info": where,
        "support_partial_success": "false",
        "need_sys_retry": "false",
        "order_remark": draft.remark or "",
    }


def _order_line(at: int, line: Line, listings: ItemListings) -> dict[str, Any]:
    item_id, sku_id = _ordered(line, listings)
    sku = _sku(line, listings[line.product_id])
    named = {
        "itemId": item_id,
        "skuId": sku_id,
        "quantity": line.quantity,
        "price": sku.price_fen if sku else None,
        "currency": "CNY",
        "orderLineNo": str(at),
    }
    return {name: value for name, value in named.items() if value is not None}


def placed(data: Any) -> Placed:
    """All orders that it became: the marketplace makes one for each seller."""
    made = records(record(data).get("order_list"))
    ids = tuple(found for one in made if (found := identity(one.get("purchase_id"))))
    if not ids or len(ids) < len(made):
        raise UnreadableResponse("an order without an id")
    costs = [whole(one.get("estimate_amount")) for one in made]
    known = [cost for cost in costs if cost is not None]
    return Placed(ids, sum(known) if len(known) == len(costs) else None)
