"""Reads everything about one product from its marketplace."""

from dataclasses import dataclass

from tradewind import ids
from tradewind.errors import ResourceNotFound
from tradewind.platforms.contract import Capability
from tradewind.platforms.errors import api_error
from tradewind.platforms.failures import PlatformFailure, Reason, Rejected
from tradewind.platforms.model import Product
from tradewind.platforms.pacing import Purpose
from tradewind.platforms.product_cache import LANGUAGE
from tradewind.platforms.registry import Platforms


@dataclass(frozen=True, slots=True)
class ProductDetail:
    """A product, and the proper name of its marketplace."""

    platform: str
    product: Product


async def read_product(
    platforms: Platforms, platform: str, product_id: str, lang: str
) -> ProductDetail:
    """Read a product; ResourceNotFound when the marketplace has none of this id."""
    connector = await platforms.able(platform, Capability.DETAIL, Purpose.BROWSE)
    try:
        product = await connector.detail(product_id, lang)
    except PlatformFailure as failure:
        if isinstance(failure, Rejected) and failure.reason is Reason.NOT_FOUND:
            raise ResourceNotFound(ids.PRODUCT) from None
        raise api_error(failure) from failure
    if lang == LANGUAGE:
        await platforms.products.store(connector.traits.platform, product_id, product)
    return ProductDetail(connector.traits.platform, product)
