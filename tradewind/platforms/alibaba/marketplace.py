"""1688.com in the registry: its facts, its connector, its OAuth."""

from dataclasses import replace

from tradewind.platforms.access import demo_credentials
from tradewind.platforms.alibaba.connector import AlibabaConnector
from tradewind.platforms.alibaba.links import LINKS
from tradewind.platforms.alibaba.oauth import AlibabaOAuth
from tradewind.platforms.contract import Capability, Traits
from tradewind.platforms.marketplace import Marketplace

TRAITS = Traits(
    platform="alibaba",
    name="1688",
    capabilities=frozenset(Capability),
    max_lines=50,
    single_seller=True,
    most_orders_a_read=20,
    aliases=("1688",),
    picture_origins=("https://cbu01.alicdn.com", "https://img.alicdn.com"),
)


def same_dialect(platform: str, name: str) -> Traits:
    """Return the traits of a marketplace that speaks the same dialect under another name."""
    return replace(TRAITS, platform=platform, name=name, aliases=(), picture_origins=())


ALIBABA = Marketplace(
    traits=TRAITS,
    default_url="https://gw.open.1688.com",
    connect=lambda client, access: AlibabaConnector(TRAITS, client, access),
    oauth=AlibabaOAuth(),
    demo=demo_credentials("alibaba", "1000002"),
    simulator_path="",
    links=LINKS,
)
