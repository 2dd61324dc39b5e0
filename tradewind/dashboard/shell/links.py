"""Links and pictures that others gave us: which of them a page may lead to, or show. Pure."""

from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from tradewind.platforms.registry import Platforms

# Where the pictures of a marketplace are.
_PICTURES: Mapping[str, Sequence[str]] = {
    "alibaba": ("https://cbu01.alicdn.com", "https://img.alicdn.com"),
    "taobao": ("https://img.alicdn.com", "https://gw.alicdn.com"),
}


def web_link(url: str | None) -> str | None:
    """The address, if it is one of the web: no other scheme is led to."""
    try:
        parts = urlsplit(url or "")
    except ValueError:
        return None
    return url if parts.scheme in {"http", "https"} and parts.hostname else None


def picture_origins(platforms: Platforms, platform: str) -> Sequence[str]:
    """Where pictures of this marketplace are taken from: its own origins, or the simulator's."""
    simulated = platforms.simulated_origin(platform)
    return (simulated,) if simulated else _PICTURES.get(platform, ())


def picture(url: str | None, origins: Sequence[str]) -> str | None:
    """The picture, if it is at one of these origins: no other would be loaded."""
    try:
        parts = urlsplit(url or "")
    except ValueError:
        return None
    return url if f"{parts.scheme}://{parts.netloc}" in origins else None
