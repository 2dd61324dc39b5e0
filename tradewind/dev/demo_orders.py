"""Demo orders for `tradewind dev`: a handful in different states, that move by themselves."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace

import msgspec

from tradewind.accounts import sql as accounts
from tradewind.audit.model import Actor
from tradewind.background.background_tasks import BackgroundTasks
from tradewind.dev import demo_addresses, demo_webhooks
from tradewind.dev.data_dir import Secrets
from tradewind.egress.client import Client
from tradewind.errors import TradewindError
from tradewind.observability.logs import log
from tradewind.orders import sql_lists
from tradewind.orders.cancel import cancel
from tradewind.orders.model import NewOrder, Order, OrderStatus
from tradewind.orders.payments import approve
from tradewind.orders.payments.model import NewRefund, PaymentStatus
from tradewind.orders.payments.refund import request_refund
from tradewind.orders.payments.request import request_payment
from tradewind.orders.person import Person
from tradewind.orders.place import place_order
from tradewind.orders.sql_lists import Filters
from tradewind.platforms.failures import Rejected
from tradewind.platforms.model import Line, RefundKind
from tradewind.runtime import wiring
from tradewind.settings import settings
from tradewind.settings.settings import Settings
from tradewind.storage.keyring import Keyring
from tradewind.storage.pool import Database
from tradewind.web.idempotency import StoredResponse
from tradewind.web.response import Response

_DEMO = Actor("tradewind dev")
_UNKEYED: StoredResponse[object] = StoredResponse(None, lambda _: Response())
_FIRST_TICK_SECONDS, _TICK_SECONDS = 0.5, 4.0
_MOST_ORDERS = 60
_SELLER_MOVES = {
    OrderStatus.PAID: "ship",
    OrderStatus.SHIPPED: "receive",
    OrderStatus.RECEIVED: "complete",
}


@dataclass(frozen=True, slots=True)
class Story:
    """An order that goes on until it stands at `until`, on a product of the simulator.

    It buys `quantity` of each of the first `variants`.
    """

    until: str
    platform: str
    product: str
    quantity: int = 2
    variants: int = 1


# A product of every catalogue, whatever its seed.
_PLAIN = "900000000001"


STORIES: Sequence[Story] = (
    Story("completed", "sandbox", "610013956535", 6, 2),
    Story("pending_approval", "alibaba", "610000157091", 12, 3),
    Story("shipped", "taobao", "610002114143", 4),
    Story("partially_refunded", "sandbox", "900000000020", 12),
    Story("unpaid", "alibaba", "610016002669", 20, 2),
    Story("failed", "sandbox", "900000000004"),
    Story("rejected", "sandbox", "610006030732", 50),
    Story("cancelled", "alibaba", "610021867383"),
    Story("paid", "taobao", "610011883923", 4),
    Story("pending_approval", "sandbox", "900000000007", 2),
)


def next_move(order: Order, until: str) -> str | None:
    """Return the next move of an order on its way to `until`; None: it stays as it is."""
    if until in (order.status, order.payment_status) or order.cancel_requested:
        return None
    if order.status is OrderStatus.PENDING_PAYMENT:
        return _next_about_money(order, until)
    if until == "partially_refunded" and order.status is OrderStatus.RECEIVED:
        return "refund_agree" if order.refunds else "refund"
    return _SELLER_MOVES.get(order.status)


def _next_about_money(order: Order, until: str) -> str | None:
    if until == "cancelled":
        return "cancel"
    if order.payment_status is PaymentStatus.UNPAID:
        return "request"
    if order.payment_status is PaymentStatus.PENDING_APPROVAL:
        return "reject" if until == "rejected" else "approve"
    return None


class Demo:
    """A buyer, an approver and sellers who move demo orders along."""

    def __init__(
        self, db: Database, client: Client, chosen: Settings, buyer: Person, approver: Person
    ) -> None:
        self._db = db
        self._client = client
        self._background_tasks = BackgroundTasks()
        self._platforms = wiring.platforms_of(chosen, db, Keyring(chosen.secret_key), client)
        self._modes = wiring.pay_modes_of(chosen, self._platforms)
        self._buyer = buyer
        self._approver = approver

    async def tick(self) -> float:
        """Move the order that changed longest ago, or place one; seconds until the next move."""
        orders = await sql_lists.list_by_change(
            self._db, Filters(account_id=self._buyer.id), below=None, limit=_MOST_ORDERS
        )
        begun = {order.external_id for order in orders}
        for number, story in enumerate(STORIES, 1):
            if f"demo-{number}" not in begun:
                await self._begin(f"demo-{number}", story)
                return _FIRST_TICK_SECONDS
        for order in reversed(orders):
            until = order.metadata.get("demo")
            move = next_move(order, until) if until else None
            if move is not None:
                await self._do(order, move)
                return _TICK_SECONDS
        if len(orders) < _MOST_ORDERS:
            await self._begin(f"demo-{len(orders) + 1}", STORIES[0])
        return _TICK_SECONDS

    async def aclose(self) -> None:
        await self._background_tasks.close()

    async def _begin(self, name: str, story: Story) -> None:
        connector = await self._platforms.connector(story.platform)
        try:
            product = await connector.detail(story.product, "en")
        except Rejected:  # a catalogue of another seed does not have it
            story = replace(story, product=_PLAIN)
            product = await connector.detail(story.product, "en")
        skus = product.skus[: story.variants]
        wanted = NewOrder(
            platform=story.platform,
            lines=[Line(story.product, sku.id, story.quantity) for sku in skus],
            address=demo_addresses.WAREHOUSE,
            remark=None,
            expected_fen=None,
            external_id=name,
            metadata={"demo": story.until},
        )
        await place_order(
            self._db, self._platforms, self._background_tasks, self._buyer, wanted, _UNKEYED
        )

    async def _do(self, order: Order, move: str) -> None:
        db = self._db
        log.info("demo.move", order=order.reference, move=move)
        if move == "request":
            note = "Restock for the autumn window, needed before 2 December."
            await request_payment(
                db, _DEMO, self._buyer, order.id, self._modes, None, _UNKEYED, note=note
            )
        elif move == "approve" and order.payment is not None:
            await approve.approve(db, _DEMO, self._approver, order.payment.id, None, _UNKEYED)
        elif move == "reject" and order.payment is not None:
            reason = "Too much for one order."
            await approve.reject(db, _DEMO, self._approver, order.payment.id, reason, _UNKEYED)
        elif move == "cancel":
            await cancel(
                db, self._platforms, self._background_tasks, self._buyer, order.id, _UNKEYED
            )
        elif move == "refund":
            refund = NewRefund(RefundKind.REFUND_ONLY, "damaged", amount_fen=800)
            await request_refund(
                db,
                self._platforms,
                self._background_tasks,
                _DEMO,
                self._buyer,
                order.id,
                refund,
                _UNKEYED,
            )
        else:
            await self._at_the_marketplace(order, move)

    async def _at_the_marketplace(self, order: Order, step: str) -> None:
        """Do what only the seller or a courier can do; a notice follows."""
        origin = self._platforms.simulated_origin(order.platform)
        for order_id in order.order_ids if origin else ():
            await self._client.post(
                f"{origin}/_control/orders/{order_id}/advance",
                msgspec.json.encode({"to": step}),
                ["Content-Type: application/json"],
                seconds=5,
                repeatable=False,
            )


async def live(environ: Mapping[str, str], secrets: Secrets) -> None:
    """Move the demo orders along until cancelled. What fails is logged, and tried again."""
    chosen = settings.load(environ)
    db = Database(chosen.database_url, size=2, name="tradewind demo")
    client = Client()
    await db.open()
    try:
        buyer = await accounts.find_account(db, email=secrets.buyer.email)
        approver = await accounts.find_account(db, email=secrets.operator.email)
        if buyer is None or approver is None:
            return
        people = Person(buyer.id, buyer.email), Person(approver.id, approver.email)
        await demo_addresses.prepare(db, buyer.id)
        demo = Demo(db, client, chosen, *people)
        keyring = Keyring(chosen.secret_key)
        async with demo_webhooks.receiving(db, keyring, chosen, buyer.id), aclosing(demo):
            while True:
                pause = _TICK_SECONDS
                try:
                    pause = await demo.tick()
                except (TradewindError, OSError) as error:
                    log.warning("demo.move_failed", error=str(error))
                await asyncio.sleep(pause)
    finally:
        await client.close()
        await db.close()
