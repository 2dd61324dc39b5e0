"""The cart for people: groups with what they cost, what cannot be bought and why. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tradewind import ids
from tradewind.cart.model import CartGroup, CartLine, GroupError, GroupPreview, goods_amount
from tradewind.platforms.failures import Reason
from tradewind.platforms.model import Preview, UnavailableLine

_REASONS: Mapping[str, str] = {
    Reason.OUT_OF_STOCK: "Out of stock: not enough pieces are left.",
    Reason.BELOW_MINIMUM: "Below the minimum order of the seller.",
    Reason.MIXED_BATCH: "Sold in batches only: change the quantity.",
    Reason.NOT_FOR_SALE: "No longer for sale.",
    Reason.NOT_FOUND: "No longer at the marketplace.",
}


@dataclass(frozen=True, slots=True)
class LineView:
    """A line, and why it cannot be bought; empty if it can, or if that is not known."""

    line: CartLine
    problem: str


@dataclass(frozen=True, slots=True)
class GroupView:
    """A group with its cost; the amounts are None if there is no preview."""

    platform: str
    seller: str
    lines: Sequence[LineView]
    error: str
    goods_fen: int | None
    freight_fen: int | None
    discount_fen: int | None
    total_fen: int | None

    @property
    def available(self) -> Sequence[CartLine]:
        """The lines that can be ordered."""
        return [view.line for view in self.lines if not view.problem]


@dataclass(frozen=True, slots=True)
class CartTotals:
    """What the button orders: how many orders, their lines, and what they cost together.

    `leaves_lines` says that some lines cannot be ordered now.
    """

    orders: int
    pieces: int
    leaves_lines: bool
    goods_fen: int | None
    freight_fen: int | None
    discount_fen: int | None
    total_fen: int | None
    line_ids: str
    expected: str


def reason_text(reason: str) -> str:
    """Why a line cannot be bought."""
    return _REASONS.get(reason, "Cannot be bought now.")


def seen_group(group: CartGroup) -> GroupView:
    """A group without a preview: at the prices that were seen."""
    return GroupView(
        platform=group.platform,
        seller=group.seller_name or group.seller_id or "",
        lines=[LineView(line, "") for line in group.lines],
        error="",
        goods_fen=goods_amount(group.lines),
        freight_fen=None,
        discount_fen=None,
        total_fen=None,
    )


def previewed_group(result: GroupPreview) -> GroupView:
    """A group with its preview, or with the error that it had."""
    group, preview = result.group, result.preview
    unavailable = preview.unavailable if preview else _unavailable(result.error)
    problems = {(item.product_id, item.sku_id): reason_text(item.reason) for item in unavailable}
    lines = [
        LineView(
            line,
            problems.get((line.product_id, line.sku_id))
            or problems.get((line.product_id, None), ""),
        )
        for line in group.lines
    ]
    is_partly_unavailable = any(view.problem for view in lines)
    error = "" if result.error is None or is_partly_unavailable else result.error.detail
    has_cost = preview is not None and any(not view.problem for view in lines)
    return GroupView(
        platform=group.platform,
        seller=group.seller_name or group.seller_id or "",
        lines=lines,
        error=error,
        goods_fen=_sum(preview, "goods_fen") if has_cost else None,
        freight_fen=_sum(preview, "freight_fen") if has_cost else None,
        discount_fen=_sum(preview, "discount_fen") if has_cost else None,
        total_fen=preview.total_fen if preview and has_cost else None,
    )


def totals(groups: Sequence[GroupView]) -> CartTotals:
    """The sum of what can be ordered: the groups that have a cost."""
    ready = [group for group in groups if group.total_fen is not None]
    lines = [line for group in ready for line in group.available]
    return CartTotals(
        orders=len(ready),
        pieces=sum(line.quantity for line in lines),
        leaves_lines=len(lines) < sum(len(group.lines) for group in groups),
        goods_fen=sum(group.goods_fen or 0 for group in ready),
        freight_fen=sum(group.freight_fen or 0 for group in ready),
        discount_fen=sum(group.discount_fen or 0 for group in ready),
        total_fen=sum(group.total_fen or 0 for group in ready),
        line_ids=",".join(ids.CART_LINE.show(line.id) for line in lines),
        expected=",".join(str(group.total_fen) for group in ready),
    )


def _unavailable(error: GroupError | None) -> Sequence[UnavailableLine]:
    return error.unavailable if error else ()


def _sum(preview: Preview | None, name: str) -> int:
    return sum(getattr(seller, name) for seller in preview.sellers) if preview else 0
