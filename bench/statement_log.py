"""Counts the statements that the embedded server logged."""

import re
from pathlib import Path

import asyncpg

_STATEMENT = re.compile(rb"\[(\d+)\] LOG:  (?:statement|execute [^:]*): ")


async def log_of(database_url: str) -> Path:
    """The log of the embedded server."""
    connection = await asyncpg.connect(database_url)
    data_directory: str = await connection.fetchval("SHOW data_directory")
    await connection.close()
    return Path(data_directory).parent / "postgres.log"


def statements_in(log: Path, start: int, end: int) -> list[int]:
    """The process id of the backend of each statement in a part of the log."""
    with log.open("rb") as lines:
        lines.seek(start)
        return [int(pid) for pid in _STATEMENT.findall(lines.read(end - start))]
