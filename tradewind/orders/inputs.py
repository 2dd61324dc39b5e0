"""What callers send about orders, validated field by field."""

import re
from collections.abc import Callable, Iterator
from typing import Annotated, Literal
from uuid import UUID

import msgspec
from msgspec import Meta

from tradewind import ids
from tradewind.errors import FieldError
from tradewind.money import CnyIn
from tradewind.orders.model import NewOrder, OrderStatus
from tradewind.orders.payments.model import PaymentStatus
from tradewind.orders.sql_lists import Filters
from tradewind.orders.wire import OrderIdText
from tradewind.platforms.model import Address, Line
from tradewind.platforms.wire import PlatformName
from tradewind.web.inputs import Input, Moment, read_amount, read_id
from tradewind.web.paging import PageCursor, PageLimit
from tradewind.web.validation import NOT_BLANK

_METADATA_LIMIT = 50
_PHONE = re.compile(r"1[0-9]{10}|\+?[0-9][0-9 ()-]{5,22}[0-9]")
_SkuId = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=100,
        pattern=NOT_BLANK,
        examples=["87591f8108ad403c9ccf19a8eeb25e63"],
    ),
]
Phone = Annotated[
    str,
    Meta(
        min_length=5,
        max_length=30,
        examples=["15251667788"],
        extra={
            "expected": "a phone number, such as 15251667788 or +86 152 5166 7788",
            "accepts": lambda text: _PHONE.fullmatch(text) is not None,
        },
    ),
]
_Region = Annotated[str, Meta(min_length=1, max_length=50, pattern=NOT_BLANK)]
_PostalCode = Annotated[str, Meta(max_length=20, examples=["310000"])]
_Remark = Annotated[
    str, Meta(max_length=500, description="For the seller.", examples=["Pack it well."])
]
_ExternalId = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=100,
        pattern=NOT_BLANK,
        description="Your own id of it; one order of yours can have it.",
        examples=["PO-1001"],
    ),
]


class LineIn(Input):
    """What to buy. `sku_id` is needed where the product has variants."""

    product_id: Annotated[
        str, Meta(min_length=1, max_length=50, pattern=NOT_BLANK, examples=["900000000001"])
    ]
    quantity: Annotated[int, Meta(ge=1, le=1_000_000, examples=[2])]
    sku_id: _SkuId | None = None


class AddressIn(Input):
    """Where to ship to, in China."""

    name: Annotated[_Region, Meta(examples=["张三"])]
    phone: Phone
    province: Annotated[_Region, Meta(examples=["浙江省"])]
    city: Annotated[_Region, Meta(examples=["杭州市"])]
    district: Annotated[_Region, Meta(examples=["滨江区"])]
    detail: Annotated[
        str, Meta(min_length=1, max_length=200, pattern=NOT_BLANK, examples=["网商路699号"])
    ]
    postal_code: _PostalCode | None = None


class OrderIn(Input):
    """An order to preview or to place."""

    platform: PlatformName
    items: Annotated[
        list[LineIn],
        Meta(min_length=1, max_length=200, extra={"distinct_by": ("product_id", "sku_id")}),
    ]
    address: AddressIn
    remark: _Remark | None = None
    expected_total_cny: Annotated[
        CnyIn | None,
        Meta(
            description="What a preview said. If the order costs something else: 409 "
            "`price_changed`, and nothing is ordered. A preview takes no notice of it."
        ),
    ] = None
    external_id: Annotated[_ExternalId | None, Meta(examples=[None])] = None
    metadata: Annotated[
        dict[
            Annotated[str, Meta(min_length=1, max_length=40)], Annotated[str, Meta(max_length=500)]
        ],
        Meta(
            max_length=_METADATA_LIMIT,
            description="Up to 50 texts of yours, kept with the order.",
            examples=[{"team": "shoes"}],
        ),
    ] = msgspec.field(default_factory=dict)

    def order(self, platform: str) -> NewOrder:
        """The order on this platform, which `self.platform` may name by an alias."""
        return NewOrder(
            platform=platform,
            lines=msgspec.convert(self.items, list[Line], from_attributes=True),
            address=msgspec.convert(self.address, Address, from_attributes=True),
            remark=self.remark,
            expected_fen=read_amount("/expected_total_cny", self.expected_total_cny),
            external_id=self.external_id,
            metadata=self.metadata,
        )


_Texts = Annotated[list[Annotated[str, Meta(max_length=100)]], Meta(max_length=100)]
_ExternalIds = Annotated[
    list[Annotated[str, Meta(max_length=100)]], Meta(max_length=100, extra={"commas": False})
]


class OrderFilters(Input):
    """Which orders; several values of a filter by comma, or by repeating it."""

    status: list[OrderStatus] | None = None
    payment_status: list[PaymentStatus] | None = None
    platform: Annotated[_Texts | None, Meta(examples=[["sandbox"]])] = None
    external_id: Annotated[
        _ExternalIds | None,
        Meta(description="Your own id; repeat it for several, since an id may hold a comma."),
    ] = None
    order_id: Annotated[_Texts | None, Meta(description="The platform's id.")] = None
    tracking_number: _Texts | None = None
    created_after: Annotated[Moment | None, Meta(description="At or after.")] = None
    created_before: Annotated[Moment | None, Meta(description="Before.")] = None
    updated_after: Annotated[Moment | None, Meta(description="At or after.")] = None
    updated_before: Annotated[Moment | None, Meta(description="Before.")] = None

    def filters(self, platform_of: Callable[[str], str], account_id: UUID | None) -> Filters:
        """The filters; `platform_of` returns the platform behind an alias."""
        return Filters(
            account_id=account_id,
            statuses=self.status,
            payment_statuses=self.payment_status,
            platforms=self.platform and [platform_of(name) for name in self.platform],
            external_ids=self.external_id,
            order_ids=self.order_id,
            tracking_numbers=self.tracking_number,
            created_after=self.created_after,
            created_before=self.created_before,
            updated_after=self.updated_after,
            updated_before=self.updated_before,
        )


class OrdersQuery(OrderFilters):
    """Which orders to list, and how."""

    sort: Annotated[Literal["created_at", "updated_at"], Meta(description="The latest first.")] = (
        "created_at"
    )
    limit: PageLimit = 20
    cursor: PageCursor = None


class AdminOrdersQuery(OrdersQuery):
    """Which orders of which account to list."""

    account: Annotated[
        Annotated[str, Meta(pattern=ids.ACCOUNT.pattern)] | None,
        Meta(description="Orders of this account only."),
    ] = None

    @property
    def account_id(self) -> UUID | None:
        return read_id(ids.ACCOUNT, "?account", self.account)


class KnownOrder(Input):
    """An order as the caller has it."""

    id: OrderIdText
    updated_at: Annotated[Moment, Meta(examples=["2026-11-15T01:02:03.004Z"])]


class DiffIn(Input):
    """The orders that the caller has, and when they last changed there."""

    orders: Annotated[list[KnownOrder], Meta(max_length=1000)]


class AdvanceIn(Input):
    """Where to move an order on a simulated platform."""

    to: Annotated[
        Literal[
            "paid",
            "partially_shipped",
            "shipped",
            "received",
            "completed",
            "cancelled",
            "closed",
            "expired",
            "price_changed",
            "refund_agreed",
            "refund_refused",
            "refund_completed",
        ],
        Meta(examples=["paid"]),
    ]
    total_cny: Annotated[
        CnyIn | None,
        Meta(
            description="With `price_changed`: what it costs from now on.",
            examples=[None],
        ),
    ] = None

    @property
    def total_fen(self) -> int | None:
        changed = self.total_cny if self.to == "price_changed" else None
        return read_amount("/total_cny", changed)

    def check_fields(self) -> Iterator[FieldError]:
        if self.to == "price_changed" and self.total_cny is None:
            yield FieldError("/total_cny", "Is required with price_changed.", "missing")
