"""Products, in a browser: search with images, and one product with the commands to order it."""

import re
from collections.abc import Mapping, Sequence
from urllib.parse import quote
from uuid import uuid4

from tradewind.dashboard.products.views import curl_command, plain_text, unit_price
from tradewind.dashboard.shell.forms import errors_of
from tradewind.dashboard.shell.render import LIVE_HEADER, PageResult, PageRoutes, TemplatePage
from tradewind.dashboard.shell.site import limit_marketplace_calls
from tradewind.dashboard.shell.urls import image_url, web_link
from tradewind.errors import ApiError, Invalid, ServiceUnavailable, UpstreamFailed
from tradewind.platforms.contract import Capability
from tradewind.platforms.model import SearchPage, Sku, Sort
from tradewind.platforms.registry import Platforms
from tradewind.products.detail import read_product
from tradewind.products.search import SearchCache, search
from tradewind.products.wire import LARGEST_PAGE, ProductQuery, SearchIn
from tradewind.storage.pool import Database
from tradewind.web.caller import Caller
from tradewind.web.inputs import Input, read_values
from tradewind.web.limits import RateLimited
from tradewind.web.request import Request
from tradewind.web.response import Response
from tradewind.web.urls import PublicUrl

routes = PageRoutes("/products")

_SIZE = 24
_CAPITAL = re.compile(r"[A-Z]")
_LARGEST_QUANTITY = 1_000_000
_SORTS = (
    (Sort.RELEVANCE.value, "Best match"),
    (Sort.PRICE_ASC.value, "Price, low to high"),
    (Sort.PRICE_DESC.value, "Price, high to low"),
    (Sort.SALES_DESC.value, "Units sold"),
)


class ProductsQuery(Input):
    """A search as a form sends it."""

    q: str = ""
    platform: str = ""
    sort: str = ""
    min_price_cny: str = ""
    max_price_cny: str = ""
    page: int = 1

    def filled(self) -> dict[str, str]:
        """The fields that are set, without the page."""
        names = ("q", "platform", "sort", "min_price_cny", "max_price_cny")
        return {name: value for name in names if (value := getattr(self, name).strip())}


class VariantQuery(Input):
    """The variant and the quantity of the commands."""

    sku: str = ""
    quantity: str = ""


@routes.get(expensive=True)
async def show_products(
    request: Request,
    caller: Caller,
    query: ProductsQuery,
    platforms: Platforms,
    cache: SearchCache,
    db: Database,
) -> PageResult:
    """Search a marketplace. If it fails, the form stays as it was, below an error."""
    if LIVE_HEADER in request.headers:  # no live updates: they would call the marketplace
        return Response(None, 204)
    searchable = [
        (listing.traits.platform, listing.traits.name)
        for listing in await platforms.listed()
        if listing.connection is not None and Capability.SEARCH in listing.traits.capabilities
    ]
    platform = query.platform or (searchable[0][0] if searchable else "")
    results: SearchPage | None = None
    failure: ApiError | None = None
    filled = query.filled()
    if "q" in filled and searchable:
        try:
            values = {**filled, "platform": platform, "page": query.page, "size": _SIZE}
            wanted = read_values(SearchIn, **values)
            await limit_marketplace_calls(db, caller)
            cached = await search(platforms, cache, wanted.platform, wanted.query())
            platform, results = cached.platform, cached.page
        except (Invalid, UpstreamFailed, ServiceUnavailable, RateLimited) as error:
            failure = error
    origins = platforms.picture_origins(platform) if platform in dict(searchable) else ()
    page = TemplatePage(
        "products/products.html",
        images=origins,
        query=query,
        platform=platform,
        platforms=searchable,
        sorts=_SORTS,
        results=results,
        image=lambda url: image_url(url, origins),
        href=lambda offer: product_path(platform, offer.id),
        last_page=_last_page(results) if results else 0,
    )
    return page.rejected(failure, _field_errors(failure)) if failure else page


@routes.get("/{platform}/{product_id}")
async def show_product(
    request: Request,
    platform: str,
    product_id: str,
    caller: Caller,
    query: VariantQuery,
    platforms: Platforms,
    public_url: PublicUrl,
    db: Database,
) -> PageResult:
    """Show a product, and the commands that order it."""
    if LIVE_HEADER in request.headers:
        return Response(None, 204)
    await limit_marketplace_calls(db, caller)
    detail = await read_product(platforms, platform, product_id, ProductQuery().lang)
    product, offer = detail.product, detail.product.offer
    minimum = offer.min_order_quantity or 1
    errors: dict[str, str] = {}
    quantity = minimum
    if query.quantity.strip():
        quantity = read_quantity(query.quantity) or minimum
        if read_quantity(query.quantity) is None:
            errors["quantity"] = f"Enter a whole number from 1 to {_LARGEST_QUANTITY:,}."
    sku_ids = [sku.id for sku in product.skus]
    if query.sku and query.sku not in sku_ids:
        errors["sku"] = "This variant is no longer available. Another one is selected."
    sku = query.sku if query.sku in sku_ids else _first_available(product.skus)
    origins = platforms.picture_origins(detail.platform)
    images = (image_url(url, origins) for url in product.images or [offer.image_url or ""])
    return TemplatePage(
        "products/product.html",
        images=origins,
        product=product,
        offer=offer,
        platform=detail.platform,
        gallery=list(dict.fromkeys(url for url in images if url)),
        image=lambda url: image_url(url, origins),
        description=plain_text(product.description),
        shipping=[(field_label(name), value) for name, value in product.shipping.items()],
        link=web_link(offer.url),
        sku=sku,
        quantity=quantity,
        quantity_text=query.quantity.strip() or str(minimum),
        minimum=minimum,
        price_fen=unit_price(product, sku, quantity),
        errors=errors,
        preview=curl_command(public_url.text, "/v1/orders/preview", detail, sku, quantity, ""),
        order=curl_command(public_url.text, "/v1/orders", detail, sku, quantity, str(uuid4())),
        product_url=product_path(detail.platform, offer.id),
        sku_name=sku_name,
    )


def read_quantity(text: str) -> int | None:
    """A quantity as it was typed; None if it cannot be ordered."""
    typed = text.strip()
    is_number = typed.isdecimal() and len(typed) <= len(str(_LARGEST_QUANTITY))
    quantity = int(typed) if is_number else 0
    return quantity if 1 <= quantity <= _LARGEST_QUANTITY else None


def _field_errors(error: ApiError) -> Mapping[str, str]:
    """The errors by field; those of hidden fields are shown above the form."""
    messages = dict(errors_of(error))
    if "min_price_cny" in messages.get("max_price_cny", ""):
        messages["max_price_cny"] = "Must not be below the minimum price."
    if messages.get("sort"):
        messages[""] = "Unknown sort order."
    if messages.get("page"):
        messages[""] = f"Pages go from 1 to {LARGEST_PAGE:,}."
    return messages


def _last_page(results: SearchPage) -> int:
    return max(1, min(-(-results.total // results.size), LARGEST_PAGE))


def product_path(platform: str, product_id: str) -> str:
    return f"/products/{quote(platform, safe='')}/{quote(product_id, safe='')}"


def field_label(name: str) -> str:
    """The label of a marketplace's field: `sendGoodsAddress` is "Send goods address"."""
    return _CAPITAL.sub(lambda letter: f" {letter[0].lower()}", name).strip().capitalize()


def sku_name(attributes: Mapping[str, str]) -> str:
    return ", ".join(attributes.values()) or "Default"


def _first_available(skus: Sequence[Sku]) -> str | None:
    """The first variant in stock, else the first one."""
    in_stock = (sku.id for sku in skus if sku.stock is None or sku.stock > 0)
    return next(in_stock, skus[0].id if skus else None)
