"""Why a payment cannot be approved, beyond the state of its order."""

from datetime import datetime
from uuid import UUID

from tradewind import clock
from tradewind.accounts.model import SharedControl
from tradewind.auth.errors import AccountLocked
from tradewind.errors import Conflict


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
    """The same person may be behind the request and the approval: somebody else has to approve it.

    Within the last 24 hours, whoever requested this payment (or set the password of the account
    that did) also gave your account its role or its password, or unlocked it. Another approver can
    approve it now; you can from `until` on.
    """

    code = "approver_not_independent"
    title = "You are not independent of who requested this"

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
