"""How the text of a setting is read: each reader says in its error what the text should be."""

from collections.abc import Callable, Mapping
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from urllib.parse import parse_qsl, urlsplit

Network = IPv4Network | IPv6Network

SECRET_BYTES = 32
LARGEST_PORT = 65535
_LARGEST_PLAN = 6_000_000
_SSL_MODES = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")


def one_of(*words: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in words:
            raise ValueError(f"is one of {', '.join(filter(None, words))}")
        return text

    return read


def number(low: int, high: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not text.isdecimal() or not low <= int(text) <= high:
            raise ValueError(f"is a whole number from {low} to {high}")
        return int(text)

    return read


def items(text: str) -> list[str]:
    return [item.strip() for item in text.split(",") if item.strip()]


def secrets(text: str) -> tuple[bytes, ...]:
    found = []
    for item in items(text):
        try:
            secret = bytes.fromhex(item)
        except ValueError:
            secret = b""
        if len(secret) != SECRET_BYTES:
            raise ValueError("is 64 hexadecimal digits (32 random bytes), or several by comma")
        found.append(secret)
    return tuple(found)


def url(*schemes: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text and (urlsplit(text).scheme not in schemes or not urlsplit(text).netloc):
            raise ValueError(f"is a URL that begins with {' or '.join(s + '://' for s in schemes)}")
        return text.rstrip("/") if "http" in schemes else text

    return read


def database(text: str) -> str:
    if not text:
        return text
    wrong = "is like postgresql://user:password@host:5432/database?sslmode=require"
    try:
        parts = urlsplit(text)
        query = dict(parse_qsl(parts.query, strict_parsing=bool(parts.query)))
    except ValueError:
        raise ValueError(wrong) from None
    hosts = parts.netloc.rpartition("@")[2].split(",")  # there may be several
    ports = [host.rpartition("]")[2].partition(":")[2] or "5432" for host in hosts]
    named = parts.scheme in ("postgresql", "postgres")
    reachable = all(port.isdecimal() and 0 < int(port) <= LARGEST_PORT for port in ports)
    if not named or not reachable or query.get("sslmode", "prefer") not in _SSL_MODES:
        raise ValueError(wrong)
    return text


def networks(text: str) -> tuple[Network, ...]:
    try:
        return tuple(ip_network(item, strict=False) for item in items(text))
    except ValueError:
        raise ValueError("is a list of networks by comma, such as 10.0.0.0/8,::1/128") from None


def origins(text: str) -> tuple[str, ...]:
    for item in items(text):
        parts = urlsplit(item)
        if parts.scheme not in ("http", "https") or not parts.netloc or parts.path:
            raise ValueError("is a list of origins by comma, such as https://shop.example")
    return tuple(items(text))


def listen(text: str) -> tuple[str, int] | None:
    if not text:
        return None
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or int(port) > LARGEST_PORT:
        raise ValueError("is host:port, such as 127.0.0.1:9464")
    return host.strip("[]"), int(port)


def host(text: str) -> str:
    try:
        return str(ip_address("127.0.0.1" if text == "localhost" else text)) if text else ""
    except ValueError:
        raise ValueError("is an IP address, such as 127.0.0.1 or ::1, or localhost") from None


def plans(text: str) -> Mapping[str, int]:
    found = {}
    for item in items(text):
        name, _, number = item.partition("=")
        known = name in ("free", "pro", "enterprise")
        if not known or not number.isdecimal() or not 1 <= int(number) <= _LARGEST_PLAN:
            raise ValueError(
                f"is free=120,pro=1200,enterprise=12000: 1 to {_LARGEST_PLAN} requests a minute"
            )
        found[name] = int(number)
    return {"free": 120, "pro": 1200, "enterprise": 12000, **found}


def yes(text: str) -> bool:
    if text not in ("", "yes", "no"):
        raise ValueError("is yes or no")
    return text == "yes"


def ports(text: str) -> tuple[int, ...]:
    found = items(text)
    if not found or not all(one.isdecimal() and 0 < int(one) <= LARGEST_PORT for one in found):
        raise ValueError("is a list of ports by comma, such as 443,8443")
    return tuple(int(one) for one in found)


def servers(text: str) -> tuple[str, ...]:
    for item in items(text):
        try:
            named = listen(item)
        except ValueError:
            named = None
        if named is None:
            raise ValueError("is a list of host:port by comma, such as 10.0.0.2:53")
    return tuple(items(text))
