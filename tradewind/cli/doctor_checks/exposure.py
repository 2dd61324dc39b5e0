"""Checks who can reach the API's port, and whom this deployment believes and calls."""

import socket
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address
from urllib.parse import urlsplit

from tradewind.settings.parsers import Network
from tradewind.settings.settings import Settings, is_loopback

# A larger network of trusted proxies contains more than proxies.
_PROXIES = 256


def exposure_warnings(chosen: Settings) -> list[str]:
    """Warn of addresses in the settings that do not fit together."""
    warnings = []
    wide = [str(network) for network in chosen.trusted_proxies if network.num_addresses > _PROXIES]
    if wide:
        warnings.append(
            f"TRADEWIND_TRUSTED_PROXIES trusts all of {', '.join(wide)}: any machine there can "
            "claim to be any client. List the addresses of your proxies."
        )
    if chosen.metrics_listen is not None and _is_same_port(chosen, *chosen.metrics_listen):
        warnings.append(
            f"TRADEWIND_METRICS_LISTEN has the port of the API, {chosen.port}; each process needs "
            "a port of its own."
        )
    if not chosen.production:
        return warnings
    proxies_are_local = [network.is_loopback for network in chosen.trusted_proxies]
    if not proxies_are_local:
        warnings.append(
            "TRADEWIND_TRUSTED_PROXIES is empty, so every client has the address of the proxy, and "
            "all share one limit of logins; list your proxies."
        )
    elif all(proxies_are_local) and not is_loopback(chosen.host):
        warnings.append(
            f"TRADEWIND_HOST is {chosen.host}, so other machines reach the API without the proxy, "
            "which is on this one; set TRADEWIND_HOST=127.0.0.1."
        )
    elif not any(proxies_are_local) and is_loopback(chosen.host):
        warnings.append(
            f"TRADEWIND_HOST is {chosen.host}, so the proxies in TRADEWIND_TRUSTED_PROXIES cannot "
            "connect; leave out TRADEWIND_HOST."
        )
    return warnings


def own_address_warnings(chosen: Settings) -> list[str]:
    """Warn if a webhook could call this deployment. The name in the public URL is resolved."""
    name = urlsplit(chosen.public_url).hostname or ""
    try:
        addresses = [ip_address(text) for text in _resolved(name)]
    except OSError as error:
        return [f"The host of TRADEWIND_PUBLIC_URL, {name}, cannot be resolved ({error.strerror})."]
    missing = [
        str(address)
        for address in addresses
        if address.is_global and not _contains(chosen.own_addresses, address)
    ]
    if not missing:
        return []
    return [
        (
            f"TRADEWIND_OWN_ADDRESSES does not have {', '.join(missing)}, the address of "
            "TRADEWIND_PUBLIC_URL, so webhooks can call this deployment; add it."
        )
    ]


def _contains(networks: Sequence[Network], address: IPv4Address | IPv6Address) -> bool:
    return any(address in network for network in networks)


def _resolved(name: str) -> Sequence[str]:
    return sorted({str(info[4][0]) for info in socket.getaddrinfo(name, None)})


def _is_same_port(chosen: Settings, host: str, port: int) -> bool:
    return port == chosen.port != 0 and (
        host == chosen.host or "0.0.0.0" in (host, chosen.host)  # noqa: S104 - compared
    )
