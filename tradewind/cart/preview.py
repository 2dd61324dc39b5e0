"""Previews a cart: what each of its groups would cost now, and what cannot be bought."""

from collections.abc import Sequence
from functools import partial

from tradewind.cart.model import CartGroup, GroupError, GroupPreview
from tradewind.errors import ApiError, Conflict, Invalid, UpstreamFailed
from tradewind.orders import place as placing
from tradewind.orders.model import NewOrder
from tradewind.platforms.contract import Capability
from tradewind.platforms.errors import PlatformAuthExpired, PlatformBusy
from tradewind.platforms.fan_out import fan_out
from tradewind.platforms.model import Address
from tradewind.platforms.pacing import Purpose
from tradewind.platforms.registry import Platforms

# The errors that end one group and leave the others as they are.
GROUP_ERRORS: tuple[type[ApiError], ...] = (
    Conflict,
    Invalid,
    UpstreamFailed,
    PlatformBusy,
    PlatformAuthExpired,
)


def new_order(group: CartGroup, address: Address, expected_fen: int | None = None) -> NewOrder:
    """The order that a group becomes."""
    return NewOrder(
        platform=group.platform,
        lines=[line.order_line for line in group.lines],
        address=address,
        remark=None,
        expected_fen=expected_fen,
        external_id=None,
        metadata={},
    )


async def preview_groups(
    platforms: Platforms, groups: Sequence[CartGroup], address: Address
) -> Sequence[GroupPreview]:
    """Preview every group, a few at a time. A group that fails does not stop the others."""
    return await fan_out(partial(_preview, platforms, group, address) for group in groups)


async def _preview(platforms: Platforms, group: CartGroup, address: Address) -> GroupPreview:
    try:
        connector = await platforms.able(group.platform, Capability.PREVIEW, Purpose.BROWSE)
        preview = await placing.preview(connector, new_order(group, address))
    except GROUP_ERRORS as error:
        return GroupPreview(group, None, GroupError.of(error, group))
    return GroupPreview(group, preview, None)
