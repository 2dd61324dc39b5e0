"""Taobao Global in the registry: its traits, its connector, its OAuth."""

from tradewind.platforms.access import Given
from tradewind.platforms.marketplace import Marketplace
from tradewind.platforms.taobao.connector import TRAITS, Taobao
from tradewind.platforms.taobao.oauth import OAuth

TAOBAO = Marketplace(
    traits=TRAITS,
    default_url="https://api.taobao.global/rest",
    connect=Taobao,
    oauth=OAuth(),
    demo=Given(
        "500003",
        "taobao-demo-secret",
        "taobao-demo-access-token",
        "taobao-demo-refresh-token",
    ),
)
