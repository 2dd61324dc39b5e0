"""Errors about payments and refunds."""

from datetime import datetime
from uuid import UUID

from tradewind import clock, money
from tradewind.accounts.model import SharedControl
from tradewind.auth.errors import AccountLocked
from tradewind.errors import Conflict, Invalid
from tradewind.orders.errors import upstream
from tradewind.platforms.failures import Rejected


class AmountChanged(Conflict):
    """The order costs another amount than the one that you sent; nothing was changed."""

    code = "amount_changed"
    title = "The amount has changed"

    def __init__(self, seen_fen: int, current_fen: int) -> None:
        super().__init__(
            f"The amount is {money.text(current_fen)}, not {money.text(seen_fen)}.",
            amount_cny=money.show(seen_fen),
            current_amount_cny=money.show(current_fen),
        )


class OwnRequest(Conflict):
    """You cannot approve or reject your own payment request; another approver can."""

    code = "own_request"
    title = "This is your own request"
    detail = "You requested this payment yourself; another approver has to approve or reject it."


class RefundTooLarge(Invalid):
    """No more can be refunded than was paid and is not yet refunded or requested.

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
            detail = "Nothing is left to refund: all of it was refunded or requested already."
        super().__init__(detail, left_cny=money.show(left_fen))


class RefundRejected(Invalid):
    """The platform rejects this refund; `upstream` has its own code. Nothing was requested."""

    code = "refund_refused"
    title = "The platform rejects this refund"

    def __init__(self, rejected: Rejected) -> None:
        super().__init__(
            f"{rejected.platform} rejects this refund: {rejected.message}",
            upstream=upstream(rejected),
        )


class PaymentAccountLocked(Conflict, AccountLocked):
    """An operator has locked the account that the order belongs to: nothing of it is approved.

    It shares its code, and so its page, with the 403 that the locked account itself gets.
    """

    status = 409

    def __init__(self) -> None:
        super().__init__(
            "The account of this order is locked: no payment of it can be approved until an "
            "operator unlocks it."
        )


class ApproverNotIndependent(Conflict):
    """The same person may be behind the request and the approval: another approver has to act.

    Within the last 24 hours, the requester of this payment (or whoever set the password of the
    requester's account) also gave your account its role or its password, or unlocked it. Another
    approver can approve it now; you can from `until` on.
    """

    code = "approver_not_independent"
    title = "You are not independent of the requester"

    def __init__(self, shared: SharedControl, approver: UUID) -> None:
        super().__init__(
            f"{_reason(shared, approver)} within the last 24 hours. Another approver can approve "
            f"it now, or you from {clock.show(shared.until)} on.",
            until=clock.show(shared.until),
        )
        self.until: datetime = shared.until


def _reason(shared: SharedControl, approver: UUID) -> str:
    if shared.controller == shared.requester:
        return f"{shared.email} requested this payment, and set up your account's access"
    if shared.controller == approver:
        return (
            "Your account got its own access or role, and set up the access of the account that "
            "requested this payment,"
        )
    return (
        f"{shared.email} set up your account's access and that of the account that requested this "
        "payment"
    )
