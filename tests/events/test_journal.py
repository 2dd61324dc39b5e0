"""The journal: every event once, in an order without gaps, for thirty days."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from kit.postgres import Postgres
from kit.server import Server
from kit.system import System
from kit.webhook_system import emit

from tradewind import ids
from tradewind.events import journal, retention
from tradewind.events.catalogue import Event
from tradewind.events.read import Cursor, EventsExpired, JournalPage
from tradewind.events.read import read as read_journal
from tradewind.storage.partitions import make_ahead
from tradewind.storage.pool import Database
from tradewind.storage.transaction import transaction
from tradewind.web.paging import write_cursor

pytestmark = pytest.mark.xdist_group("system")

KEPT = timedelta(days=30)


async def page(db: Database, account_id: UUID, cursor: Cursor | None, **more: Any) -> JournalPage:
    wanted = {"order_id": None, "kinds": None, "limit": 2, "kept": KEPT, **more}
    return await read_journal(db, account_id, cursor, **wanted)


async def write(
    db: Database,
    account_id: UUID,
    name: str = "",
    *,
    ago: timedelta = timedelta(0),
    at: datetime | None = None,
) -> UUID:
    """An event whose body is only its name, on a day that is made if need be; its order."""
    if at is None:
        at = await db.fetchval("SELECT tradewind_now()") - ago
    assert at is not None
    await db.execute("SELECT make_partition('event', $1)", at.date())
    order_id = ids.new()
    async with transaction(db) as tx:
        event = Event(ids.new(), account_id, order_id, "order.updated", at, name.encode())
        journal.append(tx, [event])
    return order_id


async def test_a_quiet_reader_never_expires_and_a_late_one_is_told(
    db: Database, postgres: Postgres, database_url: str
) -> None:
    quiet, late = ids.new(), ids.new()
    await write(db, quiet, "one")
    order_id = await write(db, late, "one")
    at_start = Cursor(0, None)
    cursors = {account_id: (await page(db, account_id, None)).end for account_id in (quiet, late)}
    await write(db, late, "two")
    whole = await page(db, late, None)

    for _ in range(4):
        postgres.move_clock(database_url, timedelta(days=10))
        await make_ahead(db)
        await retention.drop_old(db, kept=KEPT)
    await write(db, quiet, "two")
    await write(db, late, "three")

    assert (await page(db, quiet, cursors[quiet])).bodies == [b"two"]
    for cursor in (cursors[late], at_start):
        for filters in ({}, {"order_id": order_id}, {"kinds": ["payment.updated"]}):
            with pytest.raises(EventsExpired) as caught:
                await page(db, late, cursor, **filters)
            assert caught.value.facts == {"dropped_through": 2}
    assert (await page(db, late, whole.end)).bodies == [b"three"]
    begun = await page(db, late, None)
    assert (begun.bodies, begun.first_number) == ([b"three"], 3)


async def test_who_reads_through_a_number_gets_nothing_that_was_added_later(db: Database) -> None:
    account_id = ids.new()
    for name in ("1", "2", "3"):
        await write(db, account_id, name)
    first = await page(db, account_id, None)
    for name in ("4", "5"):
        await write(db, account_id, name)

    for filters in ({}, {"kinds": ["order.updated"]}):
        rest = await page(db, account_id, first.end, through=first.through, **filters)
        at_end = await page(db, account_id, rest.end, through=first.through, **filters)

        assert (rest.bodies, rest.has_more, rest.end.number) == ([b"3"], False, 3)
        assert (at_end.bodies, at_end.has_more) == ([], False)
    assert (await page(db, account_id, rest.end)).bodies == [b"4", b"5"]


async def test_an_event_that_was_dropped_between_others_is_never_skipped(db: Database) -> None:
    """About midnight numbers and days can be in another order: 2 is of the day before 1 and 3."""
    account_id = ids.new()
    now: datetime = await db.fetchval("SELECT tradewind_now()")
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    midnight, second = today - timedelta(days=31), timedelta(seconds=1)
    for name, at in (("1", midnight), ("2", midnight - second), ("3", midnight + second)):
        await write(db, account_id, name, at=at)
    await write(db, account_id, "4")
    first = await page(db, account_id, Cursor(0, None), limit=1)
    until_dropped = await page(db, account_id, first.end, limit=1)

    await retention.drop_old(db, kept=KEPT)

    assert await db.fetchval("SELECT array_agg(number ORDER BY number) FROM event") == [1, 3, 4]
    for cursor in (Cursor(0, None), first.end):
        with pytest.raises(EventsExpired):
            await page(db, account_id, cursor)
    assert (await page(db, account_id, until_dropped.end)).bodies == [b"3", b"4"]


async def test_who_begins_without_a_cursor_begins_at_what_is_kept_and_can_go_on(
    db: Database, postgres: Postgres, database_url: str
) -> None:
    account_id = ids.new()
    ages = [KEPT + timedelta(hours=6), *[KEPT - timedelta(minutes=5)] * 3, timedelta(0)]
    for number, age in enumerate(ages):
        await write(db, account_id, str(number), ago=age)

    first = await page(db, account_id, None)
    postgres.move_clock(database_url, timedelta(hours=6))  # what it is after is no longer kept
    await retention.drop_old(db, kept=KEPT)
    second = await page(db, account_id, first.end)

    assert (first.bodies, first.has_more) == ([b"1", b"2"], True)
    assert (first.first_number, first.last_number) == (2, 3)
    assert (second.bodies, second.has_more) == ([b"3", b"4"], False)
    postgres.move_clock(database_url, timedelta(days=2))
    await retention.drop_old(db, kept=KEPT)
    with pytest.raises(EventsExpired):
        await page(db, account_id, first.end)
    assert (await page(db, account_id, second.end)).bodies == []


def test_an_account_without_events_has_a_cursor_that_misses_none(api: Server) -> None:
    buyer = api.person()

    empty = api.call("GET", "/v1/events", by=buyer).json()
    again = api.call("GET", f"/v1/events?after={empty['next_cursor']}", by=buyer).json()
    made = emit(api.database_url, buyer.uuid, 2)
    full = api.call("GET", f"/v1/events?after={empty['next_cursor']}", by=buyer).json()

    assert empty == again
    assert (empty["items"], empty["first_number"], empty["last_number"]) == ([], None, None)
    assert [item["id"] for item in full["items"]] == made
    assert (full["first_number"], full["last_number"], full["has_more"]) == (1, 2, False)


def test_a_cursor_of_before_events_had_numbers_is_refused_with_what_to_do(api: Server) -> None:
    buyer = api.person()
    cursor = write_cursor("events", (1234, UUID(int=5), datetime(2026, 11, 1, tzinfo=UTC)))

    answer = api.call("GET", f"/v1/events?after={cursor}", by=buyer)

    assert (answer.status_code, answer.json()["code"]) == (400, "outdated_cursor")
    assert answer.json()["detail"] == (
        "The cursor was made by an earlier version; begin without a cursor, and skip events whose"
        " id you have seen."
    )


def test_the_journal_is_read_oldest_first_page_by_page(system: System) -> None:
    order = system.paid()
    whole = system.events()

    pages: list[Any] = []
    cursor = ""
    while not pages or pages[-1]["has_more"]:
        pages.append(system.ok("GET", f"/v1/events?limit=2{cursor}"))
        cursor = f"&after={pages[-1]['next_cursor']}"

    assert [item for page in pages for item in page["items"]] == whole
    assert [len(page["items"]) for page in pages] == [2, 2, 2]
    numbers = [(page["first_number"], page["last_number"]) for page in pages]
    assert numbers == [(1, 2), (3, 4), (5, 6)]
    times = [row["created_at"] for row in whole]
    assert times == sorted(times)
    assert {row["data"]["order"]["id"] for row in whole} == {order["id"]}
    assert system.ok("GET", f"/v1/events?{cursor}")["items"] == []
    system.request_payment(system.order()["id"])
    news = system.ok("GET", f"/v1/events?{cursor}")["items"]
    assert [item["event"] for item in news] == ["order.updated", "payment.updated"]


def test_the_journal_is_narrowed_by_order_and_by_kind(system: System) -> None:
    first, second = system.order(), system.order()
    system.request_payment(second["id"])

    def kinds(query: str) -> list[tuple[str, str]]:
        items = system.ok("GET", f"/v1/events?{query}")["items"]
        return [(item["event"], item["data"]["order"]["id"]) for item in items]

    order, payment = "order.updated", "payment.updated"
    narrowed = system.ok("GET", "/v1/events?event=payment.updated")
    assert (narrowed["first_number"], narrowed["last_number"]) == (3, 3)
    only_first = system.ok("GET", f"/v1/events?order={first['id']}")
    assert (only_first["last_number"], only_first["has_more"]) == (1, False)
    assert system.ok("GET", f"/v1/events?after={only_first['next_cursor']}")["items"] == []
    assert kinds(f"order={first['id']}") == [(order, first["id"])]
    assert kinds("event=payment.updated") == [(payment, second["id"])]
    assert kinds(f"order={second['id']}&event=order.updated") == [(order, second["id"])]
    assert kinds("event=order.updated,payment.updated") == [
        (order, first["id"]),
        (order, second["id"]),
        (payment, second["id"]),
    ]


def test_one_event_is_the_same_bytes_as_in_the_journal(system: System) -> None:
    system.order()
    (event,) = system.events()

    alone = system.call("GET", f"/v1/events/{event['id']}")
    page = system.call("GET", "/v1/events")

    assert (alone.status_code, alone.json()) == (200, event)
    assert alone.content in page.content
    event_id = ids.EVENT.read(event["id"])
    assert isinstance(event_id, UUID)
    stored = system.api.fetch("SELECT body FROM event WHERE id = $1", event_id)
    assert alone.content == stored[0]["body"]


@pytest.mark.parametrize(
    ("query", "status", "code"),
    [
        ("after=nonsense", 400, "malformed_cursor"),
        ("event=order.lost", 422, "validation_failed"),
        ("order=ORD1", 422, "validation_failed"),
        ("limit=101", 422, "validation_failed"),
        ("cursor=x", 422, "validation_failed"),
    ],
)
def test_what_nobody_can_read_is_refused(
    system: System, query: str, status: int, code: str
) -> None:
    system.refused("GET", f"/v1/events?{query}", status, code)
