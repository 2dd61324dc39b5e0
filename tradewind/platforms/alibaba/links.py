"""Links to products at 1688: desktop, mobile, and short links, which do not contain the ID."""

import re

from tradewind.platforms.alibaba.products import PRODUCT_PAGE
from tradewind.platforms.product_links import Link, ProductLinks, leading_id

_OFFER = re.compile(r"/offer/(?=[0-9])")
_PARAMETERS = ("offerId", "offerid", "offer_id")


def read_id(link: Link) -> str | None:
    """`detail.1688.com/offer/1.html`, `m.1688.com/offer/1.html`, or `…?offerId=1` of any page."""
    offer = _OFFER.search(link.path)
    if offer:
        return leading_id(link.path[offer.end() :])
    return next((id_ for name in _PARAMETERS if (id_ := leading_id(link.query.get(name)))), None)


LINKS = ProductLinks(
    domains=("1688.com",),
    short_hosts=frozenset({"qr.1688.com"}),
    read_id=read_id,
    page=PRODUCT_PAGE.format,
)
