"""One product, in a browser: its variants to add to the cart, and the code that orders it."""

import hashlib
from collections.abc import Mapping, Sequence
from urllib.parse import urlencode
from uuid import uuid4

import msgspec

from tradewind.addresses.sql import find_default
from tradewind.auth.model import Buyer
from tradewind.cart.add import AddedLine, add_to_cart
from tradewind.dashboard.products.code import SAMPLE_ADDRESS, order_code
from tradewind.dashboard.products.lookup import product_path, results_url
from tradewind.dashboard.products.variants import (
    chosen_pieces,
    ranges_that_count,
    read_pieces,
    variant_table,
)
from tradewind.dashboard.products.views import attribute_text, plain_text
from tradewind.dashboard.shell.forms import SubmitForm
from tradewind.dashboard.shell.render import (
    LIVE_HEADER,
    PageResult,
    PageRoutes,
    Redirect,
    TemplatePage,
)
from tradewind.dashboard.shell.site import limit_marketplace_calls
from tradewind.dashboard.shell.urls import image_url, web_link
from tradewind.errors import (
    ApiError,
    Conflict,
    Invalid,
    ServiceUnavailable,
    UpstreamFailed,
    ValidationFailed,
)
from tradewind.platforms.model import Product
from tradewind.platforms.registry import Platforms
from tradewind.products.detail import read_product
from tradewind.products.wire import ProductQuery
from tradewind.storage.pool import Database
from tradewind.web import idempotency
from tradewind.web.caller import Caller
from tradewind.web.idempotency import IdempotencyKey, RepeatedRequest, StoredResponse
from tradewind.web.inputs import Input
from tradewind.web.request import Request
from tradewind.web.response import NO_STORE, Response
from tradewind.web.urls import PublicUrl

routes = PageRoutes("/products")

_EXPECTED_ERRORS = (Conflict, Invalid, ServiceUnavailable, UpstreamFailed)


class PiecesQuery(Input):
    """Quantities by variant, as they were typed; `code` opens the code that orders them."""

    pieces: dict[str, str] = msgspec.field(default_factory=dict)
    code: str = ""


class PiecesForm(SubmitForm):
    """Quantities by variant, as they were typed, and what to do with them."""

    pieces: dict[str, str] = msgspec.field(default_factory=dict)
    action: str = "cart"


@routes.get("/{platform}/{product_id}")
async def show_product(
    request: Request,
    platform: str,
    product_id: str,
    caller: Caller,
    query: PiecesQuery,
    platforms: Platforms,
    public_url: PublicUrl,
    db: Database,
) -> PageResult:
    """Show a product, what the chosen pieces cost, and the code that orders them."""
    if LIVE_HEADER in request.headers:  # no live updates: they would call the marketplace
        return Response(None, 204, [NO_STORE])
    page = await _page(platform, product_id, caller, query, platforms, public_url, db)
    page.context |= {"results_url": results_url(request.headers.get("referer", ""), platform)}
    return page


@routes.post("/{platform}/{product_id}")
async def choose_pieces(
    platform: str,
    product_id: str,
    caller: Buyer,
    body: PiecesForm,
    platforms: Platforms,
    public_url: PublicUrl,
    db: Database,
) -> PageResult:
    """Add the chosen pieces to the cart, or show their total or their code."""
    path = product_path(platform, product_id)
    if body.action != "cart":
        return Redirect(
            f"{path}?{_chosen_query(body)}#{'code' if body.action == 'code' else 'buy'}"
        )
    try:
        quantities = read_pieces(body.pieces)
        if not quantities:
            raise ValidationFailed("", "Enter a quantity for at least one variant.", "missing")
        await limit_marketplace_calls(db, caller)
        stored: StoredResponse[Sequence[AddedLine]] = StoredResponse(
            _key(caller, path, body), lambda _: Response(None, 200)
        )
        await add_to_cart(
            db, platforms, caller.account_id, platform, product_id, quantities, stored
        )
    except RepeatedRequest:
        pass  # the button was pressed twice
    except _EXPECTED_ERRORS as error:
        query = PiecesQuery(pieces=body.pieces)
        page = await _page(platform, product_id, caller, query, platforms, public_url, db)
        return page.rejected(error, _errors(error))
    pieces = sum(quantities.values())
    message = f"Added {pieces:,} piece{'s' if pieces > 1 else ''} to the cart."
    return Redirect("/cart", message)


async def _page(
    platform: str,
    product_id: str,
    caller: Caller,
    query: PiecesQuery,
    platforms: Platforms,
    public_url: PublicUrl,
    db: Database,
) -> TemplatePage:
    await limit_marketplace_calls(db, caller)
    detail = await read_product(platforms, platform, product_id, ProductQuery().lang)
    product, offer = detail.product, detail.product.offer
    saved = await find_default(db, caller.account_id)
    errors: Mapping[str, str] = {}
    try:
        quantities = read_pieces(query.pieces)
    except ValidationFailed as error:
        quantities, errors = {}, _errors(error)
    origins = platforms.picture_origins(detail.platform)
    images = (image_url(url, origins) for url in product.images or [offer.image_url or ""])
    return TemplatePage(
        "products/product.html",
        images=origins,
        errors=errors,
        product=product,
        offer=offer,
        marketplace=platforms.marketplace(detail.platform).traits.name,
        gallery=list(dict.fromkeys(url for url in images if url)),
        image=lambda url: image_url(url, origins),
        description=plain_text(product.description),
        attributes=[(each.name, attribute_text(each)) for each in product.attributes],
        link=web_link(offer.url),
        table=variant_table(product),
        ranges=product.price_ranges,
        counting_ranges=[
            [step.min_quantity, step.price_fen] for step in ranges_that_count(product)
        ],
        typed=query.pieces,
        total=chosen_pieces(product, quantities),
        submit_token=f"page-{uuid4()}",
        show_code=bool(query.code),
        has_address=saved is not None,
        code=order_code(
            public_url.text,
            detail.platform,
            offer.id,
            quantities or _smallest_order(product),
            saved.address if saved else SAMPLE_ADDRESS,
            str(uuid4()),
        ),
        product_url=product_path(detail.platform, offer.id),
        results_url=results_url("", detail.platform),
    )


def _smallest_order(product: Product) -> Mapping[str | None, int]:
    """The minimum order of the first variant in stock, else of the first one."""
    minimum = product.offer.min_order_quantity or 1
    in_stock = (sku.id for sku in product.skus if sku.stock is None or sku.stock > 0)
    return {next(in_stock, product.skus[0].id if product.skus else None): minimum}


def _chosen_query(body: PiecesForm) -> str:
    chosen = {f"pieces[{key}]": text.strip() for key, text in body.pieces.items() if text.strip()}
    return urlencode({**chosen, **({"code": "1"} if body.action == "code" else {})})


def _key(caller: Caller, path: str, body: PiecesForm) -> IdempotencyKey:
    """The idempotency key of a form; other quantities from the same page are another request."""
    token = idempotency.read_key(body.submit_token, required=True)
    fingerprint = idempotency.fingerprint(path, body.pieces)
    digest = hashlib.sha256(f"{token}\0".encode() + fingerprint).hexdigest()
    return IdempotencyKey(caller.account_id, "page add to cart", digest, fingerprint)


def _errors(error: ApiError) -> Mapping[str, str]:
    """The errors by variant; under "" the first of them, and what is about no variant."""
    messages = {
        str(each["pointer"]).removeprefix("/"): str(each["message"])
        for each in error.facts.get("errors", ())
    }
    if "sku_id" in messages:
        messages[""] = "A variant that you chose is no longer offered. Choose again."
    if "quantity" in messages:
        messages[""] = messages["quantity"]
    return {"": next(iter(messages.values()), error.detail), **messages}
