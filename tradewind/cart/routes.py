"""The cart over HTTP: read it, add, change and remove lines, preview it and order from it."""

from collections.abc import Sequence

from tradewind import ids
from tradewind.addresses.region_warnings import region_warnings
from tradewind.auth.model import Buyer
from tradewind.background.background_tasks import BackgroundTasks
from tradewind.cart import sql
from tradewind.cart.add import AddedLine, add_to_cart
from tradewind.cart.change import change_quantity, remove_line
from tradewind.cart.checkout import check_out
from tradewind.cart.choose import choose_address, choose_groups
from tradewind.cart.errors import CartChanged, CartEmpty, CartFull
from tradewind.cart.model import Checkout
from tradewind.cart.preview import preview_groups
from tradewind.cart.wire import (
    CartItemIn,
    CartItemOut,
    CartItemPatch,
    CartOrderOut,
    CartOut,
    CartPreviewOut,
    CartSelectionIn,
)
from tradewind.orders.person import Person
from tradewind.platforms.errors import (
    CapabilityNotSupported,
    PlatformAuthExpired,
    PlatformBusy,
    PlatformFailed,
    PlatformNotConfigured,
    UnsupportedPlatform,
)
from tradewind.platforms.registry import Platforms
from tradewind.storage.pool import Database
from tradewind.web.endpoint import Routes
from tradewind.web.idempotency import IdempotencyKey, StoredResponse
from tradewind.web.response import Response, location
from tradewind.web.scopes import Scope

routes = Routes("/v1/cart", tag="Cart")


@routes.get(scope=Scope.READ)
async def get_cart(caller: Buyer, db: Database) -> CartOut:
    """Look at your cart: at most 200 lines, one for each product and variant."""
    return CartOut.of(await sql.list_lines(db, caller.account_id))


@routes.post(
    "/items",
    scope=Scope.ORDER,
    status=201,
    returns=CartItemOut,
    also={200: "The product and variant were in the cart: their quantity was raised."},
    headers={"Location": "The path of the cart, which shows all lines."},
    errors=(
        UnsupportedPlatform,
        PlatformNotConfigured,
        CapabilityNotSupported,
        PlatformFailed,
        PlatformBusy,
        PlatformAuthExpired,
        CartFull,
    ),
    expensive=True,
)
async def add_cart_item(
    caller: Buyer,
    body: CartItemIn,
    idempotency_key: IdempotencyKey | None,
    platforms: Platforms,
    db: Database,
) -> Response:
    """Add a product to the cart.

    The platform is asked for it now, and what it shows is kept with the line. What is in the cart
    already gets the quantity on top.
    """
    (added,) = await add_to_cart(
        db,
        platforms,
        caller.account_id,
        body.platform,
        body.product_id,
        {body.sku_id: body.quantity},
        StoredResponse(idempotency_key, _added),
    )
    return _added([added])


def _added(lines: Sequence[AddedLine]) -> Response:
    """201 for a new line, 200 for one that was in the cart."""
    (added,) = lines
    if added.is_new:
        return Response(CartItemOut.of(added.line), 201, [location("cart")])
    return Response(CartItemOut.of(added.line), 200)


@routes.patch("/items/{id}", scope=Scope.ORDER)
async def update_cart_item(
    line_id: ids.CartLineId, caller: Buyer, body: CartItemPatch, db: Database
) -> CartItemOut:
    """Change the quantity of a line."""
    return CartItemOut.of(await change_quantity(db, caller.account_id, line_id, body.quantity))


@routes.delete("/items/{id}", scope=Scope.ORDER, status=204)
async def remove_cart_item(line_id: ids.CartLineId, caller: Buyer, db: Database) -> None:
    """Remove a line from the cart."""
    await remove_line(db, caller.account_id, line_id)


@routes.post("/preview", scope=Scope.READ, errors=(CartEmpty,), expensive=True)
async def preview_cart(
    caller: Buyer, body: CartSelectionIn, platforms: Platforms, db: Database
) -> CartPreviewOut:
    """Say what the cart, or some of its lines, would cost now; nothing is ordered.

    Lines are grouped as they would be ordered: by platform and, where the platform takes one
    seller per order, by seller. Each group has its preview or its error.
    """
    selection = body.selection()
    address = await choose_address(db, caller.account_id, selection.address)
    groups = await choose_groups(db, platforms, caller.account_id, selection.line_ids)
    previews = await preview_groups(platforms, groups, address)
    return CartPreviewOut.of(previews, region_warnings(address))


@routes.post(
    "/order",
    scope=Scope.ORDER,
    returns=CartOrderOut,
    errors=(CartEmpty, CartChanged),
    expensive=True,
)
async def order_cart(
    caller: Buyer,
    body: CartSelectionIn,
    idempotency_key: IdempotencyKey,
    platforms: Platforms,
    db: Database,
    background_tasks: BackgroundTasks,
) -> Response:
    """Order the cart, or some of its lines: one order for each group.

    Groups are those of the preview. The response has the order or the error of each; one that
    fails does not undo the others. Lines that are ordered leave the cart.

    The Idempotency-Key covers the whole request. If something is missing (`complete` is false),
    a repeat with the same key orders what is missing, and nothing twice.
    """
    checkout = await check_out(
        db,
        platforms,
        background_tasks,
        Person.of(caller),
        idempotency_key,
        body.selection(),
        StoredResponse(idempotency_key, _ordered),
    )
    return _ordered(checkout)


def _ordered(checkout: Checkout) -> Response:
    return Response(CartOrderOut.of(checkout), 200)
