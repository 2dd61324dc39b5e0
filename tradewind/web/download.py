"""Downloads: a file that is sent while it is written."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from datetime import UTC, datetime
from time import perf_counter
from typing import Protocol

from tradewind.observability.logs import log
from tradewind.storage.errors import DatabaseAway
from tradewind.web.response import NO_STORE, Response

CSV = "text/csv"
DISPOSITION = "Content-Disposition"
_CHECK_SECONDS = 1.0


class Download(Protocol):
    """A file with a name, and its content piece by piece."""

    @property
    def name(self) -> str: ...
    @property
    def pieces(self) -> AsyncGenerator[bytes, None]: ...


def csv_download(file: Download) -> Response:
    """A CSV file that a browser saves under its name and today's date."""
    name = f"{file.name}-{datetime.now(UTC):%Y-%m-%d}.csv"
    return Response(
        headers=[
            (DISPOSITION.lower().encode(), f'attachment; filename="{name}"'.encode("ascii")),
            # A proxy that collects the whole file first would let the client wait in silence.
            (b"x-accel-buffering", b"no"),
            NO_STORE,
        ],
        content_type=f"{CSV}; charset=utf-8; header=present".encode(),
        stream=file.pieces,
        paced=True,
    )


async def rechecked(
    pieces: AsyncGenerator[bytes, None], recheck: Callable[[], Awaitable[object]]
) -> AsyncGenerator[bytes, None]:
    """The pieces for as long as the caller may have them.

    `recheck` raises when the caller may not any more. It runs before a piece that comes a second
    or more after the last check.
    """
    checked_at = perf_counter()
    async with aclosing(pieces):
        async for piece in pieces:
            if perf_counter() - checked_at >= _CHECK_SECONDS:
                checked_at = perf_counter()
                try:
                    await recheck()
                except DatabaseAway as error:
                    log.warning("download.not_checked", error=str(error))
            yield piece
