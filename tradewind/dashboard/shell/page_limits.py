"""What pages may cost: a session has so many, and an account so many that ask a marketplace."""

from tradewind.storage.pool import Database
from tradewind.web import limits
from tradewind.web.caller import Caller
from tradewind.web.limits import Rate, RateLimited

# More than people and their open pages ask for. It is that of a session, so that whoever has
# stolen another one cannot keep its owner from ending it.
_PAGES = Rate(600, 300)


async def spend_page(db: Database, caller: Caller) -> None:
    """For a page or a form, whatever it is: RateLimited when there were too many."""
    told = f"A session opens {_PAGES.per_minute} pages a minute at the most: wait a moment."
    await _spend(db, f"pages:{caller.session_id}", _PAGES, told)


async def spend_request(db: Database, caller: Caller) -> None:
    """For what asks a marketplace: as often as over the API, and not out of the API's budget.

    The marketplace's own budget is shared by all accounts.
    """
    await _spend(db, f"browsing:{caller.account_id}", caller.budget.rate)


async def _spend(db: Database, subject: str, rate: Rate, told: str | None = None) -> None:
    granted, budget = await limits.take(db, subject, rate)
    if not granted:
        raise RateLimited(budget, told)
