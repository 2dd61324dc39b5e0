"""Which IP addresses may be called: blocks private, loopback and other special networks.

The standard library's `is_private` and `is_global` are wrong for NAT64, 6to4, multicast and others
in some releases of Python, so nothing here depends on them: `ipaddress` only reads and compares.
"""

from collections.abc import Iterable
from functools import lru_cache
from ipaddress import (
    AddressValueError,
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
)

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

_BLOCKED_4 = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # this host, this network
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # behind a carrier's NAT; a cloud's metadata lives there too
        "127.0.0.0/8",  # loopback
        "168.63.129.16/32",  # a cloud's virtual machine agent, on an address that looks public
        "169.254.0.0/16",  # link-local: the metadata of most clouds
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocol assignments
        "192.0.2.0/24",  # documentation
        "192.31.196.0/24",  # AS112
        "192.52.193.0/24",  # AMT
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",  # private
        "192.175.48.0/24",  # AS112
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, broadcast
    )
)

# Only global unicast IPv6 addresses may be called, except ranges that embed an IPv4 address, are
# for documentation, or belong to a protocol.
_GIVEN_OUT_6 = IPv6Network("2000::/3")
_BLOCKED_6 = tuple(
    IPv6Network(network)
    for network in (
        "2001::/23",  # protocol assignments, Teredo
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4
        "2620:4f:8000::/48",  # AS112
        "3fff::/20",  # documentation
    )
)

_LOOPBACK_4 = IPv4Network("127.0.0.0/8")
_LOOPBACK_6 = IPv6Address("::1")


@lru_cache(maxsize=4096)
def read(text: str) -> Address | None:
    """The address that `text` spells in the one usual way, or None; the same object every time.

    `127.1`, `0x7f.0.0.1`, `127.0.0.01`, a zone (`fe80::1%eth0`) and IPv4 inside IPv6 in dotted form
    are not usual: some parsers read them, and they do not agree about what they mean.
    """
    try:
        if ":" not in text:
            return IPv4Address(text)
        if "%" in text or "." in text:
            return None
        return IPv6Address(text)
    except AddressValueError:
        return None


def is_loopback(address: Address) -> bool:
    if isinstance(address, IPv4Address):
        return address in _LOOPBACK_4
    return address == _LOOPBACK_6


def may_be_called(
    address: Address, *, own_addresses: Iterable[Network] = (), development: bool = False
) -> bool:
    """Whether a customer may have us connect to `address`.

    `own_addresses` are those that this deployment is reached at from outside. In development
    loopback may be called too, and nothing else that could not be called otherwise.
    """
    if any(address in network for network in own_addresses):
        return False
    if development and is_loopback(address):
        return True
    return _is_public(address)


@lru_cache(maxsize=4096)
def _is_public(address: Address) -> bool:
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _BLOCKED_4)
    return address in _GIVEN_OUT_6 and not any(address in network for network in _BLOCKED_6)
