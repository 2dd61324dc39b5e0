"""A strict parser for the URLs that customers give us."""

import re
from dataclasses import dataclass
from typing import Final

from tradewind.egress import addresses
from tradewind.egress.addresses import Address
from tradewind.errors import TradewindError

LONGEST_URL: Final = 2048
_LONGEST_NAME: Final = 253
_HIGHEST_PORT: Final = 65535
_USUAL_PORTS: Final = {"https": 443, "http": 80}

# The parts are cut at the first character that can end them, and then each part is held to its own
# rule. Nothing is decoded, stripped or repaired on the way: what is not exactly right is refused.
_PARTS: Final = re.compile(
    r"(?P<scheme>[A-Za-z]+)://(?P<authority>[^/?#\\]*)(?P<path>/[^?]*)?(?P<query>\?.*)?",
    re.DOTALL,
)
_AUTHORITY: Final = re.compile(r"(?P<host>\[[0-9A-Fa-f:]+\]|[0-9A-Za-z.-]+)(?::(?P<port>[0-9]+))?")
_PORT: Final = re.compile(r"[1-9][0-9]{0,4}")
_LABEL: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
_PRINTED: Final = re.compile(r"[\x21-\x7e]*")
_PATH_AND_QUERY: Final = re.compile(r"(?:[A-Za-z0-9\-._~!$&'()*+,;=:@/?\[\]]|%[0-9A-Fa-f]{2})*")

# Endings that never belong to a public name; a resolver may know them all the same.
_NOT_PUBLIC: Final = frozenset(
    [
        "localhost",
        "local",
        "internal",
        "localdomain",
        "lan",
        "home",
        "corp",
        "intranet",
        "private",
        "svc",
        "cluster",
        "arpa",
        "onion",
        "test",
        "invalid",
        "example",
    ]
)

_SENTENCES: Final = {
    "too_long": f"The URL is longer than {LONGEST_URL} characters.",
    "characters": (
        "The URL may hold visible ASCII characters only: write others percent-encoded, and a "
        "name with other letters in its xn-- form."
    ),
    "backslash": "The URL contains a backslash.",
    "form": "The URL must be written as https://name/path.",
    "scheme": "The URL must begin with https://.",
    "fragment": "The URL must not have a fragment (#).",
    "credentials": "The URL must not carry a user name or password (@).",
    "host": "The host must be a public name with a dot in it, or an address in its usual form.",
    "port": "The URL's port is not one that may be called.",
    "path": "The path and query hold characters that must be percent-encoded.",
}


class UrlRejected(TradewindError):
    """A URL is not written as we want it. `reason` is a short code, the message a sentence."""

    def __init__(self, reason: str) -> None:
        super().__init__(_SENTENCES[reason])
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Target:
    """What a URL says: whom to call, and what to ask for.

    `host` is in lower case, and in brackets where it is an IPv6 address; `literal` is the address
    where it is one. `path` is path and query as given, and never empty. `url` is all of it again,
    in its one spelling. `origin` is its part before the path. `authority` is what a request says as
    its host: without the port, where the scheme has no other.
    """

    scheme: str
    host: str
    port: int
    path: str
    literal: Address | None
    origin: str
    authority: str

    @property
    def url(self) -> str:
        return self.origin + self.path


def parse(url: str, *, ports: frozenset[int], development: bool = False) -> Target:
    """Read a URL, or raise UrlRejected.

    `ports` are those that may be called. In development http is accepted as well, any port, and
    the name `localhost`. Whether an address in it may be called is for `addresses` to say.
    """
    parts = _parts(url)
    scheme = parts["scheme"].lower()
    if scheme != "https" and not (development and scheme == "http"):
        raise UrlRejected("scheme")
    match = _AUTHORITY.fullmatch(parts["authority"])
    if match is None:
        raise UrlRejected("credentials" if "@" in parts["authority"] else "host")
    host, literal = _host(match["host"].lower(), development=development)
    port = _port(match["port"], scheme)
    if port not in ports and not development:
        raise UrlRejected("port")
    path = (parts["path"] or "/") + (parts["query"] or "")
    if not _PATH_AND_QUERY.fullmatch(path):
        raise UrlRejected("path")
    authority = host if port == _USUAL_PORTS[scheme] else f"{host}:{port}"
    return Target(scheme, host, port, path, literal, f"{scheme}://{host}:{port}", authority)


def _parts(url: str) -> re.Match[str]:
    if len(url) > LONGEST_URL:
        raise UrlRejected("too_long")
    if not _PRINTED.fullmatch(url):
        raise UrlRejected("characters")
    if "\\" in url:
        raise UrlRejected("backslash")
    if "#" in url:
        raise UrlRejected("fragment")
    parts = _PARTS.fullmatch(url)
    if parts is None:
        raise UrlRejected("form")
    return parts


def _host(host: str, *, development: bool) -> tuple[str, Address | None]:
    literal = addresses.read(host[1:-1] if host.startswith("[") else host)
    if literal is not None:
        return host, literal
    if development and host == "localhost":
        return host, None
    labels = host.split(".")
    if (
        len(host) > _LONGEST_NAME
        or len(labels) == 1
        or not all(_LABEL.fullmatch(label) for label in labels)
        or not labels[-1][0].isalpha()  # 127, 0x7f: some parsers would read the whole as a number
        or labels[-1] in _NOT_PUBLIC
    ):
        raise UrlRejected("host")
    return host, None


def _port(text: str | None, scheme: str) -> int:
    if text is None:
        return _USUAL_PORTS[scheme]
    if not _PORT.fullmatch(text) or int(text) > _HIGHEST_PORT:
        raise UrlRejected("port")
    return int(text)
