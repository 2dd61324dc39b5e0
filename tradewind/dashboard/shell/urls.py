"""URLs of lists, safe redirects, links and images of marketplaces. Pure."""

from collections.abc import Sequence
from urllib.parse import SplitResult, parse_qsl, urlencode, urlsplit

from tradewind.web.request import Request

_LONGEST_PATH = 2000


def page_url(
    request: Request, *, path: str = "", fragment: str = "", **changes: str | int | None
) -> str:
    """The URL of a list with some parameters changed, None removes one; empty ones are left out."""
    kept = [(name, value) for name, value in _parameters(request) if value and name not in changes]
    query = urlencode([*kept, *((name, value) for name, value in changes.items() if value)])
    anchor = f"#{fragment}" if fragment else ""
    return f"{path or request.path}{f'?{query}' if query else ''}{anchor}"


def is_first_page(request: Request) -> bool:
    return "cursor" not in dict(_parameters(request))


def is_filtered(request: Request) -> bool:
    """Whether any filter is set, so that an empty list can say so."""
    return any(value for name, value in _parameters(request) if name not in {"cursor", "limit"})


def current_url(request: Request) -> str:
    query = request.query_string.decode("latin-1")
    return f"{request.path}?{query}" if query else request.path


def local_path(text: str | None, *, default: str = "/") -> str:
    """A path of this site to redirect to; `default` for anything that could lead elsewhere."""
    if not text or len(text) > _LONGEST_PATH or not text.isascii() or not text.isprintable():
        return default
    if not text.startswith("/") or text.startswith("//") or "\\" in text or " " in text:
        return default
    return default if split_url(text).path in {"/sign-in", "/sign-out", "/live"} else text


def split_url(text: str) -> SplitResult:
    """The parts of a URL that somebody sent; all of them are empty if it is not a URL."""
    try:
        return urlsplit(text)
    except ValueError:
        return urlsplit("")


def origin_of(url: str) -> str:
    parts = split_url(url)
    return f"{parts.scheme}://{parts.netloc}"


def web_link(url: str | None) -> str | None:
    """The URL if it is http or https: pages link to no other scheme."""
    parts = split_url(url or "")
    return url if parts.scheme in {"http", "https"} and parts.hostname else None


def image_url(url: str | None, origins: Sequence[str]) -> str | None:
    """The URL of an image if it is at one of these origins: the browser would load no other."""
    return url if url and origin_of(url) in origins else None


def _parameters(request: Request) -> list[tuple[str, str]]:
    return parse_qsl(request.query_string.decode("latin-1"), keep_blank_values=True)
