"""The sandbox in the registry: the connector of 1688, for a marketplace where nothing is real."""

from tradewind.platforms.access import demo_credentials
from tradewind.platforms.alibaba.connector import AlibabaConnector
from tradewind.platforms.alibaba.marketplace import same_dialect
from tradewind.platforms.alibaba.oauth import AlibabaOAuth
from tradewind.platforms.marketplace import Marketplace

TRAITS = same_dialect("sandbox", "Sandbox")

SANDBOX = Marketplace(
    traits=TRAITS,
    default_url=None,
    connect=lambda client, access: AlibabaConnector(TRAITS, client, access),
    oauth=AlibabaOAuth(),
    demo=demo_credentials("sandbox", "1000001"),
    simulator_path="",
    simulated_only=True,
)
