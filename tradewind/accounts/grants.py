"""Grants: who gave an account access or power, and when, for four eyes to look back on."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple
from uuid import UUID

from tradewind.accounts import sql_grants
from tradewind.accounts.model import Role
from tradewind.audit.model import Actor
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


class SharedControl(NamedTuple):
    """An account that recently set up both an approver and a requester, and until when it counts.

    `controller` may be the requester, or an approver who is new and set up the requester.
    """

    requester: UUID
    controller: UUID
    email: str
    until: datetime


async def record_grant(tx: Tx, by: Actor, account_id: UUID, kind: Grant) -> None:
    """Write down that `by` gave this to the account. No account is behind the command line."""
    await record_grant_by(tx, by.account_id, account_id, kind)


async def record_grant_by(tx: Tx, by: UUID | None, account_id: UUID, kind: Grant) -> None:
    """The same by the account's id. Whoever gives themselves anything but a role gains nothing."""
    if by is not None and (by != account_id or kind is Grant.ROLE):
        await sql_grants.insert_grant(tx, account_id, by, kind)


async def shared_control(
    db: Database | Tx, approver: UUID, requesters: Sequence[UUID]
) -> Sequence[SharedControl]:
    """Those of the requesters whom the approver is not independent of."""
    rows = await sql_grants.find_shared_control(db, approver, requesters, window=WINDOW)
    return [SharedControl(*row) for row in rows]
