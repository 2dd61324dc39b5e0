"""The journal: every event once, in an order that a cursor can prove complete, for thirty days."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import asyncpg
import pytest
from kit.postgres import Postgres
from kit.server import Person, Server
from kit.store import Store

from tradewind import ids
from tradewind.events.read import EventsExpired, Place, Stretch
from tradewind.events.read import read as read_journal
from tradewind.storage.pool import Database

pytestmark = pytest.mark.xdist_group("store")

_INSERT = """
    INSERT INTO event (id, account_id, purchase_order_id, type, body, created_at)
    VALUES ($1, $2, $1, 'order.updated', $3, tradewind_now())
"""

_INSERT_AT = """
    INSERT INTO event (id, account_id, purchase_order_id, type, body, created_at)
    VALUES ($1, $2, $1, 'order.updated', $3, $4)
"""
KEPT = timedelta(days=30)


async def write(connection: Any, buyer: Person, name: str) -> None:
    """An event of the buyer's, whose body is only its name."""
    await connection.execute(_INSERT, ids.new(), buyer.uuid, f'{{"id":"{name}"}}'.encode())


def read(api: Server, buyer: Person, query: str = "") -> Any:
    answer = api.call("GET", f"/v1/events?{query}", by=buyer)
    assert answer.status_code == 200, answer.text
    return answer.json()


def names(page: Any) -> list[str]:
    return [one["id"] for one in page["items"]]


async def test_an_event_that_commits_late_is_not_skipped(api: Server) -> None:
    buyer = api.person()
    slow = await asyncpg.connect(api.database_url)
    quick = await asyncpg.connect(api.database_url)
    try:
        began = slow.transaction()
        await began.start()
        await write(slow, buyer, "begun first")
        await write(quick, buyer, "committed first")

        before = read(api, buyer)
        await began.commit()
        after = read(api, buyer, f"after={before['next_cursor']}")
        last = read(api, buyer, f"after={after['next_cursor']}")
    finally:
        await slow.close()
        await quick.close()

    assert names(before) == []
    assert names(after) == ["begun first", "committed first"]
    assert names(last) == []
    assert names(read(api, buyer)) == ["begun first", "committed first"]


async def test_an_event_that_is_taken_back_was_never_there(api: Server) -> None:
    buyer = api.person()
    connection = await asyncpg.connect(api.database_url)
    try:
        began = connection.transaction()
        await began.start()
        await write(connection, buyer, "never")
        await began.rollback()
        await write(connection, buyer, "ever")
    finally:
        await connection.close()

    assert names(read(api, buyer)) == ["ever"]


async def test_a_cursor_lives_as_long_as_it_is_used_and_expires_with_the_journal(
    own_api: Server,
) -> None:
    buyer = own_api.person()
    connection = await asyncpg.connect(own_api.database_url)
    try:
        await write(connection, buyer, "one")
    finally:
        await connection.close()
    old = read(own_api, buyer)["next_cursor"]

    own_api.move_clock(timedelta(days=20))
    used = read(own_api, buyer, f"after={old}")["next_cursor"]
    own_api.move_clock(timedelta(days=20))

    assert names(read(own_api, buyer, f"after={used}")) == []
    answer = own_api.call("GET", f"/v1/events?after={old}", by=buyer)
    assert (answer.status_code, answer.json()["code"]) == (410, "events_expired")
    assert answer.json()["kept_since"].endswith("Z")
    assert read(own_api, buyer)["next_cursor"]


async def test_who_begins_without_a_cursor_begins_at_what_is_kept_and_can_go_on(
    db: Database, postgres: Postgres, database_url: str
) -> None:
    account_id = ids.new()
    now: datetime = await db.fetchval("SELECT tradewind_now()")
    ages = [KEPT + timedelta(hours=6), *[KEPT - timedelta(minutes=5)] * 3, timedelta(0)]
    for day in sorted({(now - age).date() for age in ages} - {now.date()}):
        await db.execute(
            f"CREATE TABLE event_{day:%Y%m%d} PARTITION OF event"
            f" FOR VALUES FROM ('{day} 00:00+00') TO ('{day + timedelta(days=1)} 00:00+00')"
        )
    for number, age in enumerate(ages):
        await db.execute(_INSERT_AT, ids.new(), account_id, str(number).encode(), now - age)

    async def page(after: Place | None) -> Stretch:
        return await read_journal(
            db, account_id, after, order_id=None, kinds=None, limit=2, kept=KEPT
        )

    first = await page(None)
    postgres.move_clock(database_url, timedelta(hours=6))  # what it is after is no longer kept
    second = await page(first.end)

    assert (first.bodies, first.more) == ([b"1", b"2"], True)
    assert (second.bodies, second.more) == ([b"3", b"4"], False)
    postgres.move_clock(database_url, timedelta(hours=12))
    with pytest.raises(EventsExpired):
        await page(first.end)
    assert (await page(second.end)).bodies == []


def test_the_journal_is_read_oldest_first_page_by_page(store: Store) -> None:
    order = store.paid()
    whole = store.events()

    pages: list[Any] = []
    cursor = ""
    while not pages or pages[-1]["has_more"]:
        pages.append(store.ok("GET", f"/v1/events?limit=2{cursor}"))
        cursor = f"&after={pages[-1]['next_cursor']}"

    assert [one for page in pages for one in page["items"]] == whole
    assert [len(page["items"]) for page in pages] == [2, 2, 2]
    times = [one["created_at"] for one in whole]
    assert times == sorted(times)
    assert {one["data"]["order"]["id"] for one in whole} == {order["id"]}
    assert store.ok("GET", f"/v1/events?{cursor}")["items"] == []
    store.request_payment(store.order()["id"])
    news = store.ok("GET", f"/v1/events?{cursor}")["items"]
    assert [one["event"] for one in news] == ["order.updated", "payment.updated"]


def test_the_journal_is_narrowed_by_order_and_by_kind(store: Store) -> None:
    first, second = store.order(), store.order()
    store.request_payment(second["id"])

    def kinds(query: str) -> list[tuple[str, str]]:
        found = store.ok("GET", f"/v1/events?{query}")["items"]
        return [(one["event"], one["data"]["order"]["id"]) for one in found]

    order, payment = "order.updated", "payment.updated"
    assert kinds(f"order={first['id']}") == [(order, first["id"])]
    assert kinds("event=payment.updated") == [(payment, second["id"])]
    assert kinds(f"order={second['id']}&event=order.updated") == [(order, second["id"])]
    assert kinds("event=order.updated,payment.updated") == [
        (order, first["id"]),
        (order, second["id"]),
        (payment, second["id"]),
    ]


def test_one_event_is_the_same_bytes_as_in_the_journal(store: Store) -> None:
    store.order()
    (event,) = store.events()

    alone = store.call("GET", f"/v1/events/{event['id']}")
    page = store.call("GET", "/v1/events")

    assert (alone.status_code, alone.json()) == (200, event)
    assert alone.content in page.content
    event_id = ids.EVENT.read(event["id"])
    assert isinstance(event_id, UUID)
    stored = store.api.fetch("SELECT body FROM event WHERE id = $1", event_id)
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
def test_what_nobody_can_read_is_refused(store: Store, query: str, status: int, code: str) -> None:
    store.refused("GET", f"/v1/events?{query}", status, code)
