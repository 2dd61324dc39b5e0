"""Product links: a marketplace's hosts, and the product ID in a link. Pure; nothing is fetched."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlsplit

_MOST_LINKS = 20
_MOST_FIELDS = 100
_PRINTABLE = re.compile(r"[!-~]+")
_SCHEME = re.compile(r"https?://", re.IGNORECASE)
_ID = re.compile(r"[1-9][0-9]{0,18}(?![0-9A-Za-z])")
_WHOLE_ID = re.compile(r"[1-9][0-9]{0,18}")


@dataclass(frozen=True, slots=True)
class Link:
    """A link, taken apart. `origin` has the scheme and, unless it is the usual one, the port."""

    origin: str
    host: str
    path: str
    query: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ProductLinks:
    """What the links of a marketplace look like.

    Subdomains of `domains` belong to the marketplace as well. A link of `short_hosts` is an alias
    that only the marketplace can translate: it does not contain the product's ID.
    """

    domains: Sequence[str]
    short_hosts: frozenset[str]
    read_id: Callable[[Link], str | None]
    page: Callable[[str], str]

    def owns(self, link: Link) -> bool:
        return any(
            link.host == domain or link.host.endswith(f".{domain}") for domain in self.domains
        )


def links_in(text: str) -> Iterator[Link]:
    """Find the links in a text, in order; the scheme may be missing at the start of a word.

    Only printable ASCII belongs to a link, so a Chinese text around it needs no spaces. A link with
    credentials (`https://user@host/`) is not a link to a product and is left out.
    """
    number = 0
    for word in _PRINTABLE.finditer(text):
        scheme = _SCHEME.search(word[0])
        begins_word = word.start() == 0 or text[word.start() - 1].isspace()
        if scheme is None and not (begins_word and "." in word[0] and "/" in word[0]):
            continue
        number += 1
        if number > _MOST_LINKS:
            return
        link = read_link(word[0][scheme.start() :] if scheme else f"https://{word[0]}")
        if link is not None:
            yield link


def read_link(url: str) -> Link | None:
    """Take a link apart; None if it is malformed, holds credentials, or is not http."""
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").rstrip("."), parts.port
        query = dict(reversed(parse_qsl(parts.query, max_num_fields=_MOST_FIELDS)))
    except ValueError:
        return None
    scheme = parts.scheme.lower()
    if scheme not in ("http", "https") or not host or "@" in parts.netloc or "\\" in parts.netloc:
        return None
    usual = port in (None, 443 if scheme == "https" else 80)
    origin = f"{scheme}://{host}" if usual else f"{scheme}://{host}:{port}"
    return Link(origin, host if usual else f"{host}:{port}", parts.path, query)


def links_within(link: Link) -> Iterator[Link]:
    """The links in the query of a link: a login page leads back to the product in this way."""
    for value in link.query.values():
        if _SCHEME.match(value):
            inner = read_link(value)
            if inner is not None:
                yield inner


def leading_id(text: str | None) -> str | None:
    """The ID at the start of a text; a punctuation mark may follow it, but no letter."""
    match = _ID.match(text or "")
    return match[0] if match else None


def is_id(text: str) -> bool:
    """Whether a text can be a product ID: up to 19 digits."""
    return _WHOLE_ID.fullmatch(text) is not None
