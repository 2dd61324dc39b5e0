"""The cart, in a browser: lines, address, live preview, one button to order, and its result."""

import re
from collections.abc import Sequence
from uuid import UUID, uuid4

from tradewind import ids
from tradewind.addresses import sql as address_sql
from tradewind.addresses.model import MOST_ADDRESSES, SavedAddress
from tradewind.auth.model import Buyer
from tradewind.background.background_tasks import BackgroundTasks
from tradewind.cart import sql
from tradewind.cart.change import change_quantity, remove_line
from tradewind.cart.checkout import check_out, find_checkout_id, get_checkout
from tradewind.cart.errors import CartChanged
from tradewind.cart.groups import group_lines
from tradewind.cart.model import LARGEST_QUANTITY, CartLine, CartSelection, Checkout
from tradewind.cart.preview import preview_groups
from tradewind.dashboard.cart import views
from tradewind.dashboard.products.lookup import product_path
from tradewind.dashboard.products.variants import read_quantity
from tradewind.dashboard.shell.forms import SubmitForm, errors_of
from tradewind.dashboard.shell.render import (
    LIVE_HEADER,
    PageResult,
    PageRoutes,
    Redirect,
    TemplatePage,
)
from tradewind.dashboard.shell.site import limit_marketplace_calls
from tradewind.dashboard.shell.urls import image_url
from tradewind.errors import Conflict, Invalid, ResourceNotFound
from tradewind.orders.person import Person
from tradewind.platforms.registry import Platforms
from tradewind.storage.pool import Database
from tradewind.web import idempotency
from tradewind.web.caller import Caller
from tradewind.web.idempotency import IdempotencyKey, RequestInFlight, StoredResponse
from tradewind.web.inputs import Input
from tradewind.web.request import Request
from tradewind.web.response import NO_STORE, Response
from tradewind.web.site import Form

routes = PageRoutes("/cart")

_TOTAL = re.compile(r"[0-9]{1,15}")


class CartQuery(Input):
    """The address to ship to; the default one if none is chosen."""

    address: str = ""


class QuantityForm(Form):
    """A new quantity, as it was typed."""

    quantity: str = ""
    address: str = ""


class LineForm(Form):
    """The address that the page was shown with."""

    address: str = ""


class CheckoutForm(SubmitForm):
    """What the page showed: the lines that can be ordered, and the total of each group in fen."""

    address: str = ""
    lines: str = ""
    expected: str = ""


@routes.get(expensive=True)
async def show_cart(
    request: Request, caller: Buyer, query: CartQuery, platforms: Platforms, db: Database
) -> PageResult:
    """Show the cart in the groups that it is ordered in, with what they cost now."""
    if LIVE_HEADER in request.headers:  # no live updates: they would call the marketplace
        return Response(None, 204, [NO_STORE])
    lines = await sql.list_lines(db, caller.account_id)
    addresses = await address_sql.list_addresses(
        db, caller.account_id, below=None, limit=MOST_ADDRESSES
    )
    chosen = _chosen_address(addresses, query.address)
    groups = group_lines(lines, lambda platform: platforms.marketplace(platform).traits)
    if chosen is not None and groups:
        await limit_marketplace_calls(db, caller)
        previews = await preview_groups(platforms, groups, chosen.address)
        shown = [views.previewed_group(result) for result in previews]
    else:
        shown = [views.seen_group(group) for group in groups]
    return TemplatePage(
        "cart/cart.html",
        images=_origins(platforms, lines),
        groups=shown,
        totals=views.totals(shown),
        addresses=addresses,
        chosen=chosen,
        submit_token=f"page-{uuid4()}",
        show=LineDisplay(platforms),
    )


@routes.post("/lines/{line_id}")
async def change_line(
    line_id: ids.CartLineId, caller: Buyer, body: QuantityForm, db: Database
) -> Redirect:
    """Change the quantity of a line; 0 removes it."""
    quantity = read_quantity(body.quantity)
    path = _cart_path(body.address)
    if quantity is None or not body.quantity.strip():
        message = f"Enter a whole number from 1 to {LARGEST_QUANTITY:,} as the quantity."
        return Redirect(path, message, tone="bad")
    try:
        if quantity == 0:
            await remove_line(db, caller.account_id, line_id)
            return Redirect(path, "Removed from the cart.")
        await change_quantity(db, caller.account_id, line_id, quantity)
    except ResourceNotFound:
        return Redirect(path, "This line is no longer in the cart.", tone="waiting")
    return Redirect(path)


@routes.post("/lines/{line_id}/remove")
async def delete_line(
    line_id: ids.CartLineId, caller: Buyer, body: LineForm, db: Database
) -> Redirect:
    """Remove a line."""
    path = _cart_path(body.address)
    try:
        await remove_line(db, caller.account_id, line_id)
    except ResourceNotFound:
        return Redirect(path, "This line is no longer in the cart.", tone="waiting")
    return Redirect(path, "Removed from the cart.")


@routes.post("/order")
async def place_orders(
    caller: Buyer,
    body: CheckoutForm,
    platforms: Platforms,
    db: Database,
    background_tasks: BackgroundTasks,
) -> Redirect:
    """Order what the page showed, at the totals that it showed; once, however often it is sent."""
    path = _cart_path(body.address)
    address_id = ids.ADDRESS.read(body.address)
    if address_id is None:
        return Redirect("/cart", "Choose an address first.", tone="bad")
    key = _key(caller, body)
    try:
        selection = CartSelection(
            address_id,
            [ids.CART_LINE.read(text) for text in body.lines.split(",")],
            _read_expected(body.expected),
        )
        unstored: StoredResponse[Checkout] = StoredResponse(None, lambda _: Response(None, 200))
        checkout = await check_out(
            db, platforms, background_tasks, Person.of(caller), key, selection, unstored
        )
        checkout_id: UUID | None = checkout.id
    except RequestInFlight:
        checkout_id = await find_checkout_id(db, key)
    except (Conflict, Invalid) as error:
        if "address_id" in errors_of(error):
            return Redirect("/cart", "This address was deleted. Choose another one.", tone="bad")
        message = "The cart has changed. Check it, and place the orders again."
        return Redirect(path, message, tone="bad")
    return Redirect(f"/cart/checkouts/{ids.CHECKOUT.show(checkout_id)}" if checkout_id else path)


@routes.get("/checkouts/{checkout_id}")
async def show_checkout(
    checkout_id: ids.CheckoutId, caller: Buyer, platforms: Platforms, db: Database
) -> TemplatePage:
    """Show what became of each group: its order, or why there is none."""
    checkout = await get_checkout(db, caller.account_id, checkout_id)
    lines = [line for group in checkout.groups for line in group.group.lines]
    placed = [group for group in checkout.groups if group.order is not None]
    return TemplatePage(
        "cart/checkout.html",
        images=_origins(platforms, lines),
        checkout=checkout,
        placed=placed,
        total_fen=sum(group.order.total_fen or 0 for group in placed if group.order),
        reason_text=views.reason_text,
        show=LineDisplay(platforms),
    )


def _chosen_address(addresses: Sequence[SavedAddress], text: str) -> SavedAddress | None:
    """The address with this id, else the default one."""
    wanted = ids.ADDRESS.read(text)
    named = next((saved for saved in addresses if saved.id == wanted), None)
    return named or next((saved for saved in addresses if saved.is_default), None)


def _cart_path(address: str) -> str:
    """The cart with the address that was chosen."""
    return "/cart" if ids.ADDRESS.read(address) is None else f"/cart?address={address}"


def _read_expected(text: str) -> Sequence[int]:
    """The totals in fen that the page showed; CartChanged if it cannot have shown them."""
    totals = text.split(",")
    if any(_TOTAL.fullmatch(total) is None for total in totals):
        raise CartChanged
    return [int(total) for total in totals]


def _key(caller: Caller, body: CheckoutForm) -> IdempotencyKey:
    token = idempotency.read_key(body.submit_token, required=True) or ""
    fingerprint = idempotency.fingerprint("/cart/order", [body.address, body.lines, body.expected])
    return IdempotencyKey(caller.account_id, "page cart order", token, fingerprint)


def _origins(platforms: Platforms, lines: Sequence[CartLine]) -> Sequence[str]:
    names = sorted({line.platform for line in lines})
    return list(dict.fromkeys(o for name in names for o in platforms.picture_origins(name)))


class LineDisplay:
    """What a template needs to show a line: its picture, its page, and its marketplace."""

    def __init__(self, platforms: Platforms) -> None:
        self._platforms = platforms

    def image(self, line: CartLine) -> str | None:
        return image_url(line.goods.image_url, self._platforms.picture_origins(line.platform))

    def href(self, line: CartLine) -> str:
        return product_path(line.platform, line.product_id)

    def marketplace(self, platform: str) -> str:
        return self._platforms.marketplace(platform).traits.name
