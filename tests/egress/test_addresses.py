"""The table of blocked addresses: the edges of every network, and nothing outside it."""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tradewind.egress import addresses
from tradewind.egress.addresses import Address, may_be_called

REFUSED_4 = [
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "168.63.129.16/32",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.31.196.0/24",
    "192.52.193.0/24",
    "192.88.99.0/24",
    "192.168.0.0/16",
    "192.175.48.0/24",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/4",
    "240.0.0.0/4",
]
REFUSED_6 = ["2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20"]

V4 = st.integers(0, 2**32 - 1).map(IPv4Address)
V6 = st.integers(0, 2**128 - 1).map(IPv6Address)
GIVEN_OUT = st.integers(0x2 << 124, (0x4 << 124) - 1).map(IPv6Address)


def refused(address: Address) -> bool:
    """The same rule, worked out another way: by the bits that a network's members share."""
    if isinstance(address, IPv4Address):
        return any(_shares(address, network, 32) for network in REFUSED_4)
    return not _shares(address, "2000::/3", 128) or any(
        _shares(address, network, 128) for network in REFUSED_6
    )


def _shares(address: Address, network: str, bits: int) -> bool:
    base, _, length = network.partition("/")
    kind = IPv4Address if bits == 32 else IPv6Address
    shift = bits - int(length)
    return int(address) >> shift == int(kind(base)) >> shift


@settings(deadline=None)
@given(st.one_of(V4, V6, GIVEN_OUT))
def test_the_table_is_the_rule(address: Address) -> None:
    assert may_be_called(address) is not refused(address)


@pytest.mark.parametrize("text", REFUSED_4)
def test_the_edges_of_ipv4_networks(text: str) -> None:
    network = IPv4Network(text)
    first, last = int(network.network_address), int(network.broadcast_address)

    for number in (first, last, (first + last) // 2):
        assert not may_be_called(IPv4Address(number))
    for number in (first - 1, last + 1):
        if 0 <= number < 2**32:
            address = IPv4Address(number)
            assert may_be_called(address) is not refused(address)


@pytest.mark.parametrize("text", REFUSED_6)
def test_the_edges_of_ipv6_networks(text: str) -> None:
    network = IPv6Network(text)
    first, last = int(network.network_address), int(network.broadcast_address)

    assert not may_be_called(IPv6Address(first))
    assert not may_be_called(IPv6Address(last))
    assert may_be_called(IPv6Address(last + 1))
    for number in (first - 1, last + 1):
        address = IPv6Address(number)
        assert may_be_called(address) is not refused(address)


@settings(deadline=None)
@given(V4)
def test_no_ipv4_address_slips_through_inside_an_ipv6_one(address: IPv4Address) -> None:
    number = int(address)
    for wrapped in (
        number,  # compatible
        0xFFFF << 32 | number,  # mapped
        0x64FF9B << 96 | number,  # NAT64
        0x64FF9B0001 << 80 | number,  # NAT64, local
        0x2002 << 112 | number << 80,  # 6to4
        0x20010000 << 96 | number ^ 0xFFFFFFFF,  # Teredo
        0xFE80 << 112 | 0x5EFE << 32 | number,  # ISATAP
    ):
        assert not may_be_called(IPv6Address(wrapped))
        assert not may_be_called(IPv6Address(wrapped), development=True) or wrapped == 1


@settings(deadline=None)
@given(st.one_of(V4, V6, st.integers(0x7F000000, 0x7FFFFFFF).map(IPv4Address)))
def test_development_adds_loopback_and_nothing_else(address: Address) -> None:
    added = may_be_called(address, development=True) and not may_be_called(address)

    is_loopback = str(address).startswith("127.") or str(address) == "::1"
    assert added is is_loopback


@settings(deadline=None)
@given(st.one_of(V4, GIVEN_OUT))
def test_our_own_addresses_are_refused(address: Address) -> None:
    own = [ip_network(address)]

    assert not may_be_called(address, own_addresses=own)
    assert not may_be_called(address, own_addresses=own, development=True)
    other = address + 1 if int(address) % 2 == 0 else address - 1
    assert may_be_called(other, own_addresses=own) is may_be_called(other)


def test_our_own_network_is_refused_whole() -> None:
    own = [ip_network("93.184.216.0/24"), ip_network("2606:2800:220:1::/64")]

    assert not may_be_called(IPv4Address("93.184.216.255"), own_addresses=own)
    assert not may_be_called(IPv6Address("2606:2800:220:1:ffff::1"), own_addresses=own)
    assert may_be_called(IPv4Address("93.184.217.0"), own_addresses=own)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "127.1",
        "0x7f.0.0.1",
        "127.0.0.01",
        "1.2.3.4.5",
        "256.1.1.1",
        "1.2.3",
        "fe80::1%eth0",
        "::ffff:1.2.3.4",
        ":::",
        "1::2::3",
        "\u0661.1.1.1",
        " 1.1.1.1",
        "1.1.1.1\n",
        "::1\n",
        "1:2:3:4:5:6:7",
    ],
)
def test_what_is_not_spelled_as_usual_is_no_address(text: str) -> None:
    assert addresses.read(text) is None
