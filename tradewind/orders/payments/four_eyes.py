"""Four eyes: checks that the approver of a payment is independent of its requester."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from tradewind.accounts import grants
from tradewind.accounts import sql as account_sql
from tradewind.auth.errors import AccountLocked
from tradewind.auth.model import Role
from tradewind.errors import InsufficientPermissions
from tradewind.orders.payments.errors import ApproverNotIndependent, PaymentAccountLocked
from tradewind.orders.payments.model import PaymentRequest
from tradewind.storage.pool import Database
from tradewind.storage.transaction import Tx


def is_requester(request: PaymentRequest, account_id: UUID) -> bool:
    """Whether this account requested the payment. It may then neither approve nor reject it."""
    return request.requested_by.id == account_id


async def check(tx: Tx, *, owner: UUID, requester: UUID, approver: UUID) -> None:
    """Raise the error of an approval that is not allowed, in the transaction that makes it.

    `owner` is the account that the order belongs to. Its lock, and the lock and roles of the
    approver, cannot change before the transaction ends.
    """
    accounts = await account_sql.share_accounts(tx, [owner, approver])
    by = accounts.get(approver)
    if by is not None and by.locked_at is not None:
        raise AccountLocked.by_operator()
    if by is None or Role.APPROVER not in by.roles:
        raise InsufficientPermissions.role(Role.APPROVER)
    if accounts[owner].locked_at is not None:
        raise PaymentAccountLocked
    conflict = (await conflicts(tx, approver, [requester])).get(requester)
    if conflict is not None:
        raise conflict


async def conflicts(
    db: Database | Tx, approver: UUID, requesters: Sequence[UUID]
) -> Mapping[UUID, ApproverNotIndependent]:
    """Return the requesters whose payments this approver must not approve now, and why."""
    shared = await grants.shared_control(db, approver, list(set(requesters)))
    return {control.requester: ApproverNotIndependent(control, approver) for control in shared}
