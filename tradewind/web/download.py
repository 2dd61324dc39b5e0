"""Downloads: a file that is sent while it is written."""

from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from typing import Protocol

from tradewind.web.response import NO_STORE, Response

CSV = "text/csv"
DISPOSITION = "Content-Disposition"


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
