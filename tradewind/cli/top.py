"""`tradewind top`: shows what the system does and what waits, live in the terminal."""

import asyncio
import os
import shutil
import signal
import sys
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from time import monotonic
from typing import Annotated

import typer

from tradewind.cli.context import Context, run
from tradewind.cli.output import Json, say, write
from tradewind.cli.top_screen import TopState, render
from tradewind.dashboard.performance import queries
from tradewind.errors import ServiceUnavailable
from tradewind.operations.overview import read_waiting
from tradewind.platforms.registry import MARKETPLACES
from tradewind.storage.pool import Database

_MOST_WORKERS = 200
_MINUTE = 60.0
# Reading the state may cost the database this part of the time.
_SHARE = 5
_QUIT = frozenset({b"q", b"Q", b"\x03", b"\x04"})
_WHOLE_SCREEN = (100, 200)

_OPEN_SCREEN = "\x1b[?1049h\x1b[?25l"
_CLOSE_SCREEN = "\x1b[?25h\x1b[?1049l"
_HOME, _TO_LINE_END, _TO_SCREEN_END = "\x1b[H", "\x1b[K", "\x1b[J"


def top(
    *,
    once: Annotated[bool, typer.Option("--once", help="Print the state once, and end.")] = False,
    seconds: Annotated[
        float, typer.Option(min=0.5, max=3600, help="The seconds between two refreshes.")
    ] = 2.0,
    as_json: Json = False,
) -> None:
    """Show the queue, workers, slow webhooks, stuck orders and payments, until `q`."""
    if as_json or once or not (sys.stdin.isatty() and sys.stdout.isatty()):
        state = run(lambda context: read_state(context.db))
        if as_json:
            write(state, as_json=True)
            return
        for line in _lines(state, _WHOLE_SCREEN, colours=sys.stdout.isatty()):
            say(line)
        return
    run(lambda context: _show(context, seconds))


async def read_state(db: Database) -> TopState:
    hour = await queries.sum_hour(db)
    queue = await queries.measure_queue(db)
    return TopState(
        now=hour.now,
        pending=queue.depth,
        oldest_due_seconds=queue.oldest_due_seconds,
        delivered_per_second=hour.minute_delivered / _MINUTE,
        failed_per_second=(hour.minute_attempts - hour.minute_delivered) / _MINUTE,
        workers=await queries.list_workers(db, limit=_MOST_WORKERS),
        waiting=await read_waiting(db, list(MARKETPLACES)),
    )


async def _show(context: Context, seconds: float) -> None:
    """Refresh the screen until a key ends it. While the database is away, it says so."""
    pressed = asyncio.Event()
    keys: list[bytes] = []
    loop = asyncio.get_running_loop()

    def read_key() -> None:
        keys.append(os.read(sys.stdin.fileno(), 1))
        pressed.set()

    def end() -> None:
        keys.append(b"q")
        pressed.set()

    with _whole_terminal():
        loop.add_reader(sys.stdin.fileno(), read_key)
        loop.add_signal_handler(signal.SIGWINCH, pressed.set)
        loop.add_signal_handler(signal.SIGTERM, end)
        try:
            # An empty read means that the terminal is gone.
            while not _QUIT.union({b""}).intersection(keys):
                keys.clear()
                pressed.clear()
                began = monotonic()
                size = shutil.get_terminal_size()
                try:
                    state = await read_state(context.db)
                    lines = _lines(state, size, colours=True, hint="q quits")
                except ServiceUnavailable as away:
                    lines = [str(away), "", "It is tried again every few seconds. q quits."]
                _draw(lines)
                pause = max(seconds, _SHARE * (monotonic() - began))
                with suppress(TimeoutError):
                    await asyncio.wait_for(pressed.wait(), pause)
        finally:
            loop.remove_reader(sys.stdin.fileno())


def _lines(state: TopState, size: tuple[int, int], *, colours: bool, hint: str = "") -> list[str]:
    colours = colours and not os.environ.get("NO_COLOR")
    return render(state, width=size[0], height=size[1], colours=colours, hint=hint)


def _draw(lines: list[str]) -> None:
    """Overwrite the screen line by line: clearing it first would flicker."""
    text = "\r\n".join(line + _TO_LINE_END for line in lines)
    sys.stdout.write(_HOME + text + _TO_SCREEN_END)
    sys.stdout.flush()


@contextmanager
def _whole_terminal() -> Iterator[None]:
    """Use the other screen of the terminal, and get keys as they are pressed; undo both."""
    before = termios.tcgetattr(sys.stdin)
    sys.stdout.write(_OPEN_SCREEN)
    tty.setcbreak(sys.stdin)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)
        sys.stdout.write(_CLOSE_SCREEN)
        sys.stdout.flush()
