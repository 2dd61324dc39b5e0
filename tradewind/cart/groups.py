"""Groups the lines of a cart as marketplaces take them: by marketplace, seller and size. Pure."""

from collections.abc import Callable, Iterator, Sequence

from tradewind.cart.model import CartGroup, CartLine
from tradewind.platforms.contract import Traits


def group_lines(
    lines: Sequence[CartLine], traits_of: Callable[[str], Traits]
) -> Sequence[CartGroup]:
    """Group lines so that each group can be one order.

    Groups are sorted by marketplace and seller, so that leaving lines out does not reorder them. A
    marketplace that takes one seller an order has a group for each seller; a product whose seller
    is unknown has a group of its own.
    """
    by_key: dict[tuple[str, str, str], list[CartLine]] = {}
    for line in lines:
        by_key.setdefault(_key(line, traits_of(line.platform)), []).append(line)
    return [
        CartGroup(part)
        for _, members in sorted(by_key.items())
        for part in _parts(members, traits_of(members[0].platform).max_lines)
    ]


def _key(line: CartLine, traits: Traits) -> tuple[str, str, str]:
    if not traits.single_seller:
        return line.platform, "", ""
    if line.goods.seller_id is None:
        return line.platform, "product", line.product_id
    return line.platform, "seller", line.goods.seller_id


def _parts(lines: Sequence[CartLine], size: int) -> Iterator[Sequence[CartLine]]:
    return (lines[start : start + size] for start in range(0, len(lines), size))
