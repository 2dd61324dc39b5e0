"""What client commands share: a connection with the current login, and paths of the API."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

from tradewind.cli import credentials
from tradewind.errors import TradewindError

if TYPE_CHECKING:
    from tradewind.cli import remote as http

Remote: TypeAlias = "http.Remote"

_ID = re.compile(r"[A-Za-z0-9_-]+")


class NotAnId(TradewindError):
    """A text cannot be the id of anything."""


@contextmanager
def connected() -> Iterator["http.Remote"]:
    """Calls to the server of the current login."""
    from tradewind.cli.remote import Remote as HttpRemote  # noqa: PLC0415 - httpx takes long

    with HttpRemote(credentials.current_login()) as remote:
        yield remote


def path(*steps: str) -> str:
    """A path under /v1, of words and ids."""
    for step in steps:
        if not _ID.fullmatch(step):
            raise NotAnId(f"{step!r} is not an id.")
    return "/v1/" + "/".join(steps)
