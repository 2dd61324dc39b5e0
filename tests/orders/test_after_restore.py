"""After a restore: an order that the database no longer knows to be created is looked up first."""

from datetime import UTC, datetime, timedelta

from kit import invariants
from kit.system import System

from tradewind import ids
from tradewind.orders import sql_leases


def test_an_order_that_was_created_after_the_backup_is_found_and_not_created_again(
    quiet: System,
) -> None:
    order = quiet.order()
    api = quiet.api
    # As the backup has it: a first try was refused, and the second one comes after the backup.
    quiet.force(
        order["id"],
        status="creating",
        work="create",
        order_ids=[],
        parts="[]",
        create_sent_at=None,
        next_sync_at=datetime.now(UTC) + timedelta(days=1),
    )

    marked = api.launcher.postgres.on_database(api.database_url, sql_leases.mark_all_sent)

    quiet.due_now(order["id"])
    stored = quiet.until_stored(order["id"], lambda row: row["status"] != "creating")
    facts = invariants.read(api, quiet.market, only=[order["id"]])
    assert marked == 1
    assert stored["order_ids"] == [order["order_id"]]
    assert len(facts.there[ids.ORDER.show(stored["id"])]) == 1
