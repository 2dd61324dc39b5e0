"""The links of the sidebar, by role. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tradewind.auth.model import Role


@dataclass(frozen=True, slots=True)
class SidebarLink:
    """A link of the sidebar; without a role, everybody has it."""

    label: str
    href: str
    role: Role | None = None
    is_current: bool = False


@dataclass(frozen=True, slots=True)
class SidebarSection:
    """A group of links; the first group has no heading."""

    heading: str
    links: Sequence[SidebarLink]


_SECTIONS = (
    SidebarSection(
        "",
        (
            SidebarLink("Overview", "/"),
            SidebarLink("Orders", "/orders", Role.BUYER),
            SidebarLink("Products", "/products"),
            SidebarLink("Webhooks", "/webhooks", Role.BUYER),
            SidebarLink("API keys", "/keys"),
        ),
    ),
    SidebarSection("Approve", (SidebarLink("Approvals", "/approvals", Role.APPROVER),)),
    SidebarSection(
        "Operate",
        (
            SidebarLink("Accounts", "/accounts", Role.OPERATOR),
            SidebarLink("All orders", "/admin/orders", Role.OPERATOR),
            SidebarLink("All webhooks", "/endpoints", Role.OPERATOR),
            SidebarLink("Queue", "/queue", Role.OPERATOR),
            SidebarLink("Marketplaces", "/platforms", Role.OPERATOR),
            SidebarLink("Audit log", "/audit", Role.OPERATOR),
        ),
    ),
)


def sidebar(roles: frozenset[str], path: str) -> Sequence[SidebarSection]:
    """The sections for these roles, with the link of the current page marked."""
    return tuple(_sections(roles, path))


def _sections(roles: frozenset[str], path: str) -> Iterator[SidebarSection]:
    for section in _SECTIONS:
        links = tuple(
            replace(link, is_current=_is_within(path, link.href))
            for link in section.links
            if link.role is None or link.role in roles
        )
        if links:
            yield SidebarSection(section.heading, links)


def _is_within(path: str, href: str) -> bool:
    return path == href or (href != "/" and path.startswith(href + "/"))
