"""Grants: who gave an account access or power, and when; the four-eyes check reads them."""

from collections.abc import Sequence
from datetime import timedelta
from enum import StrEnum
from uuid import UUID

from tradewind.accounts import sql_grants
from tradewind.accounts.model import SharedControl
from tradewind.audit.model import Actor
from tradewind.auth.model import Role
from tradewind.storage.pool import Database
from tradewind.storage.transaction import Tx

# How long after a grant two accounts are not independent of each other.
WINDOW = timedelta(hours=24)
# Roles by which an account can approve, or make others approve.
POWERS = frozenset({Role.APPROVER, Role.OPERATOR})


class Grant(StrEnum):
    """What was given: a role of `POWERS`, a password, a link to choose one, or an unlock."""

    ROLE = "role"
    PASSWORD = "password"  # noqa: S105 - a kind of grant, not a password
    PASSWORD_LINK = "password_link"  # noqa: S105
    UNLOCK = "unlock"


async def record_grant(tx: Tx, by: Actor, account_id: UUID, kind: Grant) -> None:
    """Record that `by` gave this to the account. The command line has no account."""
    await record_grant_by(tx, by.account_id, account_id, kind)


async def record_grant_by(tx: Tx, by: UUID | None, account_id: UUID, kind: Grant) -> None:
    """The same with the account's id. Only a role that somebody gives themselves counts."""
    if by is not None and (by != account_id or kind is Grant.ROLE):
        await sql_grants.insert_grant(tx, account_id, by, kind)


async def shared_control(
    db: Database | Tx, approver: UUID, requesters: Sequence[UUID]
) -> Sequence[SharedControl]:
    """The requesters that the approver is not independent of."""
    return await sql_grants.find_shared_control(db, approver, requesters, window=WINDOW)
