"""A job at a marketplace wakes the worker's loop of that marketplace, and no other."""

from kit.orders import a_part
from kit.platform import approved

from tradewind.orders.advance import submit_topic
from tradewind.storage.pool import Database


async def test_an_approved_payment_wakes_the_loop_of_its_marketplace(db: Database) -> None:
    with (
        db.wakeups.waiting(submit_topic("sandbox")) as its_own,
        db.wakeups.waiting(submit_topic("taobao")) as another,
    ):
        for event in (its_own, another):  # set once the process listens
            await event.wait()
            event.clear()
        await approved(db, a_part("A"))

        assert its_own.is_set()
        assert not another.is_set()
