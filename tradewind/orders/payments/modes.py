"""How payments are made on each platform: as it is set, as far as the platform can."""

from collections.abc import Mapping

from tradewind.orders.model import PayMode
from tradewind.platforms.contract import Capability
from tradewind.platforms.registry import Platforms


class PayModes:
    """The pay mode of every platform: `auto` unless it is set otherwise or cannot be done."""

    def __init__(self, platforms: Platforms, chosen: Mapping[str, PayMode]) -> None:
        self._platforms = platforms
        self._chosen = chosen

    def of(self, platform: str) -> PayMode:
        able = self._platforms.marketplace(platform).traits.capabilities
        wanted = self._chosen.get(platform, PayMode.AUTO)
        if wanted is PayMode.AUTO and Capability.PAY_AUTO not in able:
            return PayMode.LINK
        if wanted is PayMode.LINK and Capability.PAY_LINK not in able:
            return PayMode.AUTO
        return wanted
