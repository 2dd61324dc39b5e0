"""Ordering: a stale event is ignored, an equally new one is not."""

import asyncio
from datetime import UTC, datetime
from threading import Event as Signal
from threading import Thread
from typing import Any

import pytest
from tradewind_sdk.webhooks import Event, EventData, MemoryOrdering, OrderState, is_stale
from tradewind_sdk.webhooks.ordering import updated_at

HELD = "2026-11-15T08:00:00.500Z"


def event(at: str) -> dict[str, Any]:
    return {"id": "evt_1", "data": {"order": {"id": "ORD1", "updated_at": at}}}


@pytest.mark.parametrize(
    ("at", "stale"),
    [
        ("2026-11-15T08:00:00.499Z", True),
        ("2026-11-15T08:00:00.500Z", False),
        ("2026-11-15T08:00:00.501Z", False),
        ("2026-11-15T09:00:00.499+01:00", True),
        ("2026-11-15T09:00:00.501+01:00", False),
    ],
)
def test_what_is_older_than_the_state_held_is_stale(at: str, stale: bool) -> None:
    assert is_stale(event(at), HELD) is stale
    assert is_stale(event(at), datetime.fromisoformat(HELD)) is stale


def test_nothing_is_old_where_nothing_is_held() -> None:
    assert not is_stale(event("1970-01-01T00:00:00.000Z"), None)


def test_a_time_without_a_zone_is_no_time() -> None:
    with pytest.raises(ValueError, match="time zone"):
        is_stale(event("2026-11-15T08:00:00"), HELD)
    with pytest.raises(ValueError, match="time zone"):
        is_stale(event(HELD), "2026-11-15T08:00:00")


@pytest.mark.parametrize("wrong", [{}, {"data": None}, {"data": {"order": {}}}, {"data": []}])
def test_an_event_without_the_time_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="updated_at"):
        updated_at(wrong)


def test_the_time_is_read_as_it_is() -> None:
    assert updated_at(event(HELD)) == datetime(2026, 11, 15, 8, 0, 0, 500_000, UTC)


def typed(second: int, order_id: str = "ORD1") -> Event:
    moment = datetime(2026, 11, 15, 8, 0, second, tzinfo=UTC)
    order = OrderState(order_id, "sandbox", None, "paid", "paid", "paid", None, moment)
    return Event(f"evt_{second}", "order.updated", moment, EventData(order), {})


def test_an_older_event_waits_for_a_newer_one_and_is_stale_then() -> None:
    ordering = MemoryOrdering()
    began, may_end = Signal(), Signal()
    results: list[tuple[int, bool]] = []

    def handle(second: int, order_id: str = "ORD1") -> None:
        with ordering.turn(typed(second, order_id)) as is_new:
            if second == 2:
                began.set()
                assert may_end.wait(10)
            results.append((second, is_new))

    newer = Thread(target=handle, args=(2,))
    newer.start()
    assert began.wait(10)
    older = Thread(target=handle, args=(1,))
    older.start()
    handle(3, "ORD2")  # another order does not wait
    may_end.set()
    newer.join()
    older.join()

    assert results == [(3, True), (2, True), (1, False)]


def test_an_event_that_failed_makes_no_other_stale() -> None:
    ordering = MemoryOrdering()

    with pytest.raises(RuntimeError), ordering.turn(typed(2)):
        raise RuntimeError

    with ordering.turn(typed(1)) as is_new:
        assert is_new


def test_tasks_take_turns_too() -> None:
    ordering = MemoryOrdering()
    results: list[tuple[int, bool]] = []

    async def handle(second: int) -> None:
        async with ordering.turn_async(typed(second)) as is_new:
            await asyncio.sleep(0.01)
            results.append((second, is_new))

    async def all_at_once() -> None:
        await asyncio.gather(*(handle(second) for second in (5, 4, 6)))

    asyncio.run(all_at_once())

    assert dict(results)[5]
    assert dict(results)[6]
    assert not dict(results)[4]


def test_orders_that_were_not_seen_for_long_are_forgotten() -> None:
    ordering = MemoryOrdering(capacity=2)
    for order_id in ("ORD1", "ORD2", "ORD1", "ORD3"):
        with ordering.turn(typed(5, order_id)):
            pass

    for order_id, is_known in (("ORD1", True), ("ORD2", False), ("ORD3", True)):
        with ordering.turn(typed(1, order_id)) as is_new:
            assert is_new is not is_known
