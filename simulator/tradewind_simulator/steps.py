"""The steps of an order by name: taken when they are due, or by the control API."""

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from tradewind_simulator import magic, orders, payments, refunds
from tradewind_simulator.model import Entry, Order, Refund, RefundStatus, Status
from tradewind_simulator.orders import Event, StepNotPossible
from tradewind_simulator.world import World

BUYER, SELLER, SYSTEM, PLATFORM = (
    "CLOSE_TRADE_BY_BUYER",
    "CLOSE_TRADE_BY_SELLER",
    "CLOSE_TRADE_BY_SYSTEM",
    "CLOSE_TRADE_BY_BOPS",
)


class Details(Struct, frozen=True):
    """The parameters of a step; zero means the latest open refund."""

    fen: int = 0
    freight_fen: int | None = None
    refund: int = 0
    with_return: bool = False


Step = Callable[[World, Order, float, Details], Order]


def settle(world: World, until: float) -> int:
    """Take all steps that are due, each at its own time and in that order."""
    count = 0
    while (due := world.next_due(until)) is not None:
        at, order_id, what, which = due
        order = world.orders[order_id]
        order = replace(
            order, due=tuple(d for d in order.due if (d.at, d.what, d.which) != (at, what, which))
        )
        world.orders[order_id] = order
        try:
            STEPS[what](world, order, at, Details(refund=which))
        except StepNotPossible:
            continue
        count += 1
    return count


def take(world: World, order: Order, at: float, what: str, details: Details) -> Order:
    """Take a step by hand; steps before it are not taken."""
    return STEPS[what](world, order, at, details)


def _build(world: World, order: Order, at: float, _: Details) -> Order:
    return world.put(orders.build(order, at))


def _pay(world: World, order: Order, at: float, _: Details) -> Order:
    """Pay an order, as a person would on the marketplace's page."""
    if order.status is not Status.UNPAID:
        raise StepNotPossible(order, "pay")
    return payments.take_money(world, order, at, operation="", channel="alipay")


def _pay_settle(world: World, order: Order, at: float, _: Details) -> Order:
    return payments.settle_batch(world, order, at)


def _expire(world: World, order: Order, at: float, _: Details) -> Order:
    change = orders.close_unpaid(order, at, SYSTEM, "other", Event.SYSTEM_CLOSED)
    return world.put(change)


def _cancel_settle(world: World, order: Order, at: float, _: Details) -> Order:
    """Complete an asynchronous cancellation; an order that was paid meanwhile stays."""
    if order.status not in (Status.UNPAID, Status.BUILDING):
        return world.put(orders.Change(replace(order, cancelling=False), None))
    change = orders.close_unpaid(order, at, BUYER, "buyerCancel", Event.BUYER_CLOSED)
    return world.put(change)


def _close_by_seller(world: World, order: Order, at: float, _: Details) -> Order:
    return _close(world, order, at, SELLER, "sellerGoodsLack", Event.SELLER_CLOSED)


def _close_by_platform(world: World, order: Order, at: float, _: Details) -> Order:
    return _close(world, order, at, PLATFORM, "other", Event.SYSTEM_CLOSED)


def _close_by_buyer(world: World, order: Order, at: float, _: Details) -> Order:
    change = orders.close_unpaid(order, at, BUYER, "buyerCancel", Event.BUYER_CLOSED)
    return world.put(change)


def _close(world: World, order: Order, at: float, by: str, reason: str, event: Event) -> Order:
    """Close an order; a paid order is refunded in full."""
    if order.paid_at is None:
        return world.put(orders.close_unpaid(order, at, by, reason, event))
    change = orders.terminate(order, at, by, reason, event)
    rest = order.paid_fen - order.refunded_fen
    if rest:
        freight = min(order.freight_fen, rest)
        refund = Refund(
            id=world.ids.next(),
            status=RefundStatus.DONE,
            lines=tuple(line.id for line in order.lines),
            goods_fen=rest - freight,
            freight_fen=freight,
            with_return=False,
            reason_id=20007,
            reason="卖家缺货",
            note="",
            after_sales=False,
            asked_at=at,
            changed_at=at,
            done_at=at,
        )
        _book_refund(world, order, refund, at)
        live = tuple(r for r in change.order.refunds if r.status is RefundStatus.DONE)
        closed = replace(
            change.order, refunds=(*live, refund), lines=refunds.credited(order, refund)
        )
        change = orders.Change(closed, event)
    return world.put(change)


def _ship(world: World, order: Order, at: float, _: Details) -> Order:
    return world.put(orders.ship(order, at, world.new_parcel(at)))


def _partial_ship(world: World, order: Order, at: float, _: Details) -> Order:
    return world.put(orders.partial_ship(order, at, world.new_parcel(at)))


def _receive(world: World, order: Order, at: float, _: Details) -> Order:
    return world.put(orders.receive(order, at))


def _complete(world: World, order: Order, at: float, _: Details) -> Order:
    if order.status is Status.SHIPPED:
        order = world.put(orders.receive(order, at))
    return world.put(orders.complete(order, at))


def _change_price(world: World, order: Order, at: float, details: Details) -> Order:
    return world.put(orders.change_price(order, at, details.fen, details.freight_fen))


def _raise_price(world: World, order: Order, at: float, _: Details) -> Order:
    """Raise the price by two yuan for each piece of the magic product."""
    pieces = sum(
        line.quantity
        for line in order.lines
        if world.products[line.product].magic == magic.PRICE_MODIFIED
    )
    return world.put(orders.change_price(order, at, order.total_fen + pieces * magic.RISE_FEN))


def _refund_request(world: World, order: Order, at: float, details: Details) -> Order:
    """Request a refund, as the buyer would on the marketplace's page; zero fen means all."""
    goods, freight = refunds.refundable_fen(order)
    refund = Refund(
        id=world.ids.next(),
        status=RefundStatus.ASKED,
        lines=tuple(line.id for line in order.open_lines),
        goods_fen=min(goods, details.fen) if details.fen else goods,
        freight_fen=min(freight, max(0, details.fen - goods)) if details.fen else freight,
        with_return=details.with_return,
        reason_id=20028,
        reason="其他",
        note="",
        after_sales=order.status is Status.SUCCESS,
        asked_at=at,
        changed_at=at,
    )
    if refund.total_fen == 0:
        raise StepNotPossible(order, "refund")
    return world.put(refunds.ask(order, at, refund))


def _with_refund(move: Callable[[Order, float, Refund], orders.Change]) -> Step:
    def step(world: World, order: Order, at: float, details: Details) -> Order:
        refund = refunds.find(order, details.refund)
        if refund is None:
            raise StepNotPossible(order, "a refund that does not exist")
        change = move(order, at, refund)
        done = refunds.find(change.order, refund.id)
        if done is not None and done.status is RefundStatus.DONE:
            _book_refund(world, order, done, at)
        return world.put(change)

    return step


def _refund_agree(order: Order, at: float, refund: Refund) -> orders.Change:
    return refunds.agree(order, at, refund)


def _book_refund(world: World, order: Order, refund: Refund, at: float) -> None:
    entry = Entry(
        id=world.ids.next(),
        order=order.id,
        app=order.app,
        kind="refund",
        fen=refund.total_fen,
        at=at,
        operation=f"refund-{refund.id}",
        channel="alipay",
    )
    world.book(entry)


STEPS: dict[str, Step] = {
    "build": _build,
    "pay": _pay,
    "pay_settle": _pay_settle,
    "expire": _expire,
    "cancel_settle": _cancel_settle,
    "close_by_seller": _close_by_seller,
    "close_by_platform": _close_by_platform,
    "close_by_buyer": _close_by_buyer,
    "ship": _ship,
    "partial_ship": _partial_ship,
    "receive": _receive,
    "complete": _complete,
    "change_price": _change_price,
    "raise_price": _raise_price,
    "refund_request": _refund_request,
    "refund_agree": _with_refund(_refund_agree),
    "refund_refuse": _with_refund(refunds.reject),
    "refund_return": _with_refund(refunds.send_back),
    "refund_complete": _with_refund(refunds.pay_back),
    "refund_close": _with_refund(refunds.close),
}
