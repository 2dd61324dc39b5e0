"""The statement of the account page: the usage of the plan's limits."""

from dataclasses import dataclass
from uuid import UUID

from tradewind.storage.pool import Database


@dataclass(frozen=True, slots=True)
class PlanUsage:
    """What an account uses of its plan.

    `rate_debt` is in microseconds, as budgets are: the time until the whole burst is available.
    """

    api_keys: int
    webhooks: int
    rate_debt: int


async def find_plan_usage(db: Database, account_id: UUID) -> PlanUsage:
    [row] = await db.fetch(
        """
        SELECT (SELECT count(*)
                  FROM api_key
                 WHERE account_id = $1 AND revoked_at IS NULL) AS api_keys,
               (SELECT count(*)
                  FROM webhook_subscription
                 WHERE account_id = $1) AS webhooks,
               coalesce((SELECT greatest(0, b.spent_until
                                         - (extract(epoch FROM tradewind_now()) * 1000000)::bigint)
                           FROM rate_budget AS b
                          WHERE b.subject = 'account:' || $1::uuid), 0)::bigint AS rate_debt
        """,
        account_id,
    )
    return PlanUsage(**row)
