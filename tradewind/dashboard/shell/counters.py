"""The numbers beside links of the sidebar: what waits for the viewer, and the cart."""

from collections.abc import Mapping

from tradewind.auth.model import Role
from tradewind.cart import sql as cart_sql
from tradewind.dashboard.shell import queries
from tradewind.storage.pool import Database
from tradewind.web.caller import Caller

# The sidebar shows no more than 99.
_MOST = 100


async def sidebar_counts(db: Database, caller: Caller) -> Mapping[str, int]:
    """The number of things that wait for the caller, by the path of their page."""
    counts: dict[str, int] = {}
    if Role.APPROVER in caller.roles:
        counts["/approvals"] = await queries.count_approvable_payments(
            db, caller.account_id, most=_MOST
        )
    if Role.BUYER in caller.roles:
        counts["/cart"] = await cart_sql.count_lines(db, caller.account_id)
    return counts
