"""Output: tables and progress for people on a terminal, JSON for programs."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Annotated, Any

import msgspec
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn
from rich.table import Table
from rich.text import Text

_WIDE = 1000

Json = Annotated[bool, typer.Option("--json", help="JSON for programs.")]


def for_programs(as_json: bool) -> bool:
    """Whether a client command writes JSON: on request, and where nobody sees the output."""
    return as_json or not sys.stdout.isatty()


def write(value: object, *, as_json: bool, columns: Sequence[str] = (), empty: str = "") -> None:
    """Write JSON for programs, and for people a record's fields or a table of the columns.

    Without columns, a table has all of them; `empty` is written instead of a table without rows.
    """
    plain = msgspec.to_builtins(value, enc_hook=str)
    if as_json:
        write_json(plain)
    elif isinstance(plain, list):
        rows = [{name: row[name] for name in columns or row} for row in plain]
        write_table(rows, empty)
    else:
        write_record(plain)


def write_json(value: Any) -> None:
    """One JSON document on one line."""
    sys.stdout.write(msgspec.json.encode(value, enc_hook=str).decode() + "\n")
    sys.stdout.flush()


def write_table(rows: Sequence[Mapping[str, Any]], empty: str) -> None:
    """Rows under the names of their fields, or a sentence when there are none."""
    if not rows:
        say(empty)
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for number, name in enumerate(rows[0]):
        # The first one is most often an id, which people copy.
        table.add_column(name.replace("_", " "), overflow="fold", no_wrap=number == 0)
    for row in rows:
        table.add_row(*(Text(_cell(value)) for value in row.values()))
    # Rows are not folded in a pipe or a file.
    console = Console(width=None if sys.stdout.isatty() else _WIDE)
    console.print(table)


def write_record(row: Mapping[str, Any]) -> None:
    """The fields of a record, a line each."""
    width = max(map(len, row))
    for name, value in row.items():
        say(f"{name.replace('_', ' '):<{width}}  {_cell(value)}")


@contextmanager
def waiting(label: str) -> Iterator[None]:
    """Show on a terminal that something is waited for."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    with console.status(label):
        yield


@contextmanager
def progress(label: str) -> Iterator[Callable[[int, int | None], None]]:
    """Show on a terminal how far long work has come: call it with what is done, and of how much."""
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    console = Console(stderr=True)
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as bar:
        task = bar.add_task(label, total=None)

        def show(done: int, total: int | None) -> None:
            bar.update(task, completed=done, total=total)

        yield show


def say(sentence: str) -> None:
    sys.stdout.write(sentence + "\n")
    sys.stdout.flush()


def say_on_stderr(sentence: str) -> None:
    """Report progress, where a program that reads the output does not see it."""
    sys.stderr.write(sentence + "\n")
    sys.stderr.flush()


def write_error(sentence: str) -> None:
    sys.stderr.write(f"tradewind: {sentence}\n")


def printable(text: str) -> str:
    """One line of plain text, without control characters for the terminal."""
    return "".join(
        letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text
    )


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, list | tuple | frozenset):
        value = ", ".join(sorted(map(str, value)))
    return printable(str(value))
