"""`tradewind restored`: makes a database that was restored from a backup safe to start on."""

from dataclasses import dataclass

from tradewind.audit.model import COMMAND_LINE
from tradewind.cli.context import Context, run
from tradewind.cli.output import Json, write
from tradewind.delivery import hold, sql_hold
from tradewind.errors import TradewindError
from tradewind.events import sql as journal
from tradewind.orders import sql_leases

_REASON = "The database was restored from a backup."


class JournalIncomplete(TradewindError):
    """The numbers of events have gaps, so the backup is not of one moment."""


@dataclass(frozen=True, slots=True)
class Restored:
    """What the database has, and what waits for a decision or a look-up."""

    accounts_with_events: int
    events: int
    deliveries_held: int
    orders_to_look_up: int


def prepare(*, as_json: Json = False) -> None:
    """Prepare a restored database: check the journal, hold deliveries, have orders looked up.

    Run it before the API and the workers start on that database. Twice is not wrong.
    """
    write(run(_prepare), as_json=as_json)


async def _prepare(context: Context) -> Restored:
    db = context.db
    await hold.hold(db, COMMAND_LINE, _REASON)
    orders = await sql_leases.mark_all_sent(db)
    check = await journal.check_numbers(db)
    if check.accounts_with_gaps:
        raise JournalIncomplete(
            f"Deliveries are held. Events are missing in the journals of {check.accounts_with_gaps}"
            f" of {check.accounts} accounts: restore from another backup."
        )
    queue = await sql_hold.count_queue(db)
    return Restored(check.accounts, check.events, queue.deliveries, orders)
