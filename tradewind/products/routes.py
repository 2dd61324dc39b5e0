"""Products over HTTP: search, and everything about one."""

from tradewind import ids
from tradewind.errors import ApiError, ResourceNotFound
from tradewind.platforms.contract import Capability
from tradewind.platforms.errors import (
    CapabilityNotSupported,
    PlatformAuthExpired,
    PlatformBusy,
    PlatformFailed,
    PlatformNotConfigured,
    UnsupportedPlatform,
    api_error,
)
from tradewind.platforms.failures import PlatformFailure, Reason, Rejected
from tradewind.platforms.pacing import Purpose
from tradewind.platforms.registry import Platforms
from tradewind.products.search import Searches
from tradewind.products.wire import ProductOut, ProductQuery, SearchIn, SearchOut
from tradewind.web.caller import Caller
from tradewind.web.endpoint import Routes
from tradewind.web.response import Response

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
    answers=SearchOut,
    errors=_UPSTREAM,
    headers={"Age": "How many seconds ago the marketplace gave this answer."},
    expensive=True,
)
async def search_products(
    caller: Caller, body: SearchIn, platforms: Platforms, searches: Searches
) -> Response:
    """Search products on a marketplace, in any language.

    The same search within a minute may be answered from memory; `Age` tells how old it is.
    """
    query = body.query()
    connector = await platforms.able(body.platform, Capability.SEARCH, Purpose.BROWSE)
    try:
        found, age = await searches.answer(connector, query)
    except PlatformFailure as failure:
        raise api_error(failure) from failure
    return Response(found, headers=[(b"age", str(age).encode())])


@routes.get("/{platform}/{id}", errors=(*_UPSTREAM, ResourceNotFound))
async def get_product(
    platform: str, product_id: str, caller: Caller, query: ProductQuery, platforms: Platforms
) -> ProductOut:
    """Everything about a product: variants with stock, price ranges, pictures, shipping."""
    connector = await platforms.able(platform, Capability.DETAIL, Purpose.BROWSE)
    try:
        product = await connector.detail(product_id, query.lang)
    except Rejected as failure:
        if failure.reason is Reason.NOT_FOUND:
            raise ResourceNotFound(ids.PRODUCT) from None
        raise api_error(failure) from failure
    except PlatformFailure as failure:
        raise api_error(failure) from failure
    return ProductOut.of_product(connector.traits.platform, product)
