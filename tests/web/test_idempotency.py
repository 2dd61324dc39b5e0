"""Idempotency keys: one effect and one response, however often the request is repeated."""

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
from tradewind.orders.idempotency import Statement
from tradewind.storage.pool import Database
from tradewind.storage.transaction import Tx, transaction
from tradewind.web import idempotency, sql
from tradewind.web.idempotency import (
    IdempotencyKey,
    IdempotencyKeyMalformed,
    IdempotencyKeyMissing,
    IdempotencyKeyReused,
    RepeatedRequest,
    RequestInFlight,
    StoredResponse,
    fingerprint,
    read_key,
)
from tradewind.web.inputs import Input
from tradewind.web.response import Response

ACCOUNT = ids.new()
PENDING = timedelta(seconds=10)
KEY = IdempotencyKey(ACCOUNT, "POST /v1/orders", "key-1", fingerprint("/v1/orders", {"sku": "a"}))
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


def show(number: int) -> Response:
    return Response({"number": number, "name": "żółw"}, 201, [(b"location", b"/v1/orders/1")])


def responses(key: IdempotencyKey | None) -> StoredResponse[int]:
    return StoredResponse(key, show)


def verbatim(key: IdempotencyKey | None) -> StoredResponse[Response]:
    """Stores the very response that is the result."""
    return StoredResponse(key, lambda response: response)


async def effect(tx: Tx, key: IdempotencyKey | None) -> int:
    number: int = await tx.fetchval(
        "INSERT INTO effect (key) VALUES ($1) RETURNING number", key.key if key else "none"
    )
    return number


async def ask(
    db: Database, key: IdempotencyKey | None, *, pending: timedelta | None = None
) -> Response:
    """What an endpoint does: claim, act, store the result, all in one transaction."""
    async with transaction(db) as tx:
        await responses(key).claim(tx)
        number = await effect(tx, key)
        responses(key).store(tx, number, pending=pending)
    return show(number)


async def ask_at_once(db: Database, key: IdempotencyKey | None) -> Response:
    """The same in one statement, with a response that is still pending."""
    await responses(key).check(db)
    name = key.key if key else "none"
    statement = Statement(
        "WITH had AS (INSERT INTO effect (key) VALUES ($1)) SELECT $2::integer", [name, 7]
    )
    await responses(key).store_with(db, 7, statement, pending=PENDING)
    return show(7)


async def replayed(db: Database, key: IdempotencyKey) -> Response:
    with pytest.raises(RepeatedRequest) as caught:
        await ask(db, key)
    with pytest.raises(RepeatedRequest) as checked:
        await responses(key).check(db)
    assert checked.value.response == caught.value.response
    return caught.value.response


@asynccontextmanager
async def in_flight(db: Database, key: IdempotencyKey) -> AsyncIterator[None]:
    """A request that has done its work, and has not committed yet."""
    async with transaction(db) as tx:
        await responses(key).claim(tx)
        responses(key).store(tx, await effect(tx, key))
        yield


async def test_a_repeat_has_no_effect_and_gets_the_same_bytes(effects: Database) -> None:
    first = await ask(effects, KEY)

    again = await replayed(effects, KEY)
    once_more = await replayed(effects, KEY)

    assert first.encoded() == '{"number":1,"name":"żółw"}'.encode()
    assert again.encoded() == once_more.encoded() == first.encoded()
    assert again.status == first.status == 201
    assert again.content_type == first.content_type
    assert again.headers == [*first.headers, REPLAYED]
    assert await done(effects) == ["key-1"]


async def test_an_answer_without_a_body_is_replayed_as_such(db: Database) -> None:
    async with transaction(db) as tx:
        await verbatim(KEY).claim(tx)
        verbatim(KEY).store(tx, Response(None, 204))

    async with transaction(db) as tx:
        with pytest.raises(RepeatedRequest) as caught:
            await verbatim(KEY).claim(tx)

    assert caught.value.response.encoded() == b""
    assert caught.value.response.status == 204


async def test_without_a_key_every_request_has_its_effect(effects: Database) -> None:
    await ask(effects, None)
    await ask(effects, None)

    assert await done(effects) == ["none", "none"]
    assert await stored(effects) == 0


async def test_the_same_key_with_another_request_is_rejected(effects: Database) -> None:
    first = await ask(effects, KEY)
    other = altered(KEY, fingerprint=fingerprint("/v1/orders", {"sku": "b"}))

    with pytest.raises(IdempotencyKeyReused) as caught:
        await ask(effects, other)

    assert caught.value.detail == ("This Idempotency-Key was used before, for a different request.")
    assert await done(effects) == ["key-1"]
    assert (await replayed(effects, KEY)).encoded() == first.encoded()


@pytest.mark.parametrize(
    "other",
    [
        altered(KEY, account_id=ids.new()),
        altered(KEY, route="POST /v1/orders/{id}/refunds"),
        altered(KEY, key="key-2"),
        altered(KEY, key="KEY-1"),
    ],
)
async def test_a_key_counts_for_one_account_and_one_route(
    effects: Database, other: IdempotencyKey
) -> None:
    await ask(effects, KEY)

    await ask(effects, other)

    assert len(await done(effects)) == 2


async def test_who_comes_while_the_first_is_at_work_is_told_to_come_back(
    effects: Database,
) -> None:
    async with in_flight(effects, KEY):
        with pytest.raises(RequestInFlight) as caught:
            await asyncio.wait_for(ask(effects, KEY), 1)

    assert caught.value.facts == {"retry_after": 1}
    assert (await replayed(effects, KEY)).status == 201
    assert await done(effects) == ["key-1"]


async def test_a_request_in_flight_is_in_nobody_elses_way(effects: Database) -> None:
    async with in_flight(effects, KEY):
        await asyncio.wait_for(ask(effects, altered(KEY, key="key-2")), 1)

    assert sorted(await done(effects)) == ["key-1", "key-2"]


async def test_a_request_that_is_undone_forgets_its_key(effects: Database) -> None:
    async def fail() -> None:
        async with in_flight(effects, KEY):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()
    assert await stored(effects) == 0
    assert await done(effects) == []

    assert (await ask(effects, KEY)).status == 201

    assert await done(effects) == ["key-1"]


async def test_a_later_answer_takes_the_place_of_the_first(effects: Database) -> None:
    await ask(effects, KEY, pending=PENDING)

    fuller = Response({"number": 1, "order_id": "7"}, 200, [(b"etag", b'"2"')])
    assert await verbatim(KEY).replace(effects, fuller)
    assert not await responses(KEY).replace(effects, 3)  # the first that replaces it wins

    again = await replayed(effects, KEY)
    assert again.encoded() == b'{"number":1,"order_id":"7"}'
    assert (again.status, again.headers) == (200, [(b"etag", b'"2"'), REPLAYED])
    assert await done(effects) == ["key-1"]


async def test_while_an_answer_is_not_the_last_word_nobody_gets_it(
    effects: Database, postgres: Postgres, database_url: str
) -> None:
    first = await ask(effects, KEY, pending=PENDING)

    with pytest.raises(RequestInFlight):
        await ask(effects, KEY)
    with pytest.raises(IdempotencyKeyReused):
        await ask(effects, altered(KEY, fingerprint=b"another"))
    postgres.move_clock(database_url, PENDING + timedelta(seconds=1))  # its process died

    assert (await replayed(effects, KEY)).encoded() == first.encoded()
    assert await done(effects) == ["key-1"]


async def test_the_last_word_is_had_at_once(effects: Database) -> None:
    await ask(effects, KEY, pending=PENDING)
    last = Response({"number": 1, "order_id": "7"}, 201)
    part = verbatim(KEY).replacement(last)
    assert part is not None
    for only_if in ("false", "true"):  # with the effect that it tells of, if there is one
        async with transaction(effects) as tx:
            tx.write_last(part)
            await tx.fetch_last(only_if=only_if)
        replaced = await effects.fetchval(
            "SELECT count(*) FROM idempotency_key WHERE body = $1", last.encoded()
        )
        assert replaced == (only_if == "true")

    assert (await replayed(effects, KEY)).encoded() == last.encoded()


async def test_only_the_request_itself_can_have_its_answer_replaced(effects: Database) -> None:
    first = await ask(effects, KEY, pending=PENDING)
    another = altered(KEY, fingerprint=b"another")

    assert not await verbatim(another).replace(effects, Response({"stolen": True}, 200))
    assert not await verbatim(altered(KEY, key="unknown")).replace(effects, Response({}, 200))
    assert await verbatim(None).replace(effects, Response({}, 200))  # nothing is stored
    assert await responses(KEY).replace(effects, 1)

    assert (await replayed(effects, KEY)).encoded() == first.encoded()
    assert await stored(effects) == 1


async def test_a_key_is_kept_for_seven_days(
    effects: Database, postgres: Postgres, database_url: str
) -> None:
    await ask(effects, KEY)

    postgres.move_clock(database_url, timedelta(days=7, seconds=-5))
    await sql.delete_old_responses(effects, days=idempotency.KEEP_DAYS)
    assert await stored(effects) == 1

    postgres.move_clock(database_url, timedelta(seconds=10))
    await sql.delete_old_responses(effects, days=idempotency.KEEP_DAYS)
    assert await stored(effects) == 0


async def test_a_result_that_is_stored_with_its_effect_in_one_statement(
    effects: Database, postgres: Postgres, database_url: str
) -> None:
    first = await ask_at_once(effects, KEY)

    for repeat in (ask, ask_at_once):
        with pytest.raises(RequestInFlight):
            await repeat(effects, KEY)
        with pytest.raises(IdempotencyKeyReused):
            await repeat(effects, altered(KEY, fingerprint=b"another"))
    postgres.move_clock(database_url, PENDING + timedelta(seconds=1))  # its process died

    assert (await replayed(effects, KEY)).encoded() == first.encoded()
    await ask_at_once(effects, None)
    await ask_at_once(effects, None)
    assert await done(effects) == ["key-1", "none", "none"]
    assert await stored(effects) == 1


async def test_of_many_statements_at_once_one_has_the_effect(effects: Database) -> None:
    """None of them waited for the check before: the key itself lets one through."""

    async def send() -> bool:
        statement = Statement("WITH had AS (INSERT INTO effect (key) VALUES ($1)) SELECT 1", ["a"])
        try:
            await responses(KEY).store_with(effects, 7, statement, pending=PENDING)
        except RequestInFlight:
            return False
        return True

    assert sum(await asyncio.gather(*(send() for _ in range(20)))) == 1
    assert await done(effects) == ["a"]


async def test_of_many_at_once_one_has_the_effect_for_each_key(
    effects: Database, database_url: str
) -> None:
    keys = [f"key-{number:03}" for number in range(50)]
    crowd = Database(database_url, size=20, name="crowd")
    await crowd.open()

    async def send(key: str) -> bytes | None:
        """The response, at first or by replay; None for who was told to come back."""
        try:
            return (await ask(crowd, altered(KEY, key=key))).encoded()
        except RepeatedRequest as replay:
            return replay.response.encoded()
        except RequestInFlight:
            return None

    started = monotonic()
    sent = {key: await asyncio.gather(*(send(key) for _ in range(20))) for key in keys}
    took = monotonic() - started
    await crowd.close()

    assert sorted(await done(effects)) == keys
    for bodies in sent.values():
        assert len(set(bodies) - {None}) == 1
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
    item, other = {"metadata": {"a": 1, "b": 2}}, {"metadata": {"b": 2, "a": 1}}

    assert fingerprint("/v1/orders", item) == fingerprint("/v1/orders", other)


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
        KEY,
        altered(KEY, key="key-2"),
        altered(KEY, route="other"),
        altered(KEY, account_id=UUID(int=0)),
    ]

    locks = {key.lock for key in several}

    assert len(locks) == 4
    assert all(-(2**63) <= lock < 2**63 for lock in locks)
    assert KEY.lock == altered(KEY, fingerprint=b"other").lock
