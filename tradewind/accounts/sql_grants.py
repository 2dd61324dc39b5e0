"""The statements about grants: who gave an account access or power."""

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from tradewind.accounts.model import SharedControl
from tradewind.storage.pool import Database
from tradewind.storage.transaction import Tx


async def insert_grant(tx: Tx, account_id: UUID, granted_by: UUID, kind: str) -> None:
    await tx.execute(
        """
        INSERT INTO account_grant (account_id, granted_by, kind, granted_at)
        VALUES ($1, $2, $3, tradewind_now())
        """,
        account_id,
        granted_by,
        kind,
    )


async def find_shared_control(
    db: Database | Tx, approver: UUID, requesters: Sequence[UUID], *, window: timedelta
) -> list[SharedControl]:
    """For each requester at most one account that controls both sides, and until when.

    `makers` are all accounts that within the window gave the approver a role, a password, a link
    or an unlock, and all that did so to a maker: one operator may make another, who makes the
    approver. If there are any, the approver is one as well: what its account does may be done by
    them. `requested` are the requesters, and all that within the window could choose the password
    of one. A chain ends with its first grant that leaves the window.

    The statement is planned once: the sub-select hides the number of ids (see `events/sql.py`).
    """
    rows = await db.fetch(
        """
        WITH RECURSIVE recent AS MATERIALIZED (
            SELECT account_id, granted_by, kind IN ('password', 'password_link') AS to_sign_in,
                   max(granted_at) + $3::interval AS until
              FROM account_grant
             WHERE granted_at > tradewind_now() - $3::interval
             GROUP BY 1, 2, 3
        ),
        makers (id, until) AS (
            SELECT maker.id, recent.until
              FROM recent
             CROSS JOIN LATERAL (VALUES (recent.granted_by), (recent.account_id)) AS maker (id)
             WHERE recent.account_id = $1
            UNION
            SELECT recent.granted_by, least(makers.until, recent.until)
              FROM makers
              JOIN recent ON recent.account_id = makers.id
        ),
        requested (requester, id, until) AS (
            SELECT requester, requester, 'infinity'::timestamptz
              FROM unnest((SELECT $2::uuid[])) AS asked (requester)
            UNION
            SELECT requested.requester, recent.granted_by, least(requested.until, recent.until)
              FROM requested
              JOIN recent ON recent.account_id = requested.id
             WHERE recent.to_sign_in
        )
        SELECT DISTINCT ON (requested.requester)
               requested.requester, account.id, account.email,
               least(makers.until, requested.until) AS until
          FROM requested
          JOIN makers USING (id)
          JOIN account USING (id)
         WHERE requested.requester <> $1
         ORDER BY requested.requester, least(makers.until, requested.until) DESC
        """,
        approver,
        requesters,
        window,
    )
    return [SharedControl(*row) for row in rows]
