"""The errors of the cart."""

from tradewind.errors import Conflict, Invalid, ServiceUnavailable


class CartFull(Conflict):
    """A cart has 200 lines at the most. Order or remove some first."""

    code = "cart_full"
    title = "The cart is full"

    def __init__(self, most: int) -> None:
        super().__init__(f"A cart has {most} lines at the most.", limit=most)


class CartEmpty(Invalid):
    """There is nothing in the cart to preview or to order."""

    code = "cart_empty"
    title = "The cart is empty"
    detail = "The cart is empty. Add something with POST /v1/cart/items."


class CartChanged(Conflict):
    """Lines were changed, removed or ordered since the request began; the group was not ordered.

    Read the cart, and order again with a new Idempotency-Key.
    """

    code = "cart_changed"
    title = "The cart has changed"
    detail = "Some of these lines were changed, removed or ordered meanwhile. Nothing was ordered."


class CheckoutUnfinished(ServiceUnavailable):
    """The groups before this one took all the time that a request has.

    Send the request again with the same Idempotency-Key: it orders what is missing, and nothing
    twice.
    """

    code = "checkout_unfinished"
    title = "Not ordered yet"

    def __init__(self) -> None:
        super().__init__(
            "There was no time left for this group. Send the request again with the same "
            "Idempotency-Key.",
            retry_after=1,
        )
