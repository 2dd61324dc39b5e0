"""Products, in a browser: search by words, links and pictures."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from tradewind.dashboard.products.lookup import (
    may_name_product,
    product_in_text,
    product_path,
)
from tradewind.dashboard.shell.forms import errors_of
from tradewind.dashboard.shell.render import (
    LIVE_HEADER,
    PageResult,
    PageRoutes,
    Redirect,
    TemplatePage,
)
from tradewind.dashboard.shell.site import limit_marketplace_calls
from tradewind.dashboard.shell.urls import image_url
from tradewind.errors import ApiError, Invalid, ServiceUnavailable, UpstreamFailed, ValidationFailed
from tradewind.platforms.contract import Capability
from tradewind.platforms.model import SearchPage, Sort
from tradewind.platforms.registry import PlatformListing, Platforms
from tradewind.products.image_search import search_by_image, upload_image
from tradewind.products.picture import LARGEST_IMAGE
from tradewind.products.search import CachedPage, SearchCache, search
from tradewind.products.wire import LARGEST_PAGE, SearchIn, SearchOptions
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database
from tradewind.web.caller import Caller
from tradewind.web.inputs import Input, read_values
from tradewind.web.limits import RateLimited
from tradewind.web.request import Request
from tradewind.web.response import NO_STORE, Response
from tradewind.web.site import Form

routes = PageRoutes("/products")

_SIZE = 24
# More than a picture may have, so that a larger one is told so on the page.
_LARGEST_UPLOAD = LARGEST_IMAGE + 8 * 1024 * 1024
_SORTS = (
    (Sort.RELEVANCE.value, "Best match"),
    (Sort.PRICE_ASC.value, "Price, low to high"),
    (Sort.PRICE_DESC.value, "Price, high to low"),
    (Sort.SALES_DESC.value, "Units sold"),
)


class ProductsQuery(Input):
    """A search as a form sends it: by a text, or by a picture that was uploaded."""

    q: str = ""
    image: str = ""
    platform: str = ""
    sort: str = ""
    min_price_cny: str = ""
    max_price_cny: str = ""
    page: int = 1

    def filled(self) -> dict[str, str]:
        """The fields that are set, without the page; a text is searched for before a picture."""
        names = ("q", "image", "platform", "sort", "min_price_cny", "max_price_cny")
        fields = {name: value for name in names if (value := getattr(self, name).strip())}
        if "q" in fields:
            fields.pop("image", None)
        return fields


class PictureForm(Form):
    """A picture to search by, the marketplace to search, and the filters of the page."""

    platform: str = ""
    sort: str = ""
    min_price_cny: str = ""
    max_price_cny: str = ""
    picture: bytes = b""

    def as_query(self, platform: str, image_id: str = "") -> ProductsQuery:
        return ProductsQuery(
            image=image_id,
            platform=platform,
            sort=self.sort,
            min_price_cny=self.min_price_cny,
            max_price_cny=self.max_price_cny,
        )


@routes.get(expensive=True)
async def show_products(
    request: Request,
    caller: Caller,
    query: ProductsQuery,
    platforms: Platforms,
    cache: SearchCache,
    keyring: Keyring,
    db: Database,
) -> PageResult:
    """Search a marketplace, or open the product that was pasted.

    If it fails, the form stays as it was, below an error.
    """
    if LIVE_HEADER in request.headers:  # no live updates: they would call the marketplace
        return Response(None, 204, [NO_STORE])
    listings = await platforms.listed()
    fields = query.filled()
    page = _products_page(platforms, listings, query, fields)
    platform = page.platform
    if not page.searchable or not fields.keys() & {"q", "image"}:
        return page.show(None)
    try:
        if may_name_product(fields.get("q", "")):
            await limit_marketplace_calls(db, caller)
            path = await product_in_text(platforms, fields["q"], platform)
            if path is not None:
                return Redirect(path)
        kind = SearchOptions if "image" in fields else SearchIn
        typed = {name: value for name, value in fields.items() if name != "image"}
        values = {**typed, "platform": platform, "page": query.page, "size": _SIZE}
        wanted = read_values(kind, **values)
        await limit_marketplace_calls(db, caller)
        if isinstance(wanted, SearchIn):
            cached = await search(platforms, cache, platform, wanted.query())
        else:
            by_image = wanted.query_for("", fields["image"])
            cached = await search_by_image(
                platforms, cache, keyring, caller.account_id, platform, by_image
            )
    except (Invalid, UpstreamFailed, ServiceUnavailable, RateLimited) as error:
        return page.show(None).rejected(error, _field_errors(error))
    return page.show(cached)


@routes.post("/picture", expensive=True, multipart=True, body_limit=_LARGEST_UPLOAD)
async def search_by_picture(
    caller: Caller, body: PictureForm, platforms: Platforms, keyring: Keyring, db: Database
) -> PageResult:
    """Upload a picture; the results are at a URL of their own, so that going back works."""
    try:
        if not body.picture:
            raise ValidationFailed("/image", "Choose a picture.", "missing")
        await limit_marketplace_calls(db, caller)
        platform = platforms.named(body.platform)
        image_id = await upload_image(platforms, keyring, caller.account_id, platform, body.picture)
    except (Invalid, UpstreamFailed, ServiceUnavailable, RateLimited) as error:
        query = body.as_query(body.platform)
        page = _products_page(platforms, await platforms.listed(), query, query.filled())
        return page.show(None).rejected(error, _field_errors(error))
    return Redirect(f"/products?{urlencode(body.as_query(platform, image_id).filled())}")


@dataclass(frozen=True, slots=True)
class _ProductsPage:
    """The page of a search: the marketplaces that can be searched, and what was typed."""

    platforms: Platforms
    query: ProductsQuery
    fields: Mapping[str, str]
    searchable: Sequence[tuple[str, str]]
    by_image: Sequence[tuple[str, str]]

    @property
    def platform(self) -> str:
        choices = self.by_image if "image" in self.fields else self.searchable
        return self.query.platform or (choices[0][0] if choices else "")

    def show(self, cached: CachedPage | None) -> TemplatePage:
        """The page, with results if there are any."""
        platform = cached.platform if cached else self.platform
        is_known = platform in dict(self.searchable)
        origins = self.platforms.picture_origins(platform) if is_known else ()
        results = cached.page if cached else None
        return TemplatePage(
            "products/products.html",
            images=origins,
            query=self.query,
            fields=self.fields,
            platform=platform,
            platforms=self.searchable,
            image_platforms=self.by_image,
            sorts=_SORTS,
            results=results,
            image=lambda url: image_url(url, origins),
            href=lambda offer: product_path(platform, offer.id),
            last_page=_last_page(results) if results else 0,
        )


def _products_page(
    platforms: Platforms,
    listings: Sequence[PlatformListing],
    query: ProductsQuery,
    fields: Mapping[str, str],
) -> _ProductsPage:
    searchable, by_image = (
        [
            (listing.traits.platform, listing.traits.name)
            for listing in listings
            if listing.connection is not None and capability in listing.traits.capabilities
        ]
        for capability in (Capability.SEARCH, Capability.IMAGE_SEARCH)
    )
    return _ProductsPage(platforms, query, fields, searchable, by_image)


def _field_errors(error: ApiError) -> Mapping[str, str]:
    """The errors by field; those of hidden fields are shown above the form."""
    messages = dict(errors_of(error))
    if "min_price_cny" in messages.get("max_price_cny", ""):
        messages["max_price_cny"] = "Must not be below the minimum price."
    if messages.get("text"):  # of a link that was pasted
        messages["q"] = messages["text"]
    if messages.get("image_id"):
        messages["image"] = "Your picture is no longer available. Choose it again."
    if messages.get("sort"):
        messages[""] = "Unknown sort order."
    if messages.get("page"):
        messages[""] = f"Pages go from 1 to {LARGEST_PAGE:,}."
    return messages


def _last_page(results: SearchPage) -> int:
    return max(1, min(-(-results.total // results.size), LARGEST_PAGE))
