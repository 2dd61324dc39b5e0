"""The values that connectors take and return, the same for all marketplaces. Money is in fen."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from tradewind.platforms.failures import Reason


class Sort(StrEnum):
    """The order of a search's results."""

    RELEVANCE = "relevance"
    PRICE_ASC = "price_asc"
    PRICE_DESC = "price_desc"
    SALES_DESC = "sales_desc"


class PlatformOrderStatus(StrEnum):
    """The status of an order on its marketplace, in terms that all marketplaces share."""

    CREATING = "creating"
    PENDING_PAYMENT = "pending_payment"
    PAID = "paid"
    PARTIALLY_SHIPPED = "partially_shipped"
    SHIPPED = "shipped"
    RECEIVED = "received"
    COMPLETED = "completed"
    CANCELLED = "cancelled"
    CLOSED = "closed"
    UNKNOWN = "unknown"


class PaymentState(StrEnum):
    """The payment status of an order on its marketplace."""

    UNPAID = "unpaid"
    PROCESSING = "processing"
    PAID = "paid"
    PARTIALLY_PAID = "partially_paid"
    FAILED = "failed"
    PARTIALLY_REFUNDED = "partially_refunded"
    REFUNDED = "refunded"
    CLOSED = "closed"
    UNKNOWN = "unknown"


class CloseReason(StrEnum):
    """Who or what closed an order."""

    BUYER = "buyer"
    SELLER = "seller"
    TIMEOUT = "timeout"
    PLATFORM = "platform"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Query:
    """A search, by a text or by a picture that was uploaded. `page` counts from 1."""

    text: str
    page: int = 1
    size: int = 20
    sort: Sort = Sort.RELEVANCE
    min_price_fen: int | None = None
    max_price_fen: int | None = None
    lang: str = "en"
    image_id: str | None = None


@dataclass(frozen=True, slots=True)
class Offer:
    """A product in search results; None where the marketplace does not say."""

    id: str
    title: str
    title_translated: str | None = None
    url: str | None = None
    image_url: str | None = None
    price_fen: int | None = None
    price_max_fen: int | None = None
    min_order_quantity: int | None = None
    sold: int | None = None
    repurchase_rate: float | None = None
    seller_id: str | None = None
    seller_name: str | None = None


@dataclass(frozen=True, slots=True)
class SearchPage:
    """A page of a search."""

    offers: Sequence[Offer]
    total: int
    page: int
    size: int


@dataclass(frozen=True, slots=True)
class Sku:
    """A variant of a product. Orders name it by `id`."""

    id: str
    attributes: Mapping[str, str]
    price_fen: int | None
    stock: int | None
    image_url: str | None


@dataclass(frozen=True, slots=True)
class PriceRange:
    """The unit price from a quantity on."""

    min_quantity: int
    price_fen: int


@dataclass(frozen=True, slots=True)
class ProductAttribute:
    """A fact about a product in words, such as its material or its weight with the unit."""

    name: str
    value: str
    unit: str | None = None


@dataclass(frozen=True, slots=True)
class Product:
    """Everything about a product."""

    offer: Offer
    images: Sequence[str]
    description: str | None
    skus: Sequence[Sku]
    price_ranges: Sequence[PriceRange]
    stock: int | None
    shipping: Mapping[str, str]
    attributes: Sequence[ProductAttribute] = ()


@dataclass(frozen=True, slots=True)
class Goods:
    """A product or variant as it was seen at some time; None where nothing is known.

    `attributes` are those of the variant, and empty for a product without variants. The price is
    that of one piece, without freight and discounts.
    """

    title: str | None = None
    title_translated: str | None = None
    image_url: str | None = None
    attributes: Mapping[str, str] | None = None
    unit_price_fen: int | None = None
    seller_id: str | None = None
    seller_name: str | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """A product or variant to buy, and its quantity.

    `goods` is how it looked when it was ordered. It takes no part in comparisons: lines that buy
    the same are equal.
    """

    product_id: str
    sku_id: str | None
    quantity: int
    goods: Goods | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Address:
    """An address in China to ship to."""

    name: str
    phone: str
    province: str
    city: str
    district: str
    detail: str
    postal_code: str | None = None


@dataclass(frozen=True, slots=True)
class OrderRequest:
    """An order to place. `reference` is ours and unique; the order is looked up by it."""

    reference: str
    lines: Sequence[Line]
    address: Address
    remark: str | None = None
    # The total of the last preview; a marketplace with a price limit rejects an order above it.
    expected_total_fen: int | None = None


@dataclass(frozen=True, slots=True)
class SellerPreview:
    """What one seller's part of an order would cost: goods + freight - discount = total."""

    seller_id: str
    lines: Sequence[Line]
    goods_fen: int
    freight_fen: int
    discount_fen: int
    total_fen: int


@dataclass(frozen=True, slots=True)
class UnavailableLine:
    """A line that cannot be bought, and why."""

    product_id: str
    sku_id: str | None
    reason: Reason


@dataclass(frozen=True, slots=True)
class Preview:
    """What an order would cost now."""

    sellers: Sequence[SellerPreview]
    total_fen: int
    unavailable: Sequence[UnavailableLine] = ()


@dataclass(frozen=True, slots=True)
class Placed:
    """The orders that were created; the marketplace may have split one into several."""

    order_ids: Sequence[str]
    total_fen: int | None


@dataclass(frozen=True, slots=True)
class Item:
    """A line of an order on the marketplace.

    `goods` are what the marketplace calls the line. They are read with every order, fill in what
    is not known of our own line, and are not stored; they take no part in comparisons.
    """

    id: str
    product_id: str | None
    sku_id: str | None
    quantity: int
    amount_fen: int
    shipped: bool
    goods: Goods | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Shipment:
    """A parcel. `item_ids` are ids of Items; empty when the marketplace does not say."""

    carrier: str | None
    tracking_number: str | None
    shipped_at: datetime | None
    item_ids: Sequence[str]


@dataclass(frozen=True, slots=True)
class PlatformOrder:
    """An order as its marketplace shows it now.

    A `status` of None means a raw value that we do not know: the stored order keeps its last
    status. The amounts are the marketplace's: goods + freight - discount = total.
    """

    id: str
    reference: str | None
    status: PlatformOrderStatus | None
    raw_status: str
    payment: PaymentState
    total_fen: int
    goods_fen: int
    freight_fen: int
    discount_fen: int
    refunded_fen: int
    items: Sequence[Item]
    shipments: Sequence[Shipment]
    close_reason: CloseReason | None = None
    pay_before: datetime | None = None
    created_at: datetime | None = None
    paid_at: datetime | None = None
    modified_at: datetime | None = None
    dispute: bool = False
    cancel_requested: bool = False


class CancelState(StrEnum):
    """The result of a cancellation."""

    DONE = "done"
    REQUESTED = "requested"


@dataclass(frozen=True, slots=True)
class Payment:
    """The result of a payment: `paid`, `processing` (the order shows it later), or `failed`.

    A failure may also be raised as Rejected. When a payment is looked up later, `unpaid` means that
    the marketplace has no trace of it: the same operation id may be sent again.
    """

    state: PaymentState
    code: str | None = None
    message: str | None = None


class RefundKind(StrEnum):
    """Money back, with or without the goods going back."""

    REFUND_ONLY = "refund_only"
    RETURN_AND_REFUND = "return_and_refund"


class RefundState(StrEnum):
    """The status of a refund."""

    REQUESTED = "requested"
    APPROVED = "approved"
    REFUSED = "refused"
    SUCCEEDED = "succeeded"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class RefundRequest:
    """A refund to request from the seller; freight is separate and added to the goods."""

    order_id: str
    kind: RefundKind
    goods_fen: int
    freight_fen: int
    reason: str
    note: str | None
    item_ids: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Refund:
    """A refund as the marketplace shows it now."""

    id: str
    order_id: str
    state: RefundState
    amount_fen: int
    raw_status: str


class NoticeSubject(StrEnum):
    """What happened to the orders of a notice."""

    CREATED = "created"
    PAID = "paid"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Notice:
    """A notice from a marketplace: a hint to read these orders again, never a fact.

    `subject` names the two kinds of notices that may tell nothing new.
    """

    id: str
    kind: str
    order_ids: Sequence[str]
    subject: NoticeSubject = NoticeSubject.OTHER
