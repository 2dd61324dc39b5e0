"""Where one can go: the pages in the sidebar, by role. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tradewind.auth.model import Role


@dataclass(frozen=True, slots=True)
class Place:
    """A line of the sidebar. No role: everybody has it."""

    label: str
    href: str
    role: Role | None = None
    is_here: bool = False


@dataclass(frozen=True, slots=True)
class Section:
    """Lines that belong together; the first section has no heading."""

    heading: str
    places: Sequence[Place]


_SECTIONS = (
    Section(
        "",
        (
            Place("Overview", "/"),
            Place("Orders", "/orders", Role.BUYER),
            Place("Products", "/products"),
            Place("Webhooks", "/webhooks", Role.BUYER),
            Place("API keys", "/keys"),
        ),
    ),
    Section("Approve", (Place("Approvals", "/approvals", Role.APPROVER),)),
    Section(
        "Operate",
        (
            Place("Accounts", "/accounts", Role.OPERATOR),
            Place("All orders", "/admin/orders", Role.OPERATOR),
            Place("All webhooks", "/endpoints", Role.OPERATOR),
            Place("Queue", "/queue", Role.OPERATOR),
            Place("Marketplaces", "/platforms", Role.OPERATOR),
            Place("Audit log", "/audit", Role.OPERATOR),
        ),
    ),
)


def sidebar(roles: frozenset[str], path: str) -> Sequence[Section]:
    """The sections that someone with these roles has, with the place of `path` marked."""
    return tuple(_shown(roles, path))


def _shown(roles: frozenset[str], path: str) -> Iterator[Section]:
    for section in _SECTIONS:
        places = tuple(
            Place(place.label, place.href, place.role, _is_within(path, place.href))
            for place in section.places
            if place.role is None or place.role in roles
        )
        if places:
            yield Section(section.heading, places)


def _is_within(path: str, href: str) -> bool:
    return path == href or (href != "/" and path.startswith(href + "/"))
