"""A preview as JSON: what an order would cost, seller by seller."""

from typing import Annotated

from msgspec import Meta

from tradewind import money
from tradewind.money import Cny
from tradewind.orders.wire import LineOut
from tradewind.platforms.failures import Reason
from tradewind.platforms.model import Preview
from tradewind.web.inputs import Output


class SellerPreviewOut(Output):
    """One seller's part."""

    id: Annotated[
        str | None,
        Meta(description="Null where the platform does not say.", examples=["b2b-2200000001"]),
    ]
    items: list[LineOut]
    goods_amount_cny: Cny
    freight_cny: Cny
    discount_cny: Cny
    total_amount_cny: Cny


class UnavailableOut(Output):
    """What cannot be bought, and why."""

    product_id: Annotated[str, Meta(examples=["900000000002"])]
    sku_id: Annotated[str | None, Meta(examples=["87591f8108ad403c9ccf19a8eeb25e63"])]
    reason: Annotated[Reason, Meta(examples=["out_of_stock"])]


class PreviewOut(Output):
    """What an order would cost now."""

    sellers: list[SellerPreviewOut]
    total_amount_cny: Cny
    unavailable_items: list[UnavailableOut]

    @staticmethod
    def of(preview: Preview) -> "PreviewOut":
        return PreviewOut(
            sellers=[
                SellerPreviewOut(
                    id=one.seller_id or None,
                    items=[LineOut.of(line) for line in one.lines],
                    goods_amount_cny=money.show(one.goods_fen),
                    freight_cny=money.show(one.freight_fen),
                    discount_cny=money.show(one.discount_fen),
                    total_amount_cny=money.show(one.total_fen),
                )
                for one in preview.sellers
            ],
            total_amount_cny=money.show(preview.total_fen),
            unavailable_items=[
                UnavailableOut(product_id=one.product_id, sku_id=one.sku_id, reason=one.reason)
                for one in preview.unavailable
            ],
        )
