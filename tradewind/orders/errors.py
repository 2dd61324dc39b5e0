"""What can be refused about orders and their money."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from tradewind import ids, money
from tradewind.errors import Conflict, Invalid, UpstreamFailed
from tradewind.platforms.failures import Rejected


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


class AmountChanged(Conflict):
    """The order costs something else than the amount that you named; nothing was changed."""

    code = "amount_changed"
    title = "The amount has changed"

    def __init__(self, seen_fen: int, current_fen: int) -> None:
        super().__init__(
            f"The amount is {money.text(current_fen)}, not {money.text(seen_fen)}.",
            amount_cny=money.show(seen_fen),
            current_amount_cny=money.show(current_fen),
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

    def __init__(self, items: Sequence[Any]) -> None:
        super().__init__("Some of the items cannot be bought.", unavailable_items=list(items))


class SeveralSellers(Invalid):
    """This platform takes the items of one seller per order; `sellers` shows the split.

    Each entry has the seller's `id`, its `items` and what they cost: send one order for each.
    `sellers` is empty if the platform does not say who sells what. A preview is refused like this
    as well as an order.
    """

    code = "several_sellers"
    title = "The items are of several sellers"

    def __init__(self, sellers: Sequence[Any]) -> None:
        super().__init__(
            "The items are of several sellers; send one order for each.", sellers=list(sellers)
        )


class OrderRefused(Invalid):
    """The platform refuses such an order, and would always; `upstream` has its own words."""

    code = "order_refused"
    title = "The platform refuses this order"

    def __init__(self, never: Rejected) -> None:
        super().__init__(
            f"{never.platform} refuses this order: {never.message}",
            reason=never.reason,
            upstream=_upstream(never),
        )


class CancelRefused(Conflict):
    """The platform refuses to cancel the order, though it is not paid."""

    code = "cancel_refused"
    title = "The platform refuses to cancel"

    def __init__(self, never: Rejected) -> None:
        super().__init__(
            f"{never.platform} refuses to cancel the order: {never.message}",
            upstream=_upstream(never),
        )


class OwnRequest(Conflict):
    """Nobody decides about their own payment request: another approver has to."""

    code = "own_request"
    title = "This is your own request"

    def __init__(self) -> None:
        super().__init__("You asked for this payment yourself; somebody else has to decide.")


class RefundTooLarge(Invalid):
    """No more can be asked back than was paid and is not yet refunded or asked for.

    `left_cny` is how much that is.
    """

    code = "refund_too_large"
    title = "The refund is larger than what is left"

    def __init__(self, asked_fen: int, left_fen: int) -> None:
        if left_fen:
            detail = (
                f"A refund of {money.text(asked_fen)} is more than what is left to refund, "
                f"{money.text(left_fen)}."
            )
        else:
            detail = "Nothing is left to refund: all of it was refunded or asked for already."
        super().__init__(detail, left_cny=money.show(left_fen))


class RefundRefused(Invalid):
    """The platform refuses this refund; `upstream` has its own words. Nothing was asked for."""

    code = "refund_refused"
    title = "The platform refuses this refund"

    def __init__(self, never: Rejected) -> None:
        super().__init__(
            f"{never.platform} refuses this refund: {never.message}", upstream=_upstream(never)
        )


class NotSimulated(Invalid):
    """Only orders on a simulated platform can be moved by hand."""

    code = "not_simulated"
    title = "This platform is real"

    def __init__(self, platform: str) -> None:
        super().__init__(f"{platform} is real here: nobody but its people moves its orders.")


class SimulatorFailed(UpstreamFailed):
    """The simulated marketplace did not answer as it should."""

    code = "simulator_failed"
    title = "The simulated marketplace failed"

    def __init__(self) -> None:
        super().__init__("The simulated marketplace did not answer.", retry_after=1)


def _upstream(never: Rejected) -> dict[str, str]:
    return {"platform": never.platform, "code": never.code, "message": never.message}
