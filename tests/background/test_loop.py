"""The loop: works while there is work, sleeps until woken, survives failures, stops promptly."""

import asyncio
from collections.abc import Callable
from itertools import pairwise
from time import monotonic

from tradewind.background.loop import repeat
from tradewind.storage.errors import DatabaseAway


class Loop:
    """A loop under way, whose steps do what a list of results says, then find nothing to do."""

    def __init__(self, *results: bool | Exception, idle: float = 60.0) -> None:
        self.results = list(results)
        self.times: list[float] = []
        self.stepped = asyncio.Event()
        self.stop = asyncio.Event()
        self.wake = asyncio.Event()
        self.task = asyncio.create_task(
            repeat("test", self._step, stop=self.stop, wake=self.wake, idle=idle)
        )

    async def _step(self) -> bool:
        self.times.append(monotonic())
        self.stepped.set()
        result = self.results.pop(0) if self.results else False
        if isinstance(result, Exception):
            raise result
        return result

    @property
    def steps(self) -> int:
        return len(self.times)

    async def reached(self, steps: int) -> None:
        """Wait until it has begun so many steps."""
        while self.steps < steps:
            self.stepped.clear()
            await asyncio.wait_for(self.stepped.wait(), 5)

    async def end(self) -> float:
        """Stop it, and tell how long that took."""
        self.stop.set()
        started = monotonic()
        await asyncio.wait_for(self.task, 5)
        return monotonic() - started


async def settle(condition: Callable[[], bool]) -> None:
    """Let the loop run on until something is so."""
    for _ in range(1000):
        if condition():
            return
        await asyncio.sleep(0)
    raise AssertionError("it never came to pass")


async def test_it_works_on_while_there_is_work_and_then_rests() -> None:
    loop = Loop(True, True, True)

    await loop.reached(4)
    await asyncio.sleep(0.1)

    assert loop.steps == 4
    await loop.end()


async def test_a_rest_ends_by_a_wake_up() -> None:
    loop = Loop()
    await loop.reached(1)

    loop.wake.set()

    await loop.reached(2)
    await asyncio.sleep(0.1)
    assert loop.steps == 2
    await loop.end()


async def test_a_rest_ends_by_itself() -> None:
    loop = Loop(idle=0.05)

    await loop.reached(3)

    await loop.end()


async def test_a_wake_up_in_the_middle_of_a_step_is_not_lost() -> None:
    steps: list[int] = []
    stop, wake = asyncio.Event(), asyncio.Event()

    async def step() -> bool:
        steps.append(len(steps))
        if len(steps) == 1:
            wake.set()  # news that this step may have come too early for
        else:
            stop.set()
        return False

    await asyncio.wait_for(repeat("test", step, stop=stop, wake=wake, idle=60.0), 2)

    assert len(steps) == 2


async def test_a_step_that_fails_does_not_end_the_loop() -> None:
    loop = Loop(ZeroDivisionError("a bug"), DatabaseAway(), True)

    await loop.reached(4)

    assert not loop.task.done()
    await loop.end()


async def test_after_a_failure_it_pauses_whatever_wakes_it() -> None:
    loop = Loop(ZeroDivisionError("a bug"))
    await loop.reached(1)

    loop.wake.set()
    await asyncio.sleep(0.1)

    assert loop.steps == 1
    await loop.end()


async def test_a_pause_doubles_with_each_failure_and_begins_anew_after_a_success() -> None:
    loop = Loop(*(ZeroDivisionError() for _ in range(2)), True, ZeroDivisionError())

    await loop.reached(5)
    await loop.end()

    pauses = [later - earlier for earlier, later in pairwise(loop.times)]
    assert pauses[0] >= 0.5
    assert pauses[1] >= 1.0
    assert pauses[2] < 0.5 <= pauses[3] < 2.0


async def test_stopping_ends_a_rest_and_a_pause_at_once() -> None:
    for first in (False, ZeroDivisionError("a bug")):
        loop = Loop(first)
        await loop.reached(1)

        assert await loop.end() < 0.4
        assert loop.steps == 1


async def test_stopping_lets_the_step_at_hand_finish() -> None:
    stop = asyncio.Event()
    book: list[str] = []

    async def step() -> bool:
        book.append("begun")
        stop.set()
        await asyncio.sleep(0.05)
        book.append("finished")
        return True

    await asyncio.wait_for(repeat("test", step, stop=stop, wake=asyncio.Event(), idle=60.0), 2)

    assert book == ["begun", "finished"]


async def test_a_loop_that_was_stopped_before_it_began_does_nothing() -> None:
    loop = Loop(True)
    await loop.end()

    assert loop.steps == 0


async def test_nothing_is_left_waiting_when_it_ends() -> None:
    before = asyncio.all_tasks()
    loop = Loop(idle=0.001)
    await loop.reached(5)
    await loop.end()

    await settle(lambda: asyncio.all_tasks() == before)
