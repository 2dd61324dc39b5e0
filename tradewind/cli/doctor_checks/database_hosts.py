"""Checks addresses with several database hosts: only the one that takes changes may be used."""

from urllib.parse import parse_qs, urlsplit

from tradewind.settings.settings import Settings
from tradewind.storage.hosts import hosts_of

_ACCEPTED = ("read-write", "primary")


def database_host_warnings(chosen: Settings) -> list[str]:
    """Warn of each address whose connections may lead to a standby."""
    addresses = {
        "TRADEWIND_DATABASE_URL": chosen.database_url,
        "TRADEWIND_DATABASE_DIRECT_URL": chosen.database_direct_url,
    }
    return [
        (
            f"{name} has several hosts, and a connection may lead to a standby; add "
            "target_session_attrs=read-write to it."
        )
        for name, url in addresses.items()
        if may_lead_to_standby(url)
    ]


def may_lead_to_standby(url: str) -> bool:
    """Whether the address has several hosts, and does not ask for the one that takes changes."""
    attributes = parse_qs(urlsplit(url).query).get("target_session_attrs", ["any"])[-1]
    return len(hosts_of(url)) > 1 and attributes not in _ACCEPTED
