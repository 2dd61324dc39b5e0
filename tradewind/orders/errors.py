"""Errors about orders."""

from collections.abc import Sequence
from uuid import UUID

from tradewind import ids, money
from tradewind.errors import Conflict, Invalid, UpstreamFailed
from tradewind.platforms.failures import Reason, Rejected
from tradewind.platforms.model import SellerPreview, UnavailableLine


class InvalidTransition(Conflict):
    """The order's state does not allow this now.

    `current` is the state that stands in the way, `allowed` what you can do with the order now.
    After payment an order is not cancelled: ask for a refund instead.
    """

    code = "invalid_transition"
    title = "The order's state does not allow this"

    def __init__(self, current: str, wanted: str, allowed: Sequence[str]) -> None:
        can = ", ".join(allowed) or "nothing"
        super().__init__(
            f"The state {current} does not allow {wanted}. What you can do now: {can}.",
            current=current,
            allowed=list(allowed),
        )


class PriceChanged(Conflict):
    """The order would cost something else than `expected_total_cny`; nothing was ordered.

    `current_total_cny` is what it costs now. Send the order again with that amount, or without one.
    """

    code = "price_changed"
    title = "The price has changed"

    def __init__(self, expected_fen: int, current_fen: int) -> None:
        super().__init__(
            f"The order costs {money.text(current_fen)} now, not {money.text(expected_fen)}.",
            expected_total_cny=money.show(expected_fen),
            current_total_cny=money.show(current_fen),
        )


class ExternalIdTaken(Conflict):
    """Another order of yours has this `external_id`; `order` is its id."""

    code = "external_id_taken"
    title = "The external id is taken"

    def __init__(self, order_id: UUID) -> None:
        shown = ids.ORDER.show(order_id)
        super().__init__(f"Order {shown} has this external_id.", order=shown)


class ItemsUnavailable(Invalid):
    """Some of the items cannot be bought; `unavailable_items` says which and why.

    The reasons: `out_of_stock`, `below_minimum`, `mixed_batch`, `not_for_sale`, `not_found`.
    Nothing was ordered.
    """

    code = "items_unavailable"
    title = "Some items cannot be bought"

    def __init__(self, lines: Sequence[UnavailableLine], reason: Reason | None = None) -> None:
        """`reason` is that of the whole order, where the marketplace names no line."""
        items = [
            {"product_id": line.product_id, "sku_id": line.sku_id, "reason": line.reason}
            for line in lines
        ]
        if reason is not None:
            items.append({"product_id": None, "sku_id": None, "reason": reason})
        super().__init__("Some of the items cannot be bought.", unavailable_items=items)


class SeveralSellers(Invalid):
    """This platform takes the items of one seller per order; `sellers` shows the split.

    Each entry has the seller's `id`, its `items` and what they cost: send one order for each.
    `sellers` is empty if the platform does not say who sells what. A preview fails like this
    as well as an order.
    """

    code = "several_sellers"
    title = "The items are of several sellers"

    def __init__(self, sellers: Sequence[SellerPreview]) -> None:
        super().__init__(
            "The items are of several sellers; send one order for each.",
            sellers=[
                {
                    "id": seller.seller_id or None,
                    "items": [
                        {
                            "product_id": line.product_id,
                            "sku_id": line.sku_id,
                            "quantity": line.quantity,
                        }
                        for line in seller.lines
                    ],
                    "goods_amount_cny": money.show(seller.goods_fen),
                    "freight_cny": money.show(seller.freight_fen),
                    "discount_cny": money.show(seller.discount_fen),
                    "total_amount_cny": money.show(seller.total_fen),
                }
                for seller in sellers
            ],
        )


class OrderRejected(Invalid):
    """The platform rejects this order for good; `upstream` has its own code and message."""

    code = "order_refused"
    title = "The platform rejects this order"

    def __init__(self, rejected: Rejected) -> None:
        super().__init__(
            f"{rejected.platform} rejects this order: {rejected.message}",
            reason=rejected.reason,
            upstream=upstream(rejected),
        )


class CancelRejected(Conflict):
    """The platform does not cancel the order, though it is not paid."""

    code = "cancel_refused"
    title = "The platform does not cancel this order"

    def __init__(self, rejected: Rejected) -> None:
        super().__init__(
            f"{rejected.platform} does not cancel the order: {rejected.message}",
            upstream=upstream(rejected),
        )


class NotSimulated(Invalid):
    """Only orders on a simulated platform can be moved like this."""

    code = "not_simulated"
    title = "This platform is not simulated"

    def __init__(self, platform: str) -> None:
        super().__init__(f"{platform} is not simulated here: only its sellers move its orders.")


class SimulatorFailed(UpstreamFailed):
    """The simulated marketplace did not respond as expected."""

    code = "simulator_failed"
    title = "The simulated marketplace failed"

    def __init__(self) -> None:
        super().__init__("The simulated marketplace did not respond.", retry_after=1)


def upstream(rejected: Rejected) -> dict[str, str]:
    return {"platform": rejected.platform, "code": rejected.code, "message": rejected.message}
