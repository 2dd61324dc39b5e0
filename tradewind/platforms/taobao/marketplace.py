"""Taobao Global in the registry: its facts, its connector, its OAuth."""

from tradewind.platforms.access import demo_credentials
from tradewind.platforms.contract import Capability, Traits
from tradewind.platforms.marketplace import Marketplace
from tradewind.platforms.paced_client import PacedClient
from tradewind.platforms.taobao.connector import TaobaoConnector
from tradewind.platforms.taobao.errors import PLATFORM
from tradewind.platforms.taobao.links import LINKS
from tradewind.platforms.taobao.oauth import TaobaoOAuth
from tradewind.platforms.taobao.orders import ORDERS_A_PAGE
from tradewind.platforms.taobao.products import ITEM_PAGE

TRAITS = Traits(
    platform=PLATFORM,
    name="Taobao and Tmall",
    capabilities=frozenset(
        {
            Capability.SEARCH,
            Capability.DETAIL,
            Capability.IMAGE_SEARCH,
            Capability.PREVIEW,
            Capability.CREATE,
            Capability.CANCEL,
            Capability.PAY_AUTO,
            Capability.NOTICES,
        }
    ),
    max_lines=50,
    single_seller=False,
    most_orders_a_read=ORDERS_A_PAGE,
    picture_origins=("https://img.alicdn.com", "https://gw.alicdn.com"),
)
_URL = "https://api.taobao.global/rest"
_SIMULATOR_PATH = "/rest"


def _item_page(client: PacedClient) -> str:
    """Where a person sees a product: the marketplace's own pages, or the simulator's."""
    if client.base_url == _URL:
        return ITEM_PAGE
    return f"{client.base_url.removesuffix(_SIMULATOR_PATH)}/offer/"


TAOBAO = Marketplace(
    traits=TRAITS,
    default_url=_URL,
    connect=lambda client, access: TaobaoConnector(
        TRAITS, client, access, item_page=_item_page(client)
    ),
    oauth=TaobaoOAuth(),
    demo=demo_credentials(PLATFORM, "500003"),
    simulator_path=_SIMULATOR_PATH,
    links=LINKS,
)
