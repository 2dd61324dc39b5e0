"""The payment mode of each marketplace: as configured, if the marketplace supports it."""

from collections.abc import Mapping

from tradewind.orders.payments.model import PayMode
from tradewind.platforms.contract import Capability
from tradewind.platforms.registry import Platforms


class PayModes:
    """The pay mode of every marketplace: `auto`, unless configured otherwise or not supported."""

    def __init__(self, platforms: Platforms, configured: Mapping[str, PayMode]) -> None:
        self._platforms = platforms
        self._configured = configured

    def of(self, platform: str) -> PayMode:
        capabilities = self._platforms.marketplace(platform).traits.capabilities
        mode = self._configured.get(platform, PayMode.AUTO)
        if mode is PayMode.AUTO and Capability.PAY_AUTO not in capabilities:
            return PayMode.LINK
        if mode is PayMode.LINK and Capability.PAY_LINK not in capabilities:
            return PayMode.AUTO
        return mode
