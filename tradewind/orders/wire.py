"""Orders, previews and timelines as JSON: every field is always there, null without a value."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from tradewind import clock, ids, money
from tradewind.errors import FieldError
from tradewind.money import Cny
from tradewind.orders import lifecycle
from tradewind.orders.model import Order, OrderStatus
from tradewind.orders.payments.model import PaymentStatus
from tradewind.orders.payments.wire import FailureOut, PaymentOut, PersonOut, RefundOut
from tradewind.orders.shipments import pieces_per_parcel
from tradewind.orders.sql_lists import OrderChange
from tradewind.platforms.failures import Reason
from tradewind.platforms.model import (
    Address,
    CloseReason,
    Goods,
    Line,
    PaymentState,
    PlatformOrder,
    PlatformOrderStatus,
    Preview,
)
from tradewind.platforms.wire import PlatformName, SellerOut
from tradewind.web.inputs import Output, id_text
from tradewind.web.paging import CursorList

OrderIdText = Annotated[str, id_text(ids.ORDER)]
_Time = clock.Timestamp
_PlatformId = Annotated[str, Meta(examples=["1688000000001"])]
WaitingFor = Literal[
    "platform_create",
    "approval",
    "payment_result",
    "payment",
    "seller_shipment",
    "receipt",
    "none",
]


class LineOut(Output):
    """What is bought."""

    product_id: Annotated[str, Meta(examples=["900000000001"])]
    sku_id: Annotated[str | None, Meta(examples=["87591f8108ad403c9ccf19a8eeb25e63"])]
    quantity: Annotated[int, Meta(examples=[2])]

    @staticmethod
    def of(line: Line) -> "LineOut":
        return msgspec.convert(line, LineOut, from_attributes=True)


class OrderItemOut(LineOut):
    """What is bought, as it was seen when the order was placed; null where nothing is known."""

    title: Annotated[str | None, Meta(examples=["夏季法式碎花连衣裙"])]
    title_translated: Annotated[
        str | None, Meta(description="In English.", examples=["French floral summer dress"])
    ]
    image_url: Annotated[
        str | None,
        Meta(
            description="A picture of the variant, else of the product.",
            examples=["https://cbu01.alicdn.com/img/ibank/O1CN01.jpg"],
        ),
    ]
    attributes: Annotated[
        dict[str, str] | None,
        Meta(
            description="Of the variant; empty where the product has no variants.",
            examples=[{"Color": "Red", "Size": "M"}],
        ),
    ]
    unit_price_cny: Annotated[
        Cny | None,
        Meta(
            description="For one piece at this quantity, without freight and discounts.",
            examples=[10.0],
        ),
    ]
    seller: SellerOut

    @staticmethod
    def of(line: Line) -> "OrderItemOut":
        goods = line.goods or Goods()
        return OrderItemOut(
            product_id=line.product_id,
            sku_id=line.sku_id,
            quantity=line.quantity,
            title=goods.title,
            title_translated=goods.title_translated,
            image_url=goods.image_url,
            attributes=None if goods.attributes is None else dict(goods.attributes),
            unit_price_cny=money.show_or_none(goods.unit_price_fen),
            seller=SellerOut(id=goods.seller_id, name=goods.seller_name),
        )


class AddressOut(Output):
    """Where it is shipped to."""

    name: Annotated[str, Meta(examples=["张三"])]
    phone: Annotated[str, Meta(examples=["15251667788"])]
    province: Annotated[str, Meta(examples=["浙江省"])]
    city: Annotated[str, Meta(examples=["杭州市"])]
    district: Annotated[str, Meta(examples=["滨江区"])]
    detail: Annotated[str, Meta(examples=["网商路699号"])]
    postal_code: Annotated[str | None, Meta(examples=["310000"])]

    @staticmethod
    def of(address: Address) -> "AddressOut":
        return msgspec.convert(address, AddressOut, from_attributes=True)


class PlatformOrderOut(Output):
    """One of the orders on the platform that this order became."""

    order_id: _PlatformId
    status: Annotated[PlatformOrderStatus | None, Meta(examples=["shipped"])]
    platform_status: Annotated[str, Meta(examples=["waitbuyerreceive"])]
    payment_status: Annotated[PaymentState, Meta(examples=["paid"])]
    total_amount_cny: Cny
    refunded_amount_cny: Annotated[Cny, Meta(examples=[0.0])]

    @staticmethod
    def of(part: PlatformOrder) -> "PlatformOrderOut":
        return PlatformOrderOut(
            order_id=part.id,
            status=part.status,
            platform_status=part.raw_status,
            payment_status=part.payment,
            total_amount_cny=money.show(part.total_fen),
            refunded_amount_cny=money.show(part.refunded_fen),
        )


class ShipmentItemOut(Output):
    """A line of the order that is in a parcel."""

    product_id: Annotated[str, Meta(examples=["900000000001"])]
    sku_id: Annotated[str | None, Meta(examples=["87591f8108ad403c9ccf19a8eeb25e63"])]
    quantity: Annotated[
        int | None,
        Meta(
            description="How many pieces of it are in this parcel; null if they are spread over "
            "several parcels and the platform does not say how.",
            examples=[2],
        ),
    ]


class ShipmentOut(Output):
    """A parcel, and what is in it; no items when the platform does not say."""

    order_id: _PlatformId
    carrier: Annotated[str | None, Meta(examples=["中通快递"])]
    tracking_number: Annotated[str | None, Meta(examples=["ZT0000000001"])]
    shipped_at: _Time | None
    items: list[ShipmentItemOut]


class OrderOut(Output):
    """An order."""

    # The examples are of one order: paid, shipped, and not yet received.

    id: OrderIdText
    platform: PlatformName
    order_id: Annotated[
        str | None,
        Meta(
            description="Its id on the platform; null before it has one.",
            examples=["1688000000001"],
        ),
    ]
    status: Annotated[OrderStatus, Meta(examples=["shipped"])]
    payment_status: Annotated[PaymentStatus, Meta(examples=["paid"])]
    platform_payment_status: Annotated[PaymentState, Meta(examples=["paid"])]
    total_amount_cny: Cny | None
    updated_at: _Time
    account_id: Annotated[str, Meta(examples=["acc_06EJ4KQZC5T9XN4R5ZJ2V7M8QW"])]
    items: list[OrderItemOut]
    address: AddressOut
    remark: Annotated[str | None, Meta(examples=["Pack it well."])]
    goods_amount_cny: Annotated[Cny | None, Meta(examples=[20.0])]
    freight_cny: Annotated[Cny | None, Meta(examples=[5.0])]
    discount_cny: Annotated[Cny | None, Meta(examples=[0.0])]
    paid_amount_cny: Cny
    refunded_amount_cny: Annotated[Cny, Meta(examples=[0.0])]
    platform_orders: list[PlatformOrderOut]
    shipments: list[ShipmentOut]
    refunds: Annotated[list[RefundOut], Meta(examples=[[]])]
    payment: Annotated[
        PaymentOut | None, Meta(description="The payment request that is open.", examples=[None])
    ]
    platform_status: Annotated[
        str | None, Meta(description="The platform's own status.", examples=["waitbuyerreceive"])
    ]
    failure: Annotated[FailureOut | None, Meta(examples=[None])]
    cancel_requested: bool
    dispute: bool
    paid_outside: Annotated[
        bool, Meta(description="It was paid on the platform's own pages, without an approval.")
    ]
    close_reason: Annotated[CloseReason | None, Meta(examples=[None])]
    pay_before: Annotated[_Time | None, Meta(examples=[None])]
    waiting_for: Annotated[WaitingFor, Meta(examples=["receipt"])]
    external_id: Annotated[str | None, Meta(examples=["PO-1001"])]
    metadata: Annotated[dict[str, str], Meta(examples=[{"team": "shoes"}])]
    created_at: _Time
    synced_at: Annotated[
        _Time | None, Meta(description="When the platform was last asked, with success.")
    ]
    next_sync_at: _Time | None
    stale: Annotated[
        bool, Meta(description="The platform could not be read: this is as of the last sync.")
    ]
    version: Annotated[int, Meta(examples=[4])]

    @staticmethod
    def of(order: Order, *, stale: bool | None = None) -> "OrderOut":
        """`stale` is the result of a refresh; None: whether the last sync failed."""
        return OrderOut(
            id=ids.ORDER.show(order.id),
            platform=order.platform,
            order_id=order.order_id,
            status=order.status,
            payment_status=order.payment_status,
            platform_payment_status=order.platform_payment_status,
            total_amount_cny=money.show_or_none(order.total_fen),
            updated_at=clock.show(order.updated_at),
            account_id=ids.ACCOUNT.show(order.account_id),
            items=[OrderItemOut.of(line) for line in order.lines],
            address=AddressOut.of(order.address),
            remark=order.remark,
            goods_amount_cny=money.show_or_none(order.goods_fen),
            freight_cny=money.show_or_none(order.freight_fen),
            discount_cny=money.show_or_none(order.discount_fen),
            paid_amount_cny=money.show(order.paid_fen),
            refunded_amount_cny=money.show(order.refunded_fen),
            platform_orders=[PlatformOrderOut.of(part) for part in order.parts],
            shipments=[parcel for part in order.parts for parcel in _shipments(part)],
            refunds=[RefundOut.of(refund) for refund in order.refunds],
            payment=PaymentOut.or_none(order.open_payment),
            platform_status=order.platform_status,
            failure=FailureOut.of(order.failure),
            cancel_requested=order.cancel_requested,
            dispute=order.dispute,
            paid_outside=order.paid_outside,
            close_reason=order.close_reason,
            pay_before=clock.show_or_none(order.pay_before),
            waiting_for=lifecycle.waiting_for(order),  # type: ignore[arg-type]
            external_id=order.external_id,
            metadata=dict(order.metadata),
            created_at=clock.show(order.created_at),
            synced_at=clock.show_or_none(order.synced_at),
            next_sync_at=clock.show_or_none(order.next_sync_at),
            stale=order.sync_failures > 0 if stale is None else stale,
            version=order.version,
        )


def _shipments(part: PlatformOrder) -> list[ShipmentOut]:
    pieces = pieces_per_parcel(part)
    items = {
        item.id: ShipmentItemOut(
            product_id=item.product_id or "", sku_id=item.sku_id, quantity=pieces[item.id]
        )
        for item in part.items
    }
    return [
        ShipmentOut(
            order_id=part.id,
            carrier=parcel.carrier,
            tracking_number=parcel.tracking_number,
            shipped_at=clock.show_or_none(parcel.shipped_at),
            items=[
                items[item_id] for item_id in dict.fromkeys(parcel.item_ids) if item_id in items
            ],
        )
        for parcel in part.shipments
    ]


class ChangeOut(Output):
    """A change of an order."""

    version: Annotated[int, Meta(examples=[4])]
    at: clock.Timestamp
    cause: Annotated[
        str,
        Meta(
            description="`accepted`, `create`, `sync`, `pay`, `cancel`, `payment_requested`, "
            "`payment_approved`, `refund_requested`, …",
            examples=["sync"],
        ),
    ]
    by: Annotated[
        PersonOut | None, Meta(description="Who asked for it; null: the platform, or a job.")
    ]
    changes: Annotated[
        dict[str, Any],
        Meta(
            description="Each field of the order that changed, `from` and `to`.",
            examples=[{"status": {"from": "pending_payment", "to": "paid"}}],
        ),
    ]
    events: Annotated[
        list[str],
        Meta(
            description="The events that it caused.",
            examples=[["evt_06EJ4KQZC5T9XN4R5ZJ2V7M8QW"]],
        ),
    ]

    @staticmethod
    def of(change: OrderChange) -> "ChangeOut":
        return ChangeOut(
            version=change.version,
            at=clock.show(change.at),
            cause=change.cause.name,
            by=PersonOut.or_none(change.cause.by),
            changes=dict(change.changes),
            events=[ids.EVENT.show(event_id) for event_id in change.events],
        )


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


class AddressWarningOut(Output):
    """What is unusual about the address; the order can be placed all the same."""

    pointer: Annotated[str, Meta(examples=["/address/district"])]
    code: Annotated[str, Meta(examples=["unknown_region"])]
    message: Annotated[str, Meta(examples=["Is not a district of 杭州市; did you mean 滨江区?"])]

    @staticmethod
    def of(warning: FieldError) -> "AddressWarningOut":
        pointer = f"/address{warning.pointer}"
        return AddressWarningOut(pointer=pointer, code=warning.code, message=warning.message)


class PreviewOut(Output):
    """What an order would cost now."""

    sellers: list[SellerPreviewOut]
    total_amount_cny: Cny
    unavailable_items: list[UnavailableOut]
    warnings: Annotated[
        list[AddressWarningOut],
        Meta(description="A province, city or district that is not known.", examples=[[]]),
    ]

    @staticmethod
    def of(preview: Preview, warnings: Sequence[FieldError] = ()) -> "PreviewOut":
        return PreviewOut(
            sellers=[
                SellerPreviewOut(
                    id=seller.seller_id or None,
                    items=[LineOut.of(line) for line in seller.lines],
                    goods_amount_cny=money.show(seller.goods_fen),
                    freight_cny=money.show(seller.freight_fen),
                    discount_cny=money.show(seller.discount_fen),
                    total_amount_cny=money.show(seller.total_fen),
                )
                for seller in preview.sellers
            ],
            total_amount_cny=money.show(preview.total_fen),
            unavailable_items=[
                msgspec.convert(line, UnavailableOut, from_attributes=True)
                for line in preview.unavailable
            ],
            warnings=[AddressWarningOut.of(warning) for warning in warnings],
        )


TIMELINE: CursorList[OrderChange] = CursorList("timeline", int, key=lambda change: change.version)
