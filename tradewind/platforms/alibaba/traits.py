"""What 1688 is like, and the same for a place that speaks its dialect under another name."""

from dataclasses import replace

from tradewind.platforms.contract import Capability, Traits

TRAITS = Traits(
    platform="alibaba",
    name="1688.com",
    capabilities=frozenset(Capability),
    max_lines=50,
    single_seller=True,
    largest_page=50,
    most_orders_a_read=20,
    most_orders_a_payment=100,
    aliases=("1688",),
    picture_origins=("https://cbu01.alicdn.com", "https://img.alicdn.com"),
)


def same_dialect(platform: str, name: str) -> Traits:
    """The traits of a marketplace that does all this under another name, as our simulator does."""
    return replace(TRAITS, platform=platform, name=name, aliases=(), picture_origins=())
