"""Links and pictures that others gave us: which of them a page may lead to, or show. Pure."""

from collections.abc import Sequence
from urllib.parse import urlsplit


def web_link(url: str | None) -> str | None:
    """The address, if it is one of the web: no other scheme is led to."""
    try:
        parts = urlsplit(url or "")
    except ValueError:
        return None
    return url if parts.scheme in {"http", "https"} and parts.hostname else None


def picture(url: str | None, origins: Sequence[str]) -> str | None:
    """The picture, if it is at one of these origins: no other would be loaded."""
    try:
        parts = urlsplit(url or "")
    except ValueError:
        return None
    return url if f"{parts.scheme}://{parts.netloc}" in origins else None
