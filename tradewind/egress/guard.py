"""Whether a URL may be called, and at which addresses: at its registration and every attempt."""

from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address
from typing import Final, Protocol

from tradewind.egress import addresses, grammar
from tradewind.egress.addresses import Address, Network
from tradewind.egress.grammar import Target
from tradewind.errors import TradewindError

USUAL_PORTS: Final = frozenset({443, 8443})
_LOCALHOST: Final = (IPv4Address("127.0.0.1"), IPv6Address("::1"))


class Lookup(Protocol):
    """Finds all addresses of a name, IPv4 and IPv6, or raises `resolver.LookupFailed`.

    `remembered` are those that were found a moment ago, if they were.
    """

    def remembered(self, name: str) -> tuple[Address, ...] | None: ...

    async def addresses(self, name: str) -> tuple[Address, ...]: ...


class AddressBlocked(TradewindError):
    """An address must not be called. The message is the same for every address and names none."""

    def __init__(self) -> None:
        super().__init__("The URL leads to an address that may not be called.")


@dataclass(frozen=True, slots=True)
class Policy:
    """What customers may have us call.

    `own_addresses` are the addresses at which this deployment is reached from outside.
    """

    ports: frozenset[int] = USUAL_PORTS
    own_addresses: tuple[Network, ...] = ()
    development: bool = False

    def read(self, url: str) -> Target:
        return _read(url, self.ports, self.development)

    def allows(self, address: Address) -> bool:
        return addresses.may_be_called(
            address, own_addresses=self.own_addresses, development=self.development
        )


@dataclass(frozen=True, slots=True)
class Admitted:
    """A URL that may be called, now, at these addresses and no others; there is at least one."""

    target: Target
    addresses: tuple[Address, ...]


async def admit(url: str, policy: Policy, lookup: Lookup) -> Admitted:
    """Read, resolve and check a URL; UrlRejected, LookupFailed or AddressBlocked if it must not be.

    A name with one blocked address is blocked: mixed addresses suggest an attack, and we cannot
    know which one would be used.
    """
    target, resolved = read(url, policy)
    if resolved is None:
        resolved = checked(await lookup.addresses(target.host), policy)
    return Admitted(target, resolved)


def known_addresses(target: Target) -> tuple[Address, ...] | None:
    """The addresses of a target that needs no name server, else None."""
    if target.literal is not None:
        return (target.literal,)
    if target.host == "localhost":  # the grammar lets it through in development only
        return _LOCALHOST
    return None


def checked(resolved: tuple[Address, ...], policy: Policy) -> tuple[Address, ...]:
    """The same addresses, or AddressBlocked if there is none, or one that must not be called."""
    if not _allowed(resolved, policy):
        raise AddressBlocked
    return resolved


@lru_cache(maxsize=4096)
def _allowed(resolved: tuple[Address, ...], policy: Policy) -> bool:
    """Check the addresses. The table never changes, so results are cached."""
    return bool(resolved) and all(policy.allows(address) for address in resolved)


def read(url: str, policy: Policy) -> tuple[Target, tuple[Address, ...] | None]:
    """A URL that may be called, and its addresses if no name server need be asked for them."""
    target = policy.read(url)
    resolved = known_addresses(target)
    return target, None if resolved is None else checked(resolved, policy)


@lru_cache(maxsize=1024)
def _read(url: str, ports: frozenset[int], development: bool) -> Target:
    return grammar.parse(url, ports=ports, development=development)
