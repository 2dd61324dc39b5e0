"""Virtual time: an event loop that never waits, and processes that can be frozen and killed."""

import asyncio
import heapq
import itertools
from collections import deque
from collections.abc import Callable, Coroutine
from contextvars import Context, ContextVar, copy_context
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, TypeVar

T = TypeVar("T")

_THE_PROCESS: ContextVar["Process | None"] = ContextVar("process", default=None)


class State(Enum):
    RUNNING = "running"
    FROZEN = "frozen"
    DEAD = "dead"


@dataclass(eq=False)
class Process:
    """Tasks that live and die together, as those of a process of the operating system do.

    All that is begun within it belongs to it. A frozen one makes no step, whatever time it is; a
    dead one makes none ever again, not even those of a `finally`.
    """

    name: str
    state: State = State.RUNNING
    tasks: list[asyncio.Task[Any]] = field(default_factory=list)
    held: list[asyncio.Handle] = field(default_factory=list)

    def start(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Begin work as a task of this process."""
        context = copy_context()
        context.run(_THE_PROCESS.set, self)
        return asyncio.get_running_loop().create_task(work, context=context)


class VirtualLoop(asyncio.BaseEventLoop):
    """A loop whose time stands still while there is something to do, and else leaps ahead.

    It has no sockets: whatever is outside is called within one step. So the same steps in the
    same order are all that a run consists of, and a run can be had again.
    """

    def __init__(self) -> None:
        super().__init__()
        self._now = 0.0
        self._steps: deque[tuple[Process | None, asyncio.Handle]] = deque()
        self._timers: list[tuple[float, int, Process | None, asyncio.TimerHandle]] = []
        self._numbers = itertools.count()
        # Asked when there is nothing to do: until when nothing can happen but polls in vain.
        self.lull: Callable[[], float] = lambda: 0.0
        self.crashes: list[str] = []
        self.set_exception_handler(self._crashed)

    def time(self) -> float:
        return self._now

    def call_soon(  # type: ignore[override]
        self, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> asyncio.Handle:
        handle = asyncio.Handle(callback, args, self, context)
        self._steps.append((_owner(context), handle))
        return handle

    def call_at(  # type: ignore[override]
        self, when: float, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        handle = asyncio.TimerHandle(when, callback, args, self, context)
        heapq.heappush(self._timers, (when, next(self._numbers), _owner(context), handle))
        return handle

    def create_task(
        self,
        coro: Coroutine[Any, Any, T],  # type: ignore[override]
        *,
        name: object = None,
        context: Context | None = None,
    ) -> asyncio.Task[T]:
        task = super().create_task(coro, name=name, context=context)
        owner = _owner(context)
        if owner is not None:
            owner.tasks.append(task)
        return task

    def freeze(self, process: Process) -> None:
        process.state = State.FROZEN

    def thaw(self, process: Process) -> None:
        """Let a process go on; what it waited for meanwhile comes all at once."""
        process.state = State.RUNNING
        self._steps.extend((process, handle) for handle in process.held)
        process.held.clear()

    def kill(self, process: Process) -> None:
        process.state = State.DEAD

    async def bury(self, process: Process) -> None:
        """Cancel what a dead process left behind, so that nothing of it is collected as garbage.

        By now whatever it calls must refuse it.
        """
        self.thaw(process)
        for _ in range(20):
            left = [task for task in process.tasks if not task.done()]
            if not left:
                break
            for task in left:
                task.cancel()
            await asyncio.wait(left, timeout=60)

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """Nothing to do: a cancelled timer is passed over when its time comes."""

    def _run_once(self) -> None:
        timers = self._timers
        while timers and timers[0][3].cancelled():
            heapq.heappop(timers)
        if not self._steps:
            if not timers:
                raise RuntimeError("Everybody waits for something that will never come.")
            self._now = max(self._now, timers[0][0], self.lull())
        while timers and timers[0][0] <= self._now:
            _, _, owner, timer = heapq.heappop(timers)
            self._steps.append((owner, timer))
        for _ in range(len(self._steps)):
            owner, handle = self._steps.popleft()
            if handle.cancelled():
                continue
            if owner is not None and owner.state is not State.RUNNING:
                owner.held.append(handle)
            else:
                handle._run()  # noqa: SLF001 - a loop is who runs handles

    def _crashed(self, _loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        self.crashes.append(f"{context.get('message')}: {context.get('exception')!r}")


def _owner(context: Context | None) -> Process | None:
    return _THE_PROCESS.get() if context is None else context.get(_THE_PROCESS)
