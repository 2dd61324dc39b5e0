"""Orders as JSON: every field is always there, null where there is no value yet."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from tradewind import clock, ids, money
from tradewind.events.catalogue import OrderNews
from tradewind.money import Cny
from tradewind.orders import lifecycle
from tradewind.orders.model import (
    OPEN_REQUESTS,
    Failure,
    Order,
    OrderRefund,
    PaymentRequest,
    PaymentStatus,
    PayMode,
    RequestStatus,
    Status,
    Who,
)
from tradewind.orders.shipments import pieces_per_parcel
from tradewind.platforms.model import (
    Address,
    CloseReason,
    Line,
    PaymentState,
    PlatformOrder,
    RefundKind,
    RefundState,
)
from tradewind.platforms.model import Status as PlatformStatus
from tradewind.platforms.wire import PlatformName
from tradewind.web.inputs import Output

OrderIdText = Annotated[
    str, Meta(pattern=ids.ORDER.pattern, examples=["ORD06EJ4KQZC5T9XN4R5ZJ2V7M8QW"])
]
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


class FailureOut(Output):
    """Why it was refused for good."""

    code: Annotated[str, Meta(examples=["out_of_stock"])]
    message: Annotated[str, Meta(examples=["Not enough in stock."])]

    @staticmethod
    def of(failure: Failure | None) -> "FailureOut | None":
        return None if failure is None else FailureOut(code=failure.code, message=failure.message)


class WhoOut(Output):
    """An account, with the e-mail that it had then."""

    account_id: Annotated[str, Meta(examples=["acc_06EJ4KQZC5T9XN4R5ZJ2V7M8QW"])]
    email: Annotated[str, Meta(examples=["buyer@example.com"])]

    @staticmethod
    def of(who: Who | None) -> "WhoOut | None":
        return None if who is None else WhoOut(account_id=ids.ACCOUNT.show(who.id), email=who.email)


class LineOut(Output):
    """What is bought."""

    product_id: Annotated[str, Meta(examples=["900000000001"])]
    sku_id: Annotated[str | None, Meta(examples=["87591f8108ad403c9ccf19a8eeb25e63"])]
    quantity: Annotated[int, Meta(examples=[2])]

    @staticmethod
    def of(line: Line) -> "LineOut":
        return LineOut(product_id=line.product_id, sku_id=line.sku_id, quantity=line.quantity)


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
        return AddressOut(
            name=address.name,
            phone=address.phone,
            province=address.province,
            city=address.city,
            district=address.district,
            detail=address.detail,
            postal_code=address.postal_code,
        )


class PlatformOrderOut(Output):
    """One of the orders on the platform that this order became."""

    order_id: _PlatformId
    status: Annotated[PlatformStatus | None, Meta(examples=["paid"])]
    platform_status: Annotated[str, Meta(examples=["waitsellersend"])]
    payment_status: PaymentState
    total_amount_cny: Cny
    refunded_amount_cny: Cny

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


class RefundOut(Output):
    """Money that is asked back. `failure` is there when the platform never heard of it."""

    id: Annotated[
        str, Meta(pattern=ids.REFUND.pattern, examples=["rfd_06EJ4KQZC5T9XN4R5ZJ2V7M8QW"])
    ]
    platform_refund_id: Annotated[str | None, Meta(examples=["TQ1688000000001"])]
    order_id: _PlatformId
    status: RefundState
    type: RefundKind | None
    amount_cny: Cny
    freight_cny: Cny
    reason: Annotated[str | None, Meta(examples=["damaged"])]
    note: Annotated[str | None, Meta(examples=["The box was open."])]
    failure: FailureOut | None
    requested_at: _Time
    updated_at: _Time

    @staticmethod
    def of(refund: OrderRefund) -> "RefundOut":
        return RefundOut(
            id=ids.REFUND.show(refund.id),
            platform_refund_id=refund.platform_id,
            order_id=refund.order_id,
            status=refund.state,
            type=refund.kind,
            amount_cny=money.show(refund.amount_fen),
            freight_cny=money.show(refund.freight_fen),
            reason=refund.reason,
            note=refund.note,
            failure=FailureOut.of(refund.failure),
            requested_at=clock.show(refund.requested_at),
            updated_at=clock.show(refund.updated_at),
        )


class PaymentOut(Output):
    """A request to pay an order, and what became of it."""

    id: Annotated[
        str, Meta(pattern=ids.PAYMENT.pattern, examples=["pay_06EJ4KQZC5T9XN4R5ZJ2V7M8QW"])
    ]
    status: RequestStatus
    amount_cny: Cny
    mode: PayMode
    requested_by: WhoOut
    requested_at: _Time
    decided_by: Annotated[WhoOut | None, Meta(description="Who approved, rejected or withdrew it.")]
    decided_at: Annotated[_Time | None, Meta(description="When they did.")]
    reason: Annotated[
        str | None,
        Meta(
            description="Of a rejection in the approver's words; of `superseded` one of "
            "`amount_changed`, `paid_outside`, `order_closed`.",
            examples=["Too expensive."],
        ),
    ]
    pay_url: Annotated[
        str | None, Meta(description="Where a person pays, in pay mode `link`.", examples=[None])
    ]
    failure: FailureOut | None

    @staticmethod
    def of(request: PaymentRequest) -> "PaymentOut":
        return PaymentOut(**payment_fields(request))


def payment_fields(request: PaymentRequest) -> dict[str, Any]:
    return {
        "id": ids.PAYMENT.show(request.id),
        "status": request.status,
        "amount_cny": money.show(request.amount_fen),
        "mode": request.mode,
        "requested_by": WhoOut.of(request.requested_by),
        "requested_at": clock.show(request.requested_at),
        "decided_by": WhoOut.of(request.decided_by),
        "decided_at": clock.show_or_none(request.decided_at),
        "reason": request.reason,
        "pay_url": request.pay_url,
        "failure": FailureOut.of(request.failure),
    }


class OrderOut(Output):
    """An order."""

    id: OrderIdText
    platform: PlatformName
    order_id: Annotated[
        str | None,
        Meta(description="Its id on the platform; null before it has one.", examples=["1688001"]),
    ]
    status: Status
    payment_status: PaymentStatus
    platform_payment_status: PaymentState
    total_amount_cny: Cny | None
    updated_at: _Time
    account_id: Annotated[str, Meta(examples=["acc_06EJ4KQZC5T9XN4R5ZJ2V7M8QW"])]
    items: list[LineOut]
    address: AddressOut
    remark: Annotated[str | None, Meta(examples=["Pack it well."])]
    goods_amount_cny: Cny | None
    freight_cny: Cny | None
    discount_cny: Cny | None
    paid_amount_cny: Cny
    refunded_amount_cny: Cny
    platform_orders: list[PlatformOrderOut]
    shipments: list[ShipmentOut]
    refunds: list[RefundOut]
    payment: Annotated[PaymentOut | None, Meta(description="The payment request that is open.")]
    platform_status: Annotated[
        str | None, Meta(description="The platform's own word.", examples=["waitsellersend"])
    ]
    failure: FailureOut | None
    cancel_requested: bool
    dispute: bool
    paid_outside: Annotated[
        bool, Meta(description="It was paid on the platform's own pages, without an approval.")
    ]
    close_reason: CloseReason | None
    pay_before: _Time | None
    waiting_for: WaitingFor
    external_id: Annotated[str | None, Meta(examples=["PO-1001"])]
    metadata: Annotated[dict[str, str], Meta(examples=[{"team": "shoes"}])]
    created_at: _Time
    synced_at: Annotated[
        _Time | None, Meta(description="When the platform was last asked, with success.")
    ]
    next_sync_at: _Time | None
    stale: Annotated[
        bool, Meta(description="The platform could not be asked: this is what we last heard.")
    ]
    version: Annotated[int, Meta(examples=[4])]

    @staticmethod
    def of(order: Order, *, stale: bool | None = None) -> "OrderOut":
        """`stale` is what a refresh found out; otherwise, whether the last sync failed."""
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
            items=[LineOut.of(line) for line in order.lines],
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
            payment=_open_payment(order),
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


def _open_payment(order: Order) -> PaymentOut | None:
    """The request that is open; one that has just ended is in the history."""
    request = order.payment
    return PaymentOut.of(request) if request and request.status in OPEN_REQUESTS else None


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


def news_of(order: Order) -> OrderNews:
    """What an event tells of an order."""
    return OrderNews(
        id=ids.ORDER.show(order.id),
        platform=order.platform,
        order_id=order.order_id,
        status=order.status,
        payment_status=order.payment_status,
        platform_payment_status=order.platform_payment_status,
        total_amount_cny=money.show_or_none(order.total_fen),
        updated_at=clock.show(order.updated_at),
    )


# What is no change of an order by itself, or only follows from others.
_BOOKKEEPING = frozenset(
    {"updated_at", "version", "synced_at", "next_sync_at", "stale", "waiting_for", "address"}
)


def public(order: Order) -> dict[str, Any]:
    """What callers see of an order, but for what changes all the time: for the timeline."""
    shown: dict[str, Any] = msgspec.to_builtins(OrderOut.of(order))
    return {name: value for name, value in shown.items() if name not in _BOOKKEEPING}
