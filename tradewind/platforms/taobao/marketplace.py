"""Taobao Global in the registry: its traits, its connector, its OAuth."""

from tradewind.platforms.access import Given
from tradewind.platforms.marketplace import Marketplace
from tradewind.platforms.paced_client import Link
from tradewind.platforms.taobao.connector import TRAITS, Taobao
from tradewind.platforms.taobao.oauth import OAuth
from tradewind.platforms.taobao.products import ITEM_PAGE

_URL = "https://api.taobao.global/rest"


def _item_page(link: Link) -> str:
    """Where a person sees a product: the marketplace's own pages, or the simulator's."""
    if link.base_url == _URL:
        return ITEM_PAGE
    return f"{link.base_url.removesuffix('/rest')}/offer/"


TAOBAO = Marketplace(
    traits=TRAITS,
    default_url=_URL,
    connect=lambda link, access: Taobao(link, access, item_page=_item_page(link)),
    oauth=OAuth(),
    demo=Given(
        "500003",
        "taobao-demo-secret",
        "taobao-demo-access-token",
        "taobao-demo-refresh-token",
    ),
)
