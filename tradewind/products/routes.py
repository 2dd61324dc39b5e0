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
from tradewind.products.image_search import search_by_image, upload_image
from tradewind.products.resolve import resolve_product
from tradewind.products.search import SearchCache, search
from tradewind.products.wire import (
    LONGEST_IMAGE,
    ImageSearchIn,
    ImageSearchOut,
    ProductOut,
    ProductQuery,
    ResolveIn,
    ResolveOut,
    SearchIn,
    SearchOut,
)
from tradewind.storage.keyring import Keyring
from tradewind.web.caller import Caller
from tradewind.web.endpoint import Routes
from tradewind.web.inputs import BODY_LIMIT
from tradewind.web.response import Response, encode
from tradewind.web.scopes import Scope

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
    scope=Scope.READ,
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


@routes.post(
    "/image-search",
    scope=Scope.READ,
    errors=_UPSTREAM,
    body_limit=LONGEST_IMAGE + BODY_LIMIT,
    expensive=True,
)
async def search_products_by_image(
    caller: Caller,
    body: ImageSearchIn,
    platforms: Platforms,
    cache: SearchCache,
    keyring: Keyring,
) -> ImageSearchOut:
    """Search products that look like a picture.

    The marketplace needs the capability `image_search`. The picture is passed on to it and not
    stored here; it is recognised by its content: JPEG, PNG or WebP, at most 3 MiB, 16 to 10,000
    pixels a side and 50 megapixels. The body may have 4.25 MiB.

    For the next page, another order or other prices, send the `image_id` of the response instead
    of the picture. Only your account can use it, at the same marketplace. How long the marketplace
    keeps the picture is up to it; afterwards the code of the error at `/image_id` is `expired`.
    Taobao does not sort by sales here.
    """
    image_id = body.image_id
    picture = body.picture()
    if picture is not None:
        image_id = await upload_image(platforms, keyring, caller.account_id, body.platform, picture)
    query = body.query_for("", image_id)
    result = await search_by_image(
        platforms, cache, keyring, caller.account_id, body.platform, query
    )
    return ImageSearchOut.of_image(result.platform, result.page, query.image_id or "")


@routes.post("/resolve", scope=Scope.READ, errors=(UnsupportedPlatform,))
async def resolve(caller: Caller, body: ResolveIn, platforms: Platforms) -> ResolveOut:
    """Find the product that a link, a shared text or a product ID names.

    Links of 1688, Taobao and Tmall are known, desktop and mobile ones. Nothing is fetched: the
    product need not exist, and a short link (`m.tb.cn`, `qr.1688.com`) gets the error `short_link`,
    since it does not contain the ID. Other codes of errors at `/text` are `not_a_product` (a link
    of a marketplace to something else) and `no_product`.

    An ID without `platform` may be of several marketplaces: they are listed as `candidates`.
    """
    return ResolveOut.of(await resolve_product(platforms, body.text, body.platform))


@routes.get("/{platform}/{id}", scope=Scope.READ, errors=(*_UPSTREAM, ResourceNotFound))
async def get_product(
    platform: str, product_id: str, caller: Caller, query: ProductQuery, platforms: Platforms
) -> ProductOut:
    """Everything about a product: variants with stock, price ranges, pictures, shipping."""
    detail = await read_product(platforms, platform, product_id, query.lang)
    return ProductOut.of_product(detail.platform, detail.product)
