"""Parsers of settings: each says in its error what the text must be."""

import operator
from collections.abc import Callable, Mapping
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from urllib.parse import parse_qsl, urlsplit

Network = IPv4Network | IPv6Network

SECRET_BYTES = 32
LARGEST_PORT = 65535
_LARGEST_PLAN = 6_000_000
_SSL_MODES = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")


def choice(*words: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in words:
            raise ValueError(f"must be one of {', '.join(filter(None, words))}")
        return text

    return read


def number(low: int, high: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not text.isdecimal() or not low <= int(text) <= high:
            raise ValueError(f"must be a whole number from {low} to {high}")
        return int(text)

    return read


def seconds_of_at_least(*least: int) -> Callable[[str], tuple[int, ...]]:
    """As many whole numbers of seconds as there are minimums, none below its own."""

    def read(text: str) -> tuple[int, ...]:
        parts = items(text)
        seconds = tuple(int(part) for part in parts if part.isdecimal())
        if not len(seconds) == len(parts) == len(least) or any(map(operator.lt, seconds, least)):
            raise ValueError(
                f"must be {len(least)} whole numbers of seconds, separated by commas, "
                f"of at least {' and '.join(map(str, least))}"
            )
        return seconds

    return read


def items(text: str) -> list[str]:
    return [item.strip() for item in text.split(",") if item.strip()]


def secrets(text: str) -> tuple[bytes, ...]:
    parsed = []
    for item in items(text):
        try:
            secret = bytes.fromhex(item)
        except ValueError:
            secret = b""
        if len(secret) != SECRET_BYTES:
            raise ValueError(
                "must be 64 hexadecimal digits (32 random bytes), or several, separated by commas"
            )
        parsed.append(secret)
    return tuple(parsed)


def url(*schemes: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text and (urlsplit(text).scheme not in schemes or not urlsplit(text).netloc):
            raise ValueError(
                f"must be a URL that starts with {' or '.join(s + '://' for s in schemes)}"
            )
        return text.rstrip("/") if "http" in schemes else text

    return read


def database(text: str) -> str:
    if not text:
        return text
    expected = "must be like postgresql://user:password@host:5432/database?sslmode=require"
    try:
        parts = urlsplit(text)
        query = dict(parse_qsl(parts.query, strict_parsing=bool(parts.query)))
    except ValueError:
        raise ValueError(expected) from None
    hosts = parts.netloc.rpartition("@")[2].split(",")  # there may be several
    ports = [host.rpartition("]")[2].partition(":")[2] or "5432" for host in hosts]
    has_scheme = parts.scheme in ("postgresql", "postgres")
    has_ports = all(port.isdecimal() and 0 < int(port) <= LARGEST_PORT for port in ports)
    if not has_scheme or not has_ports or query.get("sslmode", "prefer") not in _SSL_MODES:
        raise ValueError(expected)
    return text


def networks(text: str) -> tuple[Network, ...]:
    try:
        return tuple(ip_network(item, strict=False) for item in items(text))
    except ValueError:
        raise ValueError(
            "must be a list of networks, separated by commas, such as 10.0.0.0/8,::1/128"
        ) from None


def origins(text: str) -> tuple[str, ...]:
    for item in items(text):
        parts = urlsplit(item)
        if parts.scheme not in ("http", "https") or not parts.netloc or parts.path:
            raise ValueError(
                "must be a list of origins, separated by commas, such as https://shop.example"
            )
    return tuple(items(text))


def listen(text: str) -> tuple[str, int] | None:
    if not text:
        return None
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or int(port) > LARGEST_PORT:
        raise ValueError("must be host:port, such as 127.0.0.1:9464")
    return host.strip("[]"), int(port)


def host(text: str) -> str:
    try:
        return str(ip_address("127.0.0.1" if text == "localhost" else text)) if text else ""
    except ValueError:
        raise ValueError("must be an IP address, such as 127.0.0.1 or ::1, or localhost") from None


def plans(text: str) -> Mapping[str, int]:
    limits = {}
    for item in items(text):
        name, _, number = item.partition("=")
        exists = name in ("free", "pro", "enterprise")
        if not exists or not number.isdecimal() or not 1 <= int(number) <= _LARGEST_PLAN:
            raise ValueError(
                "must be like free=120,pro=1200,enterprise=12000, with 1 to "
                f"{_LARGEST_PLAN} requests a minute"
            )
        limits[name] = int(number)
    return {"free": 120, "pro": 1200, "enterprise": 12000, **limits}


def yes_or_no(text: str) -> bool:
    if text not in ("", "yes", "no"):
        raise ValueError("must be yes or no")
    return text == "yes"


def ports(text: str) -> tuple[int, ...]:
    numbers = items(text)
    if not numbers or not all(
        port.isdecimal() and 0 < int(port) <= LARGEST_PORT for port in numbers
    ):
        raise ValueError("must be a list of ports, separated by commas, such as 443,8443")
    return tuple(map(int, numbers))


def servers(text: str) -> tuple[str, ...]:
    for item in items(text):
        try:
            address = listen(item)
        except ValueError:
            address = None
        if address is None:
            raise ValueError(
                "must be a list of host:port, separated by commas, such as 10.0.0.2:53"
            )
    return tuple(items(text))
