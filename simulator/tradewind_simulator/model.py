"""The values of the simulation: sellers, products, orders, refunds, tokens."""

from enum import StrEnum

from msgspec import Struct


class Dialect(StrEnum):
    """The wire format that an application speaks."""

    ALIBABA = "alibaba"
    TAOBAO = "taobao"


class App(Struct, frozen=True):
    """An application, and the buyer who authorised it."""

    name: str
    key: str
    secret: str
    dialect: Dialect
    access_token: str
    refresh_token: str
    buyer_id: int

    @property
    def member_id(self) -> str:
        return f"b2b-{self.buyer_id}"


class Seller(Struct, frozen=True):
    """A shop: its location, its freight and its discount on large orders."""

    id: int
    name: str
    login: str
    province: str
    city: str
    first_kilo_fen: int
    next_kilo_fen: int
    free_over_fen: int | None
    off_from_fen: int | None
    off_fen: int
    years: int
    identity: str

    @property
    def member_id(self) -> str:
        return f"b2b-{self.id}"


class Option(Struct, frozen=True):
    """An option of a SKU, such as its colour, in both languages."""

    name: str
    name_en: str
    value: str
    value_en: str


class Sku(Struct, frozen=True):
    """A product in one colour and size."""

    id: int
    spec: str
    options: tuple[Option, ...]
    price_fen: int
    stock: int
    picture: int


class Quote(StrEnum):
    """How a product is priced; the dialect writes them as 0, 1 and 2."""

    BY_QUANTITY_NO_SKU = "0"
    BY_SKU = "1"
    BY_QUANTITY = "2"


class Step(Struct, frozen=True):
    """The unit price from a quantity on."""

    quantity: int
    price_fen: int


class Product(Struct, frozen=True):
    """What a seller offers."""

    id: int
    seller: int
    category: str
    category_id: int
    kind: str
    kind_en: str
    title: str
    title_en: str
    attributes: tuple[Option, ...]
    skus: tuple[Sku, ...]
    steps: tuple[Step, ...]
    quote: Quote
    minimum: int
    batch: int
    unit: str
    unit_en: str
    grams: int
    sold: int
    repurchase: int
    listed: bool = True
    magic: str = ""

    @property
    def lowest_fen(self) -> int:
        return min(step.price_fen for step in self.steps)

    @property
    def highest_fen(self) -> int:
        return max([step.price_fen for step in self.steps] + [sku.price_fen for sku in self.skus])

    @property
    def stock(self) -> int:
        return sum(sku.stock for sku in self.skus)


class Status(StrEnum):
    """The status of an order; each dialect has its own names for these."""

    BUILDING = "building"
    UNPAID = "unpaid"
    PAID = "paid"
    SHIPPED = "shipped"
    RECEIVED = "received"
    SUCCESS = "success"
    CANCELLED = "cancelled"
    TERMINATED = "terminated"


OVER = frozenset({Status.SUCCESS, Status.CANCELLED, Status.TERMINATED})


class Address(Struct, frozen=True):
    """Where to send it."""

    name: str
    phone: str
    province: str
    city: str
    area: str
    detail: str
    zip: str = ""


class Line(Struct, frozen=True):
    """One SKU of an order; `closed` once it was refunded before it was sent."""

    id: int
    product: int
    sku: int
    spec: str
    title: str
    options: tuple[Option, ...]
    unit: str
    picture: int
    quantity: int
    price_fen: int
    discount_fen: int = 0
    shipped: int = 0
    refunded_fen: int = 0
    closed: bool = False

    @property
    def amount_fen(self) -> int:
        """What is paid for the line: price times quantity less its share of the discount."""
        return self.price_fen * self.quantity - self.discount_fen


class Parcel(Struct, frozen=True):
    """A parcel."""

    id: int
    carrier: str
    carrier_code: str
    number: str
    at: float
    lines: tuple[int, ...]


class RefundStatus(StrEnum):
    """The status of a refund, in the terms of the 1688 dialect."""

    ASKED = "waitselleragree"
    REFUSED = "waitbuyermodify"
    TO_RETURN = "waitbuyersend"
    RETURNED = "waitsellerreceive"
    DONE = "refundsuccess"
    CLOSED = "refundclose"


REFUND_OVER = frozenset({RefundStatus.DONE, RefundStatus.CLOSED})


class Refund(Struct, frozen=True):
    """A refund that the buyer requested."""

    id: int
    status: RefundStatus
    lines: tuple[int, ...]
    goods_fen: int
    freight_fen: int
    with_return: bool
    reason_id: int
    reason: str
    note: str
    after_sales: bool
    asked_at: float
    changed_at: float
    done_at: float | None = None

    @property
    def total_fen(self) -> int:
        return self.goods_fen + self.freight_fen


class Due(Struct, frozen=True):
    """A step that an order takes when its time has come."""

    at: float
    what: str
    which: int = 0


class Order(Struct, frozen=True, tag="order"):
    """An order of a buyer from a seller, with everything that happened to it."""

    id: int
    app: str
    seller: int
    reference: str
    status: Status
    lines: tuple[Line, ...]
    goods_fen: int
    freight_fen: int
    discount_fen: int
    address: Address
    remark: str
    created_at: float
    changed_at: float
    pay_seconds: int
    paid_at: float | None = None
    paid_fen: int = 0
    shipped_at: float | None = None
    received_at: float | None = None
    over_at: float | None = None
    close_reason: str = ""
    closed_by: str = ""
    price_changed: bool = False
    paying: bool = False
    pay_error: str = ""
    cancelling: bool = False
    parcels: tuple[Parcel, ...] = ()
    refunds: tuple[Refund, ...] = ()
    due: tuple[Due, ...] = ()

    @property
    def total_fen(self) -> int:
        return self.goods_fen + self.freight_fen - self.discount_fen

    @property
    def refunded_fen(self) -> int:
        return sum(r.total_fen for r in self.refunds if r.status is RefundStatus.DONE)

    @property
    def pay_before(self) -> float:
        return self.created_at + self.pay_seconds

    @property
    def open_lines(self) -> tuple[Line, ...]:
        return tuple(line for line in self.lines if not line.closed)


class Entry(Struct, frozen=True, tag="entry"):
    """An entry of the ledger: money that left the buyer's account, or came back."""

    id: int
    order: int
    app: str
    kind: str
    fen: int
    at: float
    operation: str
    channel: str


class Token(Struct, frozen=True, tag="token"):
    """An access token with the refresh token that came with it; times are real, not the world's.

    None as an end means that it never ends by itself.
    """

    app: str
    access: str
    refresh: str
    access_until: float | None
    refresh_until: float | None
    refresh_used: bool = False


class Code(Struct, frozen=True):
    """An authorisation code, valid for two minutes, once."""

    app: str
    value: str
    redirect_uri: str
    until: float
