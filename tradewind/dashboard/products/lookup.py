"""Opens a product from what people paste into a search box: a link, or a product ID."""

from collections.abc import Sequence
from urllib.parse import quote, urlencode

from tradewind.dashboard.shell.urls import local_path, split_url
from tradewind.errors import ResourceNotFound, ValidationFailed
from tradewind.platforms.product_links import is_id
from tradewind.platforms.registry import Platforms
from tradewind.products.detail import read_product
from tradewind.products.model import ProductReference
from tradewind.products.resolve import resolve_product
from tradewind.products.wire import LONGEST_TEXT, ProductQuery

# The digits of today's product IDs. Shorter numbers are words of a search, such as the number of a
# model; longer ones are IDs of orders or parcels.
_ID_LENGTHS = range(9, 14)
# People paste links of marketplaces with and without the scheme.
_LINK_PARTS = ("://", ".com/", ".cn/", ".hk/")


def search_path(text: str) -> str:
    """The products page that opens what a text names, or searches for it."""
    return f"/products?{urlencode({'q': text})}"


def results_url(referrer: str, platform: str) -> str:
    """The search that a product was opened from; without one, the search of its marketplace."""
    parts = split_url(referrer)
    query = parts.query if parts.path == "/products" else ""
    default = f"/products?{urlencode({'platform': platform})}"
    return local_path(f"/products?{query}", default=default) if query else default


def product_path(platform: str, product_id: str) -> str:
    return f"/products/{quote(platform, safe='')}/{quote(product_id, safe='')}"


def may_name_product(text: str) -> bool:
    """Whether a text looks like a link or a product ID rather than words to search for."""
    if len(text) > LONGEST_TEXT:
        return False
    is_link = any(part in text.lower() for part in _LINK_PARTS)
    return is_link or (is_id(text) and len(text) in _ID_LENGTHS)


async def product_in_text(platforms: Platforms, text: str, platform: str = "") -> str | None:
    """The path of the product that a text names; None if it is a text to search for.

    An ID is looked for at `platform` first, then at every other connected marketplace. A link that
    names no product is ValidationFailed, unless it is not a marketplace's.
    """
    text = text.strip()
    if not may_name_product(text):
        return None
    try:
        references = await resolve_product(platforms, text)
    except ValidationFailed as failed:
        if failed.errors[0].code == "no_product":
            return None
        raise
    if not is_id(text):
        return product_path(references[0].platform, references[0].product_id)
    return await _existing(
        platforms, sorted(references, key=lambda each: each.platform != platform)
    )


async def _existing(platforms: Platforms, references: Sequence[ProductReference]) -> str | None:
    """The first of these products that exists."""
    for reference in references:
        try:
            await read_product(
                platforms, reference.platform, reference.product_id, ProductQuery().lang
            )
        except ResourceNotFound:
            continue
        return product_path(reference.platform, reference.product_id)
    return None
