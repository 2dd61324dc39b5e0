"""The rate of calls to a marketplace: changes first, and reads share fairly."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from time import perf_counter
from uuid import UUID

import pytest

from tradewind import ids
from tradewind.platforms.failures import BudgetUsedUp
from tradewind.platforms.pacing import Purpose, may_refresh, paced
from tradewind.storage.pool import Database
from tradewind.web import limits
from tradewind.web.limits import Rate

# One call a minute: nothing is earned while a test runs.
RATE = Rate(per_minute=1, burst=40)
READS = (Purpose.REFRESH, Purpose.BROWSE)


async def exhaust(db: Database, purposes: Sequence[Purpose]) -> dict[Purpose, int]:
    """Call for each of these purposes in turn until none gets any more; how many calls each got."""
    calls = dict.fromkeys(purposes, 0)
    left = set(purposes)
    while left:
        for purpose in purposes:
            try:
                await paced(db, "sandbox", RATE, purpose)(0)
            except BudgetUsedUp:
                left.discard(purpose)
            else:
                calls[purpose] += 1
    return calls


async def test_reads_leave_a_quarter_of_the_burst_to_changes(db: Database) -> None:
    reads = await exhaust(db, READS)

    assert sum(reads.values()) == 30
    assert await exhaust(db, [Purpose.CHANGE]) == {Purpose.CHANGE: 10}


async def test_the_scheduled_sync_has_room_that_reads_cannot_take(db: Database) -> None:
    await exhaust(db, READS)

    assert await exhaust(db, [Purpose.SYNC]) == {Purpose.SYNC: 5}
    assert await exhaust(db, [Purpose.CHANGE]) == {Purpose.CHANGE: 5}


@pytest.mark.parametrize("purpose", [*READS, Purpose.SYNC])
async def test_no_purpose_but_a_change_takes_more_than_half(db: Database, purpose: Purpose) -> None:
    assert await exhaust(db, [purpose]) == {purpose: 20}


async def test_changes_may_use_all_of_the_budget_and_leave_nothing_to_reads(db: Database) -> None:
    assert await exhaust(db, [Purpose.CHANGE]) == {Purpose.CHANGE: 40}

    assert await exhaust(db, READS) == dict.fromkeys(READS, 0)


async def test_the_calls_of_a_change_are_taken_together_and_none_too_many(db: Database) -> None:
    processes = [paced(db, "sandbox", RATE, Purpose.CHANGE) for _ in range(2)]
    calls = 0
    with suppress(BudgetUsedUp):
        for number in range(100):
            await processes[number % 2](0)
            calls += 1

    # What one process has taken, and does not need, the other cannot use.
    assert 36 <= calls <= 40


async def test_while_half_of_the_burst_is_free_one_statement_takes_several_calls(
    db: Database,
) -> None:
    call = paced(db, "sandbox", RATE, Purpose.CHANGE)
    for _ in range(2):
        await call(0)

    assert await exhaust(db, [Purpose.CHANGE]) == {Purpose.CHANGE: 35}


@pytest.mark.parametrize(("burst", "together"), [(40, 4), (160, 10), (100_000, 100)])
async def test_the_larger_the_burst_the_more_calls_are_taken_together(
    db: Database, burst: int, together: int
) -> None:
    rate = Rate(per_minute=1, burst=burst)
    call = paced(db, "sandbox", rate, Purpose.CHANGE)
    for _ in range(2):
        await call(0)

    _, budget = await limits.take(db, "platform:sandbox", rate)
    assert burst - budget.remaining == 1 + together + 1


async def test_changes_at_once_take_few_calls_that_they_do_not_make(db: Database) -> None:
    call = paced(db, "sandbox", RATE, Purpose.CHANGE)
    await call(0)

    await asyncio.gather(*(call(0) for _ in range(16)))

    left = (await exhaust(db, [Purpose.CHANGE]))[Purpose.CHANGE]
    assert 40 - 17 - 3 <= left <= 40 - 17


async def test_refreshes_of_one_account_leave_room_for_those_of_another(db: Database) -> None:
    greedy, other = ids.new(), ids.new()

    async def refreshes(account_id: UUID, tries: int) -> int:
        granted = [await may_refresh(db, "sandbox", RATE, account_id) for _ in range(tries)]
        return sum(granted)

    assert await refreshes(greedy, 15) == 10
    assert await refreshes(other, 3) == 3


async def test_a_refresh_does_not_wait_for_room(db: Database) -> None:
    await exhaust(db, [Purpose.REFRESH])
    began = perf_counter()

    with pytest.raises(BudgetUsedUp) as used_up:
        await paced(db, "sandbox", RATE, Purpose.REFRESH)(90)

    assert perf_counter() - began < 30
    assert used_up.value.retry_after > 30


async def test_a_change_waits_for_room_as_long_as_it_has_time(db: Database) -> None:
    ten_a_second = Rate(per_minute=600, burst=1)

    for _ in range(3):
        await paced(db, "taobao", ten_a_second, Purpose.CHANGE)(10)
    await exhaust(db, [Purpose.CHANGE])

    with pytest.raises(BudgetUsedUp):
        await paced(db, "sandbox", RATE, Purpose.CHANGE)(1)
