"""An API key without its secret, and what it is restricted to."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from ipaddress import IPv4Network, IPv6Network, ip_network
from uuid import UUID

from tradewind.web.scopes import Scope

Network = IPv4Network | IPv6Network


@dataclass(frozen=True, slots=True)
class KeyLimits:
    """What a key is restricted to; None: not in this respect.

    Without `scopes` a key can do what its account can. `allowed_cidrs` are the networks that it can
    be used from.
    """

    scopes: Sequence[Scope] | None = None
    expires_at: datetime | None = None
    allowed_cidrs: Sequence[Network] | None = None

    @staticmethod
    def of(
        scopes: Iterable[str] | None,
        expires_at: datetime | None,
        cidrs: Iterable[str] | None,
    ) -> "KeyLimits":
        """The limits in their canonical form: each scope and network once, in a fixed order."""
        named = None if scopes is None else frozenset(scopes)
        return KeyLimits(
            None if named is None else [scope for scope in Scope if scope in named],
            expires_at,
            None if cidrs is None else list(dict.fromkeys(ip_network(cidr) for cidr in cidrs)),
        )


UNLIMITED = KeyLimits()


@dataclass(frozen=True, slots=True)
class ApiKey:
    """An API key. Its secret is not stored."""

    id: UUID
    account_id: UUID
    name: str
    prefix: str
    created_at: datetime
    last_used_at: datetime | None
    revoked_at: datetime | None
    limits: KeyLimits
    # Whether it had expired when it was read.
    expired: bool


def is_network(text: str) -> bool:
    """Whether this is a network without host bits, or an address, that requests can come from."""
    try:
        network = ip_network(text)
    except ValueError:
        return False
    if not isinstance(network, IPv6Network):
        return True
    # A zone means something on one machine only, and IPv4 in IPv6 is compared as IPv4.
    return "%" not in text and network.network_address.ipv4_mapped is None
