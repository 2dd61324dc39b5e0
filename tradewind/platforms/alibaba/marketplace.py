"""1688.com in the registry: its traits, its connector, its OAuth."""

from tradewind.platforms.access import AppCredentials
from tradewind.platforms.alibaba.connector import AlibabaConnector
from tradewind.platforms.alibaba.oauth import AlibabaOAuth
from tradewind.platforms.alibaba.traits import TRAITS
from tradewind.platforms.marketplace import Marketplace

ALIBABA = Marketplace(
    traits=TRAITS,
    default_url="https://gw.open.1688.com",
    connect=lambda client, access: AlibabaConnector(TRAITS, client, access),
    oauth=AlibabaOAuth(),
    demo=AppCredentials(
        "1000002",
        "alibaba-demo-secret",
        "alibaba-demo-access-token",
        "alibaba-demo-refresh-token",
    ),
    simulator_path="",
)
