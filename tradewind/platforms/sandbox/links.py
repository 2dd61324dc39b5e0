"""Links to products of the simulator, which stands in for any marketplace in development."""

import re

from tradewind.platforms.product_links import Link, leading_id

_OFFER = re.compile(r"/offer/(?=[0-9])")


def read_simulated_id(link: Link) -> str | None:
    offer = _OFFER.match(link.path)
    return leading_id(link.path[offer.end() :]) if offer else None


def simulated_page(origin: str, product_id: str) -> str:
    return f"{origin}/offer/{product_id}.html"
