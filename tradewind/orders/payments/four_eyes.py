"""Four eyes: checks that the approver of a payment is independent of its requester."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from tradewind.accounts import grants
from tradewind.accounts import sql as account_sql
from tradewind.accounts.sql import SharedAccounts
from tradewind.auth.errors import AccountLocked
from tradewind.auth.model import Role
from tradewind.errors import InsufficientPermissions
from tradewind.orders.model import Order
from tradewind.orders.payments.errors import ApproverNotIndependent, PaymentAccountLocked
from tradewind.orders.payments.model import PaymentRequest
from tradewind.storage.pool import Database
from tradewind.storage.transaction import Tx


def is_requester(request: PaymentRequest, account_id: UUID) -> bool:
    """Whether this account requested the payment. It may then neither approve nor reject it."""
    return request.requested_by.id == account_id


async def check(tx: Tx, order: Order, request: PaymentRequest, approver: UUID) -> None:
    """Raise the error of an approval that is not allowed, in the transaction that makes it.

    The lock of the account that the order belongs to, and the lock and roles of the approver,
    cannot change before the transaction ends.
    """
    owner, requester = order.account_id, request.requested_by.id
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


def relied_on(order: Order, approver: UUID, *, checked: bool) -> SharedAccounts:
    """The accounts that must not be locked when an approval is saved.

    Unless `check` was called in the same transaction, nobody may have given the approver access or
    power lately: without that there is no conflict. Mostly it is so, and saves a statement.
    """
    accounts = list(dict.fromkeys([order.account_id, approver]))
    return SharedAccounts(accounts, approver, None if checked else grants.WINDOW)


async def conflicts(
    db: Database | Tx, approver: UUID, requesters: Sequence[UUID]
) -> Mapping[UUID, ApproverNotIndependent]:
    """Return the requesters whose payments this approver must not approve now, and why."""
    shared = await grants.shared_control(db, approver, list(set(requesters)))
    return {control.requester: ApproverNotIndependent(control, approver) for control in shared}
