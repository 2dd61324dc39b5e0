"""Links to products at Taobao and Tmall: desktop, mobile, and short links without the ID."""

import re

from tradewind.platforms.product_links import Link, ProductLinks, leading_id
from tradewind.platforms.taobao.products import ITEM_PAGE

_IN_PATH = re.compile(r"/(?:item/|i)(?=[0-9])")
_ITEM_PAGES = re.compile(r"item|detail", re.IGNORECASE)
_PARAMETERS = ("itemId", "itemid", "item_id", "item_num_id")


def read_id(link: Link) -> str | None:
    """`item.taobao.com/item.htm?id=1`, `detail.tmall.com/item.htm?id=1`, `…/item/1.htm`.

    `id` is a product only on pages of products: elsewhere it may be that of a shop.
    """
    in_path = _IN_PATH.search(link.path)
    if in_path:
        return leading_id(link.path[in_path.end() :])
    names = ("id", *_PARAMETERS) if _ITEM_PAGES.search(link.path) else _PARAMETERS
    return next((id_ for name in names if (id_ := leading_id(link.query.get(name)))), None)


LINKS = ProductLinks(
    domains=("taobao.com", "tmall.com", "tmall.hk", "tb.cn"),
    short_hosts=frozenset({"m.tb.cn", "e.tb.cn", "c.tb.cn", "s.tb.cn", "s.click.taobao.com"}),
    read_id=read_id,
    page=lambda product_id: ITEM_PAGE + product_id,
)
