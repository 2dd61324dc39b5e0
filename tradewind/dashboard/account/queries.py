"""The statements of the account page: what its plan allows, and what is used of it."""

from uuid import UUID

import asyncpg

from tradewind.storage.pool import Database


async def find_use(db: Database, account_id: UUID) -> asyncpg.Record | None:
    """How many keys and webhooks an account has, and how much of its rate budget is owed.

    `debt` is in microseconds, as budgets are counted: the time until all of it is back.
    """
    return await db.fetchrow(
        """
        SELECT (SELECT count(*)
                  FROM api_key
                 WHERE account_id = $1 AND revoked_at IS NULL) AS keys,
               (SELECT count(*)
                  FROM webhook_subscription
                 WHERE account_id = $1) AS webhooks,
               coalesce((SELECT greatest(0, b.spent_until
                                         - (extract(epoch FROM tradewind_now()) * 1000000)::bigint)
                           FROM rate_budget AS b
                          WHERE b.subject = 'account:' || $1::uuid), 0)::bigint AS debt
        """,
        account_id,
    )
