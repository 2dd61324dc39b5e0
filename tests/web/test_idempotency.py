"""Idempotency keys: one effect, one answer, however often and however at once it is asked."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace as altered
from datetime import timedelta
from time import monotonic
from uuid import UUID

import pytest
from kit.postgres import Postgres

from tradewind import ids
from tradewind.storage.pool import Database
from tradewind.storage.transaction import Tx, transaction
from tradewind.web import idempotency, sql
from tradewind.web.idempotency import (
    PENDING,
    IdempotencyKey,
    IdempotencyKeyMalformed,
    IdempotencyKeyMissing,
    IdempotencyKeyReused,
    Replay,
    RequestInFlight,
    fingerprint,
    read_key,
)
from tradewind.web.inputs import Input
from tradewind.web.response import Response

ACCOUNT = ids.new()
ONCE = IdempotencyKey(ACCOUNT, "POST /v1/orders", "key-1", fingerprint("/v1/orders", {"sku": "a"}))
REPLAYED = (b"idempotent-replayed", b"true")


class Order(Input):
    """A body."""

    sku: str
    quantity: int = 1


@pytest.fixture
async def effects(db: Database) -> Database:
    await db.execute("CREATE TABLE effect (key text NOT NULL, number serial)")
    return db


async def done(db: Database) -> list[str]:
    return [row["key"] for row in await db.fetch("SELECT key FROM effect ORDER BY number")]


async def stored(db: Database) -> int:
    count: int = await db.fetchval("SELECT count(*) FROM idempotency_key")
    return count


async def effect(tx: Tx, once: IdempotencyKey | None) -> Response:
    number = await tx.fetchval(
        "INSERT INTO effect (key) VALUES ($1) RETURNING number", once.key if once else "none"
    )
    return Response({"number": number, "name": "żółw"}, 201, [(b"location", b"/v1/orders/1")])


async def ask(db: Database, once: IdempotencyKey | None) -> Response:
    """What an endpoint does: claim, act, keep the answer, all in one transaction."""
    async with transaction(db) as tx:
        await idempotency.claim(tx, once)
        return await idempotency.keep(tx, once, await effect(tx, once))


async def replayed(db: Database, once: IdempotencyKey) -> Response:
    with pytest.raises(Replay) as caught:
        await ask(db, once)
    return caught.value.answer


@asynccontextmanager
async def in_flight(db: Database, once: IdempotencyKey) -> AsyncIterator[None]:
    """A request that has done its work, and has not committed yet."""
    async with transaction(db) as tx:
        await idempotency.claim(tx, once)
        await idempotency.keep(tx, once, await effect(tx, once))
        yield


async def test_a_repeat_has_no_effect_and_gets_the_same_bytes(effects: Database) -> None:
    first = await ask(effects, ONCE)

    again = await replayed(effects, ONCE)
    once_more = await replayed(effects, ONCE)

    assert first.encoded() == '{"number":1,"name":"żółw"}'.encode()
    assert again.encoded() == once_more.encoded() == first.encoded()
    assert again.status == first.status == 201
    assert again.content_type == first.content_type
    assert again.headers == [*first.headers, REPLAYED]
    assert await done(effects) == ["key-1"]


async def test_an_answer_without_a_body_is_replayed_as_such(db: Database) -> None:
    async with transaction(db) as tx:
        await idempotency.claim(tx, ONCE)
        await idempotency.keep(tx, ONCE, Response(None, 204))

    async with transaction(db) as tx:
        with pytest.raises(Replay) as caught:
            await idempotency.claim(tx, ONCE)

    assert caught.value.answer.encoded() == b""
    assert caught.value.answer.status == 204


async def test_without_a_key_every_request_has_its_effect(effects: Database) -> None:
    await ask(effects, None)
    await ask(effects, None)

    assert await done(effects) == ["none", "none"]
    assert await stored(effects) == 0


async def test_the_same_key_with_another_request_is_refused(effects: Database) -> None:
    first = await ask(effects, ONCE)
    other = altered(ONCE, fingerprint=fingerprint("/v1/orders", {"sku": "b"}))

    with pytest.raises(IdempotencyKeyReused) as caught:
        await ask(effects, other)

    assert caught.value.detail == ("This Idempotency-Key was used before, for a different request.")
    assert await done(effects) == ["key-1"]
    assert (await replayed(effects, ONCE)).encoded() == first.encoded()


@pytest.mark.parametrize(
    "other",
    [
        altered(ONCE, account_id=ids.new()),
        altered(ONCE, route="POST /v1/orders/{id}/refunds"),
        altered(ONCE, key="key-2"),
        altered(ONCE, key="KEY-1"),
    ],
)
async def test_a_key_counts_for_one_account_and_one_route(
    effects: Database, other: IdempotencyKey
) -> None:
    await ask(effects, ONCE)

    await ask(effects, other)

    assert len(await done(effects)) == 2


async def test_who_comes_while_the_first_is_at_work_is_told_to_come_back(
    effects: Database,
) -> None:
    async with in_flight(effects, ONCE):
        with pytest.raises(RequestInFlight) as caught:
            await asyncio.wait_for(ask(effects, ONCE), 1)

    assert caught.value.facts == {"retry_after": 1}
    assert (await replayed(effects, ONCE)).status == 201
    assert await done(effects) == ["key-1"]


async def test_a_request_in_flight_is_in_nobody_elses_way(effects: Database) -> None:
    async with in_flight(effects, ONCE):
        await asyncio.wait_for(ask(effects, altered(ONCE, key="key-2")), 1)

    assert sorted(await done(effects)) == ["key-1", "key-2"]


async def test_a_request_that_is_undone_forgets_its_key(effects: Database) -> None:
    async def fail() -> None:
        async with in_flight(effects, ONCE):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()
    assert await stored(effects) == 0
    assert await done(effects) == []

    assert (await ask(effects, ONCE)).status == 201

    assert await done(effects) == ["key-1"]


async def test_a_later_answer_takes_the_place_of_the_first(effects: Database) -> None:
    await ask(effects, ONCE)

    fuller = Response({"number": 1, "order_id": "7"}, 200, [(b"etag", b'"2"')])
    assert await idempotency.replace(effects, ONCE, fuller) is fuller

    again = await replayed(effects, ONCE)
    assert again.encoded() == b'{"number":1,"order_id":"7"}'
    assert (again.status, again.headers) == (200, [(b"etag", b'"2"'), REPLAYED])
    assert await done(effects) == ["key-1"]


async def test_while_an_answer_is_not_the_last_word_nobody_gets_it(
    effects: Database, postgres: Postgres, database_url: str
) -> None:
    async with transaction(effects) as tx:
        await idempotency.claim(tx, ONCE)
        first = await idempotency.keep(tx, ONCE, await effect(tx, ONCE), pending=PENDING)

    with pytest.raises(RequestInFlight):
        await ask(effects, ONCE)
    with pytest.raises(IdempotencyKeyReused):
        await ask(effects, altered(ONCE, fingerprint=b"another"))
    postgres.move_clock(database_url, PENDING + timedelta(seconds=1))  # its process died

    assert (await replayed(effects, ONCE)).encoded() == first.encoded()
    assert await done(effects) == ["key-1"]


async def test_the_last_word_is_had_at_once(effects: Database) -> None:
    async with transaction(effects) as tx:
        await idempotency.claim(tx, ONCE)
        await idempotency.keep(tx, ONCE, await effect(tx, ONCE), pending=PENDING)
    last = await idempotency.replace(effects, ONCE, Response({"number": 1, "order_id": "7"}, 201))

    assert (await replayed(effects, ONCE)).encoded() == last.encoded()


async def test_only_the_request_itself_can_have_its_answer_replaced(effects: Database) -> None:
    first = await ask(effects, ONCE)
    stranger = altered(ONCE, fingerprint=b"another")

    await idempotency.replace(effects, stranger, Response({"stolen": True}, 200))
    await idempotency.replace(effects, altered(ONCE, key="unknown"), Response({}, 200))
    await idempotency.replace(effects, None, Response({}, 200))

    assert (await replayed(effects, ONCE)).encoded() == first.encoded()
    assert await stored(effects) == 1


async def test_a_key_is_kept_for_seven_days(
    effects: Database, postgres: Postgres, database_url: str
) -> None:
    await ask(effects, ONCE)

    postgres.move_clock(database_url, timedelta(days=7, seconds=-5))
    await sql.delete_old_answers(effects, days=idempotency.KEEP_DAYS)
    assert await stored(effects) == 1

    postgres.move_clock(database_url, timedelta(seconds=10))
    await sql.delete_old_answers(effects, days=idempotency.KEEP_DAYS)
    assert await stored(effects) == 0


async def test_of_many_at_once_one_has_the_effect_for_each_key(
    effects: Database, database_url: str
) -> None:
    keys = [f"key-{number:03}" for number in range(200)]
    crowd = Database(database_url, size=20, name="crowd")
    await crowd.open()

    async def one(key: str) -> bytes | None:
        """The answer, at first or by replay; None for who was told to come back."""
        try:
            return (await ask(crowd, altered(ONCE, key=key))).encoded()
        except Replay as replay:
            return replay.answer.encoded()
        except RequestInFlight:
            return None

    started = monotonic()
    answers = {key: await asyncio.gather(*(one(key) for _ in range(20))) for key in keys}
    took = monotonic() - started
    await crowd.close()

    assert sorted(await done(effects)) == keys
    for got in answers.values():
        assert len(set(got) - {None}) == 1
    assert took < 30


@pytest.mark.parametrize(
    ("change", "same"),
    [
        (lambda: fingerprint("/v1/orders", Order(sku="a")), True),
        (lambda: fingerprint("/v1/orders", Order(sku="a", quantity=1)), True),
        (lambda: fingerprint("/v1/orders", Order(quantity=1, sku="a")), True),
        (lambda: fingerprint("/v1/orders", Order(sku="b")), False),
        (lambda: fingerprint("/v1/orders", Order(sku="a", quantity=2)), False),
        (lambda: fingerprint("/v1/orders/2/refunds", Order(sku="a")), False),
        (lambda: fingerprint("/v1/orders", None), False),
    ],
)
def test_a_request_is_the_same_by_its_path_and_values_not_its_spelling(
    change: Callable[[], bytes], *, same: bool
) -> None:
    assert (change() == fingerprint("/v1/orders", Order(sku="a"))) is same


def test_the_order_of_free_fields_does_not_make_another_request() -> None:
    one, other = {"metadata": {"a": 1, "b": 2}}, {"metadata": {"b": 2, "a": 1}}

    assert fingerprint("/v1/orders", one) == fingerprint("/v1/orders", other)


@pytest.mark.parametrize("key", ["a", "x" * 255, "a b", "~!@#$%^&*()", '"quoted"'])
def test_a_key_is_any_printable_text(key: str) -> None:
    assert read_key(key, required=True) == key


@pytest.mark.parametrize("key", ["", "x" * 256, "a\tb", "a\n", "żółw", "a\x7f", "\0"])
def test_any_other_key_is_malformed(key: str) -> None:
    for required in (True, False):
        with pytest.raises(IdempotencyKeyMalformed):
            read_key(key, required=required)


def test_a_key_may_be_left_out_only_where_it_is_not_required() -> None:
    assert read_key(None, required=False) is None
    with pytest.raises(IdempotencyKeyMissing):
        read_key(None, required=True)


def test_the_lock_of_a_request_is_its_own() -> None:
    several = [
        ONCE,
        altered(ONCE, key="key-2"),
        altered(ONCE, route="other"),
        altered(ONCE, account_id=UUID(int=0)),
    ]

    locks = {once.lock for once in several}

    assert len(locks) == 4
    assert all(-(2**63) <= lock < 2**63 for lock in locks)
    assert ONCE.lock == altered(ONCE, fingerprint=b"other").lock
