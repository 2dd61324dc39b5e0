"""Works out how many pieces of a line are in each parcel, from what marketplaces say. Pure."""

from collections import Counter
from collections.abc import Mapping

from tradewind.platforms.model import Item, PlatformOrder, PlatformOrderStatus

_ALL_SHIPPED = frozenset(
    {PlatformOrderStatus.SHIPPED, PlatformOrderStatus.RECEIVED, PlatformOrderStatus.COMPLETED}
)


def pieces_per_parcel(part: PlatformOrder) -> Mapping[str, int | None]:
    """How many pieces of each line every parcel holds that names it; None where that is unknown.

    Marketplaces list the lines of a parcel without quantities. A parcel that names a line holds at
    least one piece of it, so as many parcels as pieces hold one each. The only parcel of a line
    that is shipped holds all of it. Nothing else is certain.
    """
    parcels = Counter(item_id for parcel in part.shipments for item_id in set(parcel.item_ids))
    return {item.id: _pieces(part, item, parcels[item.id]) for item in part.items}


def _pieces(part: PlatformOrder, item: Item, parcels: int) -> int | None:
    if parcels == item.quantity:
        return 1
    is_shipped = item.shipped or part.status in _ALL_SHIPPED
    return item.quantity if parcels == 1 and is_shipped else None
