"""The API of products: search, and everything about one."""

from tradewind.errors import ApiError, ResourceNotFound
from tradewind.platforms.errors import (
    CapabilityNotSupported,
    PlatformAuthExpired,
    PlatformBusy,
    PlatformFailed,
    PlatformNotConfigured,
    UnsupportedPlatform,
)
from tradewind.platforms.registry import Platforms
from tradewind.products.detail import read_product
from tradewind.products.search import SearchCache, search
from tradewind.products.wire import ProductOut, ProductQuery, SearchIn, SearchOut
from tradewind.web.caller import Caller
from tradewind.web.endpoint import Routes
from tradewind.web.response import Response, encode

routes = Routes("/v1/products", tag="Products")

_UPSTREAM: tuple[type[ApiError], ...] = (
    UnsupportedPlatform,
    PlatformNotConfigured,
    CapabilityNotSupported,
    PlatformFailed,
    PlatformBusy,
    PlatformAuthExpired,
)


@routes.post(
    "/search",
    returns=SearchOut,
    errors=_UPSTREAM,
    headers={"Age": "How many seconds ago the marketplace gave this answer."},
    expensive=True,
)
async def search_products(
    caller: Caller, body: SearchIn, platforms: Platforms, cache: SearchCache
) -> Response:
    """Search products on a marketplace, in any language.

    The same search within a minute may be answered from a cache; `Age` tells how old it is.
    """
    result = await search(platforms, cache, body.platform, body.query())
    if result.document is None:
        result.document = encode(SearchOut.of(result.platform, result.page))
    return Response(result.document, headers=[(b"age", str(result.age_seconds).encode())])


@routes.get("/{platform}/{id}", errors=(*_UPSTREAM, ResourceNotFound))
async def get_product(
    platform: str, product_id: str, caller: Caller, query: ProductQuery, platforms: Platforms
) -> ProductOut:
    """Everything about a product: variants with stock, price ranges, pictures, shipping."""
    detail = await read_product(platforms, platform, product_id, query.lang)
    return ProductOut.of_product(detail.platform, detail.product)
