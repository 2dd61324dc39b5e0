"""The search box: takes any ID or a part of one and opens its page, or lists results."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Annotated
from uuid import UUID

from msgspec import Meta

from tradewind import ids
from tradewind.accounts import sql as account_sql
from tradewind.addresses import sql as address_sql
from tradewind.addresses.model import MOST_ADDRESSES, SavedAddress
from tradewind.audit import sql as audit_sql
from tradewind.auth.api_keys import sql as key_sql
from tradewind.auth.model import Role
from tradewind.cart import sql as cart_sql
from tradewind.cart.model import CartLine
from tradewind.dashboard.admin import queries as admin_queries
from tradewind.dashboard.admin.queries import ListedAccount
from tradewind.dashboard.orders.goods import OrderGoods
from tradewind.dashboard.orders.queries import find_orders
from tradewind.dashboard.products.lookup import may_name_product, search_path
from tradewind.dashboard.search import queries
from tradewind.dashboard.search.queries import NamedImport
from tradewind.dashboard.shell.render import PageResult, PageRoutes, Redirect, TemplatePage
from tradewind.errors import ResourceNotFound
from tradewind.imports.get_import import get_import
from tradewind.orders import sql_lists
from tradewind.orders.model import Order
from tradewind.orders.payments import sql as payment_sql
from tradewind.orders.sql_lists import Filters
from tradewind.platforms.registry import Platforms
from tradewind.products.wire import LONGEST_TEXT
from tradewind.storage.pool import Database
from tradewind.web.caller import Caller
from tradewind.web.inputs import Input
from tradewind.webhooks import sql as webhook_sql
from tradewind.webhooks.headers import DELIVERY
from tradewind.webhooks.model import Subscription

routes = PageRoutes("/search")

_MOST = 20
# A part of an ID is looked for in this many of the latest orders.
_RECENT = 5000
# Two Chinese characters are a word.
_SHORTEST_PART = 2
_WEBHOOKS = 1000
# Letters that are easily taken for digits, which IDs do not contain.
_LOOKALIKES = str.maketrans("OIL", "011")
# How far the clock of the database may differ from that of the process that made an id.
_CLOCK_SKEW = timedelta(hours=1)
_CART = "/cart"


class SearchQuery(Input):
    """The text to search for."""

    q: Annotated[str, Meta(max_length=LONGEST_TEXT)] = ""


@dataclass(frozen=True, slots=True)
class SearchResults:
    """What a text names: the path of its page if it is one thing, else the results."""

    path: str | None = None
    orders: Sequence[Order] = ()
    webhooks: Sequence[Subscription] = ()
    accounts: Sequence[ListedAccount] = ()
    cart_lines: Sequence[CartLine] = ()
    imports: Sequence[NamedImport] = ()
    addresses: Sequence[SavedAddress] = ()

    @property
    def count(self) -> int:
        lists: Sequence[Sequence[object]] = (
            *(self.orders, self.webhooks, self.accounts),
            *(self.cart_lines, self.imports, self.addresses),
        )
        return sum(map(len, lists))


@routes.get(expensive=True)
async def search(
    caller: Caller, query: SearchQuery, db: Database, platforms: Platforms
) -> PageResult:
    """Open the page of the only result, or list the results."""
    text = query.q.strip()
    results = await find(db, caller, text) if text else SearchResults()
    if results.path is not None:
        return Redirect(results.path)
    if not results.count and may_name_product(text):
        return Redirect(search_path(text))
    owners = [order.account_id for order in results.orders]
    goods = OrderGoods(platforms)
    return TemplatePage(
        "search/search.html",
        images=goods.origins,
        goods=goods,
        text=text,
        results=results,
        owners=await admin_queries.account_names(db, owners),
        supported=_supported(caller),
    )


def _supported(caller: Caller) -> list[tuple[str, str]]:
    """What the caller can search for."""
    is_buyer, is_operator = Role.BUYER in caller.roles, Role.OPERATOR in caller.roles
    parts = f"a part of it finds the latest {_RECENT:,} orders"
    urls = "a part of its URL finds a webhook"
    supported: list[tuple[str, str]] = []
    if is_buyer or is_operator:
        supported += [
            ("Order", f"{ids.ORDER.prefix}…, marketplace order ID or external ID; {parts}"),
            ("Parcel", f"Tracking number; {parts}"),
            ("Goods", f"The title of a product, or its seller; {parts}"),
            ("Event or refund", f"{ids.EVENT.prefix}… or {ids.REFUND.prefix}…: opens its order"),
            ("Webhook or replay", f"{ids.SUBSCRIPTION.prefix}… or {ids.JOB.prefix}…; {urls}"),
        ]
    if is_buyer:
        supported += [
            ("Attempt", f"{ids.DELIVERY.prefix}…, from {DELIVERY}"),
            ("Cart", "The title of a product in it, its seller, or its product ID"),
            ("Import", f"{ids.IMPORT.prefix}…, or a part of its file name"),
            ("Address", f"{ids.ADDRESS.prefix}…, or a part of its label or recipient"),
        ]
    if is_buyer or is_operator or Role.APPROVER in caller.roles:
        supported.append(("Payment request", f"{ids.PAYMENT.prefix}…"))
    supported += [
        ("Product", "A link to it, or its ID at a marketplace"),
        ("API key", f"{ids.API_KEY.prefix}…"),
    ]
    if is_operator:
        supported += [
            ("Account", f"{ids.ACCOUNT.prefix}…, e-mail, or a part of the name"),
            ("Request", f"{ids.REQUEST.prefix}…: opens its audit entries"),
        ]
    return supported


async def find(db: Database, caller: Caller, text: str) -> SearchResults:
    """What `text` names, as far as the caller may see it."""
    search = _Search(db, caller)
    for kind, page_of in (
        (ids.ORDER, search.order),
        (ids.EVENT, search.event),
        (ids.DELIVERY, search.delivery),
        (ids.SUBSCRIPTION, search.webhook),
        (ids.API_KEY, search.key),
        (ids.ACCOUNT, search.account),
        (ids.PAYMENT, search.payment),
        (ids.REFUND, search.refund),
        (ids.JOB, search.replay),
        (ids.ADDRESS, search.address),
        (ids.IMPORT, search.stored_import),
        (ids.CART_LINE, search.cart_line),
    ):
        value = read_typed_id(kind, text)
        if value is not None:
            return SearchResults(await page_of(value))
    if ids.REQUEST.read(text) is not None and text.startswith(ids.REQUEST.prefix):
        return SearchResults(await search.request(text))
    return await search.other(text)


def read_typed_id(kind: ids.Kind, text: str) -> UUID | None:
    """An ID as people type it, in any case; None if the text is no ID of this kind."""
    if not text.lower().startswith(kind.prefix.lower()):
        return None
    digits = text[len(kind.prefix) :].upper().translate(_LOOKALIKES)
    return kind.read(kind.prefix + digits)


class _Search:
    """The lookups of one caller. Each returns the path of a page, or None."""

    def __init__(self, db: Database, caller: Caller) -> None:
        self._db = db
        self._me = caller.account_id
        self._is_buyer = Role.BUYER in caller.roles
        self._is_approver = Role.APPROVER in caller.roles
        self._is_operator = Role.OPERATOR in caller.roles

    async def order(self, order_id: UUID) -> str | None:
        order = await sql_lists.find_order(self._db, None, order_id)
        return None if order is None else await self._order_page(order.id, order.account_id)

    async def event(self, event_id: UUID) -> str | None:
        order_id = await queries.order_of_event(self._db, self._scope, event_id)
        return None if order_id is None else await self.order(order_id)

    async def delivery(self, delivery_id: UUID) -> str | None:
        if not self._is_buyer:
            return None
        webhook = await queries.webhook_of_delivery(
            self._db, self._me, delivery_id, about=_created_at(delivery_id), within=_CLOCK_SKEW
        )
        if webhook is None:
            return None
        shown = ids.DELIVERY.show(delivery_id)
        return f"/webhooks/{ids.SUBSCRIPTION.show(webhook)}/deliveries/{shown}"

    async def webhook(self, webhook_id: UUID) -> str | None:
        subscription = await webhook_sql.find_subscription(self._db, None, webhook_id)
        if subscription is None:
            return None
        shown = ids.SUBSCRIPTION.show(webhook_id)
        if self._is_buyer and subscription.account_id == self._me:
            return f"/webhooks/{shown}"
        return f"/endpoints/{shown}" if self._is_operator else None

    async def key(self, key_id: UUID) -> str | None:
        owner = await key_sql.find_owner(self._db, key_id)
        if owner is None:
            return None
        if owner == self._me:
            return "/keys"
        return f"/accounts/{ids.ACCOUNT.show(owner)}" if self._is_operator else None

    async def account(self, account_id: UUID) -> str | None:
        if self._is_operator and await account_sql.find_account(self._db, account_id=account_id):
            return f"/accounts/{ids.ACCOUNT.show(account_id)}"
        return "/account" if account_id == self._me else None

    async def payment(self, payment_id: UUID) -> str | None:
        pair = await payment_sql.find_payment(self._db, payment_id)
        if pair is None:
            return None
        if self._is_approver:
            return f"/approvals/{ids.PAYMENT.show(payment_id)}"
        return await self._order_page(pair[1].id, pair[1].account_id)

    async def refund(self, refund_id: UUID) -> str | None:
        order_id = await queries.order_of_refund(
            self._db, self._scope, refund_id, requested_at=_created_at(refund_id) - _CLOCK_SKEW
        )
        return None if order_id is None else await self.order(order_id)

    async def replay(self, replay_id: UUID) -> str | None:
        webhook = await queries.webhook_of_replay(self._db, self._scope, replay_id)
        return None if webhook is None else await self.webhook(webhook)

    async def address(self, address_id: UUID) -> str | None:
        if not self._is_buyer:
            return None
        saved = await address_sql.find_address(self._db, self._me, address_id)
        return None if saved is None else _address_path(saved)

    async def stored_import(self, import_id: UUID) -> str | None:
        if not self._is_buyer:
            return None
        try:
            await get_import(self._db, self._me, import_id)
        except ResourceNotFound:
            return None
        return f"/imports/{ids.IMPORT.show(import_id)}"

    async def cart_line(self, line_id: UUID) -> str | None:
        lines = await cart_sql.list_lines(self._db, self._me) if self._is_buyer else ()
        return _CART if any(line.id == line_id for line in lines) else None

    async def request(self, text: str) -> str | None:
        """The audit entries of a request, for operators only."""
        if not self._is_operator:
            return None
        entries = await audit_sql.list_entries(self._db, about=text, limit=1)
        return f"/audit?about={text}" if entries else None

    async def other(self, text: str) -> SearchResults:
        """IDs that others gave to an order, and other things by a part of their names."""
        orders: Sequence[Order] = ()
        webhooks: Sequence[Subscription] = ()
        if self._is_buyer or self._is_operator:
            orders = await find_orders(self._db, Filters(self._scope), text, limit=_MOST)
            if not orders and len(text) >= _SHORTEST_PART:
                orders = await self._orders_by_part(text)
        cart_lines: Sequence[CartLine] = ()
        imports: Sequence[NamedImport] = ()
        addresses: Sequence[SavedAddress] = ()
        if self._is_buyer and len(text) >= _SHORTEST_PART:
            webhooks = await self._webhooks_by_part(text)
            cart_lines = await self._cart_lines_by_part(text)
            imports = await queries.imports_by_name(self._db, self._me, text, limit=_MOST)
            addresses = await self._addresses_by_part(text)
        accounts: Sequence[ListedAccount] = ()
        if self._is_operator:
            accounts = await admin_queries.list_accounts(self._db, text=text, limit=_MOST)
            exact = [account for account in accounts if account.email == text.lower()]
            accounts = exact or accounts
        results = SearchResults(None, orders, webhooks, accounts, cart_lines, imports, addresses)
        return replace(results, path=await self._only_path(results))

    async def _only_path(self, results: SearchResults) -> str | None:
        """The path of the only result; None if there are several, or none."""
        if results.count != 1:
            return None
        if results.orders:
            (order,) = results.orders
            return await self._order_page(order.id, order.account_id)
        paths = [
            *(f"/webhooks/{ids.SUBSCRIPTION.show(hook.id)}" for hook in results.webhooks),
            *(f"/accounts/{ids.ACCOUNT.show(account.id)}" for account in results.accounts),
            *(_CART for _ in results.cart_lines),
            *(f"/imports/{ids.IMPORT.show(stored.id)}" for stored in results.imports),
            *(_address_path(saved) for saved in results.addresses),
        ]
        return paths[0]

    async def _orders_by_part(self, text: str) -> Sequence[Order]:
        """The latest orders of which an ID contains the text, newest first."""
        part = text.upper()
        recent = await queries.recent_orders(self._db, self._scope, text, limit=_RECENT)
        matching = [
            order.id for order in recent if order.matches or part in ids.ORDER.show(order.id)
        ]
        if self._scope is not None:
            orders = await sql_lists.find_many(self._db, self._scope, matching[:_MOST])
            return sorted(orders, key=lambda order: order.id, reverse=True)
        lookups = [
            await sql_lists.find_order(self._db, None, order_id) for order_id in matching[:_MOST]
        ]
        return [order for order in lookups if order is not None]

    async def _webhooks_by_part(self, text: str) -> Sequence[Subscription]:
        """The account's own webhooks of which the URL or the description contains the text."""
        subscriptions = await webhook_sql.list_subscriptions(
            self._db, self._me, below=None, limit=_WEBHOOKS
        )
        part = text.lower()
        return [
            hook
            for hook in subscriptions
            if part in hook.url.lower() or part in hook.description.lower()
        ][:_MOST]

    async def _cart_lines_by_part(self, text: str) -> Sequence[CartLine]:
        """The lines of the cart of which the product, its title or its seller is meant."""
        part = text.lower()

        def is_meant(line: CartLine) -> bool:
            goods = line.goods
            texts = (goods.title, goods.title_translated, goods.seller_name)
            return line.product_id == text or any(part in (name or "").lower() for name in texts)

        lines = await cart_sql.list_lines(self._db, self._me)
        return [line for line in lines if is_meant(line)][:_MOST]

    async def _addresses_by_part(self, text: str) -> Sequence[SavedAddress]:
        """The saved addresses of which the label or the recipient contains the text."""
        part = text.lower()
        saved = await address_sql.list_addresses(
            self._db, self._me, below=None, limit=MOST_ADDRESSES
        )
        names = ((address, f"{address.label}\n{address.address.name}") for address in saved)
        return [address for address, name in names if part in name.lower()][:_MOST]

    @property
    def _scope(self) -> UUID | None:
        """The account to search in; None: an operator searches in all accounts."""
        return None if self._is_operator else self._me

    async def _order_page(self, order_id: UUID, owner: UUID) -> str | None:
        if self._is_buyer and owner == self._me:
            return f"/orders/{ids.ORDER.show(order_id)}"
        if self._is_operator:
            return f"/admin/orders/{ids.ORDER.show(order_id)}"
        if self._is_approver:
            payment = await queries.payment_of_order(self._db, order_id)
            return None if payment is None else f"/approvals/{ids.PAYMENT.show(payment)}"
        return None


def _address_path(saved: SavedAddress) -> str:
    return f"/addresses/{ids.ADDRESS.show(saved.id)}/edit"


def _created_at(value: UUID) -> datetime:
    """The time in the first 48 bits of an id; an invented id may leave the calendar."""
    millis = min(value.int >> 80, 32_503_680_000_000)
    return datetime.fromtimestamp(millis / 1000, UTC)
