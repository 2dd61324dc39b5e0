"""Products, in a browser: search with pictures, and one product with the lines that order it."""

import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote, urlencode
from uuid import uuid4

from tradewind.dashboard.products.views import as_text, curl, unit_price
from tradewind.dashboard.shell.forms import errors_of
from tradewind.dashboard.shell.links import picture, web_link
from tradewind.dashboard.shell.page_limits import spend_request
from tradewind.dashboard.shell.render import LIVE_HEADER, Renderer
from tradewind.errors import ApiError, Invalid, ServiceUnavailable, UpstreamFailed
from tradewind.platforms.contract import Capability
from tradewind.platforms.model import Sort
from tradewind.platforms.registry import PlatformListing, Platforms
from tradewind.products.detail import read_product
from tradewind.products.search import SearchCache, search
from tradewind.products.wire import LARGEST_PAGE, ProductOut, ProductQuery, SearchIn, SearchOut
from tradewind.storage.pool import Database
from tradewind.web import problems
from tradewind.web.caller import Caller
from tradewind.web.endpoint import Routes
from tradewind.web.inputs import Input, read_values
from tradewind.web.limits import RateLimited
from tradewind.web.request import Request
from tradewind.web.response import Response
from tradewind.web.urls import PublicUrl

routes = Routes("/products", tag="Dashboard", hidden=True, pages=True)

_SIZE = 24
_HUMP = re.compile(r"[A-Z]")
_MOST = 1_000_000
_SORTS = (
    (Sort.RELEVANCE.value, "Best match"),
    (Sort.PRICE_ASC.value, "Cheapest first"),
    (Sort.PRICE_DESC.value, "Dearest first"),
    (Sort.SALES_DESC.value, "Most sold first"),
)


class ProductsQuery(Input):
    """A search as a form sends it."""

    q: str = ""
    platform: str = ""
    sort: str = ""
    min_price_cny: str = ""
    max_price_cny: str = ""
    page: int = 1

    def given(self) -> dict[str, str]:
        """What was asked for, but for the page."""
        names = ("q", "platform", "sort", "min_price_cny", "max_price_cny")
        return {name: value for name in names if (value := getattr(self, name).strip())}


class ChosenQuery(Input):
    """Which variant, and how many, the curl lines are about."""

    sku: str = ""
    quantity: str = ""


@routes.get(media_type="text/html", expensive=True)
async def show_products(
    request: Request,
    caller: Caller,
    query: ProductsQuery,
    platforms: Platforms,
    searches: SearchCache,
    db: Database,
    renderer: Renderer,
) -> Response:
    """Search a marketplace. One that fails leaves the form as it was, and says so above it."""
    if LIVE_HEADER in request.headers:  # nothing here is live: no marketplace is asked again
        return Response(None, 204)
    able = [one for one in await platforms.listed() if _can_search(one)]
    names = [one.traits.platform for one in able]
    platform = query.platform or (names[0] if names else "")
    found: SearchOut | None = None
    errors: Mapping[str, str] = {}
    status = 200
    given = query.given()
    if "q" in given and names:
        try:
            asked = {**given, "platform": platform, "page": query.page, "size": _SIZE}
            wanted = read_values(SearchIn, **asked)
            await spend_request(db, caller)
            result = await search(platforms, searches, wanted.platform, wanted.query())
            found = SearchOut.of(result.platform, result.page)
        except (Invalid, UpstreamFailed, ServiceUnavailable, RateLimited) as refusal:
            errors, status = errors_in_words(refusal), problems.status_of(type(refusal))
    origins = platforms.picture_origins(platform)
    return renderer.page(
        "products.html",
        request,
        caller,
        status=status,
        images=origins,
        query=query,
        platform=platform,
        platforms=[(one.traits.platform, one.traits.name) for one in able],
        sorts=_SORTS,
        found=found,
        errors=errors,
        picture=lambda url: picture(url, origins),
        href=lambda offer: product_path(offer.platform, offer.id),
        pages=pages(found, given) if found else None,
    )


@routes.get("/{platform}/{product_id}", media_type="text/html")
async def show_product(
    request: Request,
    platform: str,
    product_id: str,
    caller: Caller,
    query: ChosenQuery,
    platforms: Platforms,
    public_url: PublicUrl,
    db: Database,
    renderer: Renderer,
) -> Response:
    """Everything about a product, and how it is ordered."""
    if LIVE_HEADER in request.headers:
        return Response(None, 204)
    await spend_request(db, caller)
    detail = await read_product(platforms, platform, product_id, ProductQuery().lang)
    product = ProductOut.of_product(detail.platform, detail.product)
    least = product.min_order_quantity or 1
    errors: dict[str, str] = {}
    quantity = least
    if query.quantity.strip():
        quantity = read_quantity(query.quantity) or least
        if read_quantity(query.quantity) is None:
            errors["quantity"] = f"Write a whole number from 1 to {_MOST:,}."
    known = [sku.id for sku in product.skus]
    if query.sku and query.sku not in known:
        errors["sku"] = "There is no such variant any more; another was chosen."
    sku = query.sku if query.sku in known else _first(product.skus)
    origins = platforms.picture_origins(product.platform)
    shown = (picture(url, origins) for url in product.images or [product.image_url or ""])
    return renderer.page(
        "product.html",
        request,
        caller,
        status=422 if errors else 200,
        images=origins,
        product=product,
        pictures=list(dict.fromkeys(url for url in shown if url)),
        picture=lambda url: picture(url, origins),
        description=as_text(product.description),
        shipping=[(label_of(name), value) for name, value in product.shipping.items()],
        link=web_link(product.url),
        sku=sku,
        quantity=quantity,
        typed=query.quantity.strip() or str(least),
        least=least,
        each=unit_price(product, sku, quantity),
        errors=errors,
        preview=curl(public_url.text, "/v1/orders/preview", product, sku, quantity, ""),
        order=curl(public_url.text, "/v1/orders", product, sku, quantity, str(uuid4())),
        here_path=product_path(product.platform, product.id),
        sku_name=sku_name,
    )


def read_quantity(text: str) -> int | None:
    """How many are wanted, as it was typed; None for what is no number that can be ordered."""
    typed = text.strip()
    wanted = int(typed) if typed.isdecimal() and len(typed) <= len(str(_MOST)) else 0
    return wanted if 1 <= wanted <= _MOST else None


def errors_in_words(refusal: ApiError) -> Mapping[str, str]:
    """What is wrong, beside its field, or above the form where there is no such field."""
    found = dict(errors_of(refusal))
    if "min_price_cny" in found.get("max_price_cny", ""):
        found["max_price_cny"] = "Must not be below the lowest price."
    if found.get("sort"):
        found[""] = "There is no such order of results."
    if found.get("page"):
        found[""] = f"Pages are counted from 1 to {LARGEST_PAGE:,}."
    return found


def pages(found: SearchOut, given: Mapping[str, str]) -> Mapping[str, Any]:
    """The way to the page before and the page after, and which this is."""
    current, total = found.paginate.current, found.paginate.total
    last = max(1, min(-(-total // found.paginate.size), LARGEST_PAGE))
    return {
        "current": current,
        "last": last,
        "total": total,
        "before": address(given, current - 1) if current > 1 else None,
        "after": address(given, current + 1) if current < last and found.items else None,
    }


def address(given: Mapping[str, str], page: int) -> str:
    return f"/products?{urlencode({**given, **({'page': page} if page > 1 else {})})}"


def product_path(platform: str, product_id: str) -> str:
    return f"/products/{quote(platform, safe='')}/{quote(product_id, safe='')}"


def label_of(name: str) -> str:
    """A marketplace's name of a field, `sendGoodsAddress`, as people write it."""
    return _HUMP.sub(lambda found: f" {found[0].lower()}", name).strip().capitalize()


def sku_name(attributes: Mapping[str, str]) -> str:
    return ", ".join(attributes.values()) or "the only one"


def _first(skus: Sequence[Any]) -> str | None:
    """The first variant that can be bought, else the first."""
    in_stock = (sku.id for sku in skus if sku.stock is None or sku.stock > 0)
    return next(in_stock, skus[0].id if skus else None)


def _can_search(one: PlatformListing) -> bool:
    return one.connection is not None and Capability.SEARCH in one.traits.capabilities
