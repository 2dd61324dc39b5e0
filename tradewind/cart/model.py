"""What a cart holds: lines with their goods, the groups they are ordered in, and checkouts."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from tradewind.errors import ApiError
from tradewind.orders.model import Order
from tradewind.platforms.model import Address, Goods, Line, Preview, UnavailableLine

MOST_LINES = 200
LARGEST_QUANTITY = 1_000_000


@dataclass(frozen=True, slots=True)
class CartLine:
    """A product or variant to buy, and its quantity."""

    id: UUID
    platform: str
    product_id: str
    sku_id: str | None
    quantity: int
    goods: Goods
    created_at: datetime
    updated_at: datetime

    @property
    def order_line(self) -> Line:
        """The line of an order, whose goods are read again when it is placed."""
        return Line(self.product_id, self.sku_id, self.quantity)

    @property
    def amount_fen(self) -> int | None:
        """What its pieces cost at the price that was seen; None if no price was."""
        price = self.goods.unit_price_fen
        return None if price is None else price * self.quantity


def goods_amount(lines: Sequence[CartLine]) -> int | None:
    """What lines cost at the prices that were seen; None if a price is unknown."""
    amounts = [line.amount_fen for line in lines]
    known = [amount for amount in amounts if amount is not None]
    return sum(known) if len(known) == len(amounts) else None


@dataclass(frozen=True, slots=True)
class CartSelection:
    """What to preview or to order from the cart, and where to ship it.

    `address` is an address, or the id of one of the address book. `line_ids` of None are all
    lines; an id of None is not an id at all. `expected_fen` are the totals of the groups that the
    buyer saw, in the order of the groups.
    """

    address: Address | UUID
    line_ids: Sequence[UUID | None] | None = None
    expected_fen: Sequence[int] | None = None


@dataclass(frozen=True, slots=True)
class CartGroup:
    """Lines that are one order: of one marketplace and, where it requires that, of one seller."""

    lines: Sequence[CartLine]

    @property
    def platform(self) -> str:
        return self.lines[0].platform

    @property
    def seller_id(self) -> str | None:
        """The seller of all lines; None if they have several, or none is known."""
        sellers = {line.goods.seller_id for line in self.lines}
        return sellers.pop() if len(sellers) == 1 else None

    @property
    def seller_name(self) -> str | None:
        names = {line.goods.seller_name for line in self.lines}
        return names.pop() if len(names) == 1 else None


@dataclass(frozen=True, slots=True)
class GroupError:
    """Why a group cannot be previewed or ordered, and which of its lines are the cause."""

    code: str
    title: str
    detail: str
    unavailable: Sequence[UnavailableLine] = ()
    retry_after: int | None = None

    @staticmethod
    def of(error: ApiError, group: CartGroup) -> "GroupError":
        """The error of a group. What is wrong with the whole order is wrong with every line."""
        unavailable: list[UnavailableLine] = []
        for item in error.facts.get("unavailable_items", ()):
            if item["product_id"] is None:
                unavailable += [
                    UnavailableLine(line.product_id, line.sku_id, item["reason"])
                    for line in group.lines
                ]
            else:
                unavailable.append(
                    UnavailableLine(item["product_id"], item["sku_id"], item["reason"])
                )
        return GroupError(
            error.code, error.title, error.detail, unavailable, error.facts.get("retry_after")
        )


@dataclass(frozen=True, slots=True)
class GroupPreview:
    """What a group would cost now, or why that cannot be said."""

    group: CartGroup
    preview: Preview | None
    error: GroupError | None


@dataclass(frozen=True, slots=True)
class CheckoutGroup:
    """A group of a checkout, with the order that it became, or why it became none."""

    number: int
    group: CartGroup
    expected_fen: int | None
    order_id: UUID | None
    error: GroupError | None
    order: Order | None = None


@dataclass(frozen=True, slots=True)
class Checkout:
    """A request to order from the cart."""

    id: UUID
    account_id: UUID
    fingerprint: bytes
    address: Address
    created_at: datetime
    in_progress: bool
    groups: Sequence[CheckoutGroup]

    @property
    def is_complete(self) -> bool:
        """Whether every group has its order."""
        return all(group.order_id is not None for group in self.groups)
