"""Carts as JSON: lines with their goods, and what each group of lines costs or became."""

from collections.abc import Iterator, Sequence
from typing import Annotated
from uuid import UUID

import msgspec
from msgspec import Meta

from tradewind import clock, ids, money
from tradewind.addresses.wire import AddressIdText
from tradewind.cart.model import (
    LARGEST_QUANTITY,
    MOST_LINES,
    CartGroup,
    CartLine,
    CartSelection,
    Checkout,
    CheckoutGroup,
    GroupError,
    GroupPreview,
    goods_amount,
)
from tradewind.errors import FieldError
from tradewind.money import Cny
from tradewind.orders.inputs import AddressIn, LineIn
from tradewind.orders.wire import OrderOut, PreviewOut, UnavailableOut
from tradewind.platforms.model import Address
from tradewind.platforms.wire import PlatformName, SellerOut
from tradewind.web import problems
from tradewind.web.inputs import Input, Output, id_text

CartLineIdText = Annotated[str, id_text(ids.CART_LINE)]
# An id that no address has.
_NO_ADDRESS = UUID(int=0)
_Quantity = Annotated[int, Meta(ge=1, le=LARGEST_QUANTITY, examples=[2])]


class CartItemIn(LineIn, kw_only=True):
    """What to add to the cart. `sku_id` is needed where the product has variants."""

    platform: PlatformName


class CartItemPatch(Input):
    """What to change about a line of the cart."""

    quantity: _Quantity


class CartSelectionIn(Input):
    """What of the cart to preview or to order, and where to ship it."""

    address: Annotated[AddressIn | None, Meta(description="Where to ship to.")] = None
    address_id: Annotated[
        AddressIdText | None,
        Meta(description="An address of your address book, instead of `address`.", examples=[None]),
    ] = None
    lines: Annotated[
        Annotated[list[CartLineIdText], Meta(min_length=1, max_length=MOST_LINES)] | None,
        Meta(
            description="The ids of lines of your cart; all of its lines if none are named.",
            examples=[None],
        ),
    ] = None

    def check_fields(self) -> Iterator[FieldError]:
        if self.address is None and self.address_id is None:
            yield FieldError("/address", "Is required, unless address_id is sent.", "missing")
        elif self.address is not None and self.address_id is not None:
            yield FieldError("/address", "Must not be sent together with address_id.")

    def selection(self) -> CartSelection:
        line_ids = self.lines
        if self.address is not None:
            address: Address | UUID = msgspec.convert(self.address, Address, from_attributes=True)
        else:
            address = ids.ADDRESS.read(self.address_id or "") or _NO_ADDRESS
        return CartSelection(
            address,
            None if line_ids is None else [ids.CART_LINE.read(text) for text in line_ids],
        )


class CartItemOut(Output):
    """A line of the cart: a product or variant, as it was seen when it was added."""

    id: CartLineIdText
    platform: PlatformName
    product_id: Annotated[str, Meta(examples=["900000000001"])]
    sku_id: Annotated[str | None, Meta(examples=["87591f8108ad403c9ccf19a8eeb25e63"])]
    quantity: _Quantity
    title: Annotated[str | None, Meta(examples=["夏季法式碎花连衣裙"])]
    title_translated: Annotated[str | None, Meta(examples=["French floral summer dress"])]
    image_url: Annotated[
        str | None, Meta(examples=["https://cbu01.alicdn.com/img/ibank/628000000001.jpg"])
    ]
    attributes: Annotated[dict[str, str] | None, Meta(examples=[{"颜色": "红色", "尺码": "M"}])]
    unit_price_cny: Annotated[
        Cny | None, Meta(description="What one piece cost, without freight and discounts.")
    ]
    seller: SellerOut
    created_at: clock.Timestamp
    updated_at: clock.Timestamp

    @staticmethod
    def of(line: CartLine) -> "CartItemOut":
        goods = line.goods
        return CartItemOut(
            id=ids.CART_LINE.show(line.id),
            platform=line.platform,
            product_id=line.product_id,
            sku_id=line.sku_id,
            quantity=line.quantity,
            title=goods.title,
            title_translated=goods.title_translated,
            image_url=goods.image_url,
            attributes=None if goods.attributes is None else dict(goods.attributes),
            unit_price_cny=money.show_or_none(goods.unit_price_fen),
            seller=SellerOut(id=goods.seller_id, name=goods.seller_name),
            created_at=clock.show(line.created_at),
            updated_at=clock.show(line.updated_at),
        )


class CartOut(Output):
    """The cart, in the order in which its lines were added."""

    items: list[CartItemOut]
    pieces: Annotated[int, Meta(description="The sum of all quantities.", examples=[2])]
    goods_amount_cny: Annotated[
        Cny | None,
        Meta(
            description="What the pieces cost at the prices that were seen, without freight and "
            "discounts; null if a price is unknown. A preview has the exact amounts."
        ),
    ]

    @staticmethod
    def of(lines: Sequence[CartLine]) -> "CartOut":
        return CartOut(
            items=[CartItemOut.of(line) for line in lines],
            pieces=sum(line.quantity for line in lines),
            goods_amount_cny=money.show_or_none(goods_amount(lines)),
        )


class GroupProblemOut(Output):
    """Why a group was not previewed or ordered, as the same order alone would be answered."""

    code: Annotated[str, Meta(examples=["items_unavailable"])]
    title: Annotated[str, Meta(examples=["Some items cannot be bought"])]
    status: Annotated[int, Meta(description="The HTTP status that this error has.", examples=[422])]
    detail: Annotated[str, Meta(examples=["Some of the items cannot be bought."])]
    unavailable_items: list[UnavailableOut]
    retry_after: Annotated[
        int | None, Meta(description="In how many seconds to try again.", examples=[None])
    ]

    @staticmethod
    def or_none(error: GroupError | None) -> "GroupProblemOut | None":
        if error is None:
            return None
        return GroupProblemOut(
            code=error.code,
            title=error.title,
            status=problems.status_of(problems.catalogue()[error.code]),
            detail=error.detail,
            unavailable_items=[
                msgspec.convert(line, UnavailableOut, from_attributes=True)
                for line in error.unavailable
            ],
            retry_after=error.retry_after,
        )


class CartGroupOut(Output):
    """Lines that are one order: of one platform and, where it requires that, of one seller."""

    platform: PlatformName
    seller: Annotated[
        SellerOut, Meta(description="Null where the lines have several, or it is not known.")
    ]
    items: list[CartItemOut]
    error: Annotated[GroupProblemOut | None, Meta(description="Null if the group has no error.")]


class GroupPreviewOut(CartGroupOut, kw_only=True):
    """What a group would cost now, or the error that its preview has."""

    preview: Annotated[PreviewOut | None, Meta(description="Null if there is an error.")]

    @staticmethod
    def of(result: GroupPreview, warnings: Sequence[FieldError]) -> "GroupPreviewOut":
        group, preview = result.group, result.preview
        return GroupPreviewOut(
            platform=group.platform,
            seller=_seller(group),
            items=[CartItemOut.of(line) for line in group.lines],
            error=GroupProblemOut.or_none(result.error),
            preview=None if preview is None else PreviewOut.of(preview, warnings),
        )


class CartPreviewOut(Output):
    """What the groups would cost now; the sum leaves out groups with an error."""

    groups: list[GroupPreviewOut]
    total_amount_cny: Cny

    @staticmethod
    def of(
        previews: Sequence[GroupPreview], warnings: Sequence[FieldError] = ()
    ) -> "CartPreviewOut":
        total = sum(result.preview.total_fen for result in previews if result.preview)
        return CartPreviewOut(
            groups=[GroupPreviewOut.of(result, warnings) for result in previews],
            total_amount_cny=money.show(total),
        )


class OrderedGroupOut(CartGroupOut, kw_only=True):
    """The order that a group became, or the error that kept it from being ordered."""

    order: Annotated[OrderOut | None, Meta(description="Null if there is an error.")]

    @staticmethod
    def of(result: CheckoutGroup) -> "OrderedGroupOut":
        group = result.group
        return OrderedGroupOut(
            platform=group.platform,
            seller=_seller(group),
            items=[CartItemOut.of(line) for line in group.lines],
            error=GroupProblemOut.or_none(result.error),
            order=None if result.order is None else OrderOut.of(result.order),
        )


class CartOrderOut(Output):
    """The result of ordering from the cart, group by group."""

    groups: list[OrderedGroupOut]
    complete: Annotated[
        bool,
        Meta(
            description="Whether every group has its order. If not, a repeat with the same "
            "Idempotency-Key orders what is missing.",
            examples=[True],
        ),
    ]

    @staticmethod
    def of(checkout: Checkout) -> "CartOrderOut":
        return CartOrderOut(
            groups=[OrderedGroupOut.of(group) for group in checkout.groups],
            complete=checkout.is_complete,
        )


def _seller(group: CartGroup) -> SellerOut:
    return SellerOut(id=group.seller_id, name=group.seller_name)
