"""Lists: what can be chosen, and the address of the next page with what was chosen. Pure."""

from collections.abc import Iterable
from urllib.parse import parse_qsl, urlencode

from tradewind.dashboard.shell.labels import word
from tradewind.web.request import Request


def next_page(request: Request, cursor: str | None) -> str | None:
    """Where the list goes on; None: it ends here."""
    return None if cursor is None else _address(request, cursor)


def first_page(request: Request) -> str | None:
    """Where the list begins; None: this is the beginning."""
    return _address(request, None) if "cursor" in dict(_pairs(request)) else None


def chosen(request: Request) -> bool:
    """Whether anything was filtered, so that an empty list can say so."""
    return any(value for name, value in _pairs(request) if name != "cursor")


def choices(values: Iterable[str]) -> list[tuple[str, str]]:
    """Codes to choose from, each with its word, as fields take them."""
    return [(str(value), word(value)) for value in values]


def _address(request: Request, cursor: str | None) -> str:
    kept = [(name, value) for name, value in _pairs(request) if name != "cursor" and value]
    query = urlencode([*kept, ("cursor", cursor)] if cursor else kept)
    return f"{request.path}?{query}" if query else request.path


def _pairs(request: Request) -> list[tuple[str, str]]:
    return parse_qsl(request.query_string.decode("latin-1"), keep_blank_values=True)
