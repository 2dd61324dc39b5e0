"""Payments: debits an order once, and once for each operation id."""

from enum import StrEnum

from msgspec.structs import replace

from tradewind_simulator import magic, orders
from tradewind_simulator.model import Due, Entry, Order, Status
from tradewind_simulator.world import World

SETTLE_SECONDS = 3.0  # of world time, from the acceptance of a batch payment to its outcome


class PaymentError(StrEnum):
    """Why a payment failed."""

    NOT_UNPAID = "ORDER_STATUS_ERROR"
    ALREADY_PAID = "ORDER_ALREADY_PAID"
    WRONG_AMOUNT = "PAY_AMOUNT_NOT_MATCH"
    NO_BALANCE = "ACCOUNT_BALANCE_NOT_ENOUGH"
    OTHER_ORDER = "PARAM_ILLEGAL"


def debit(
    world: World, order: Order, at: float, *, operation: str, channel: str, fen: int | None
) -> Order | PaymentError:
    """Pay an order from the buyer's account.

    The same operation id again takes nothing and succeeds again; another one on a paid order
    is rejected.
    """
    earlier = world.operation(order.app, operation) if operation else None
    if earlier is not None:
        return order if earlier.order == order.id else PaymentError.OTHER_ORDER
    if order.paid_at is not None:
        return PaymentError.ALREADY_PAID
    if order.status is not Status.UNPAID:
        return PaymentError.NOT_UNPAID
    if fen is not None and fen != order.total_fen:
        return PaymentError.WRONG_AMOUNT
    if magic.PAYMENT_FAILS in world.magic_words(order):
        return PaymentError.NO_BALANCE
    return take_money(world, order, at, operation=operation, channel=channel)


def take_money(world: World, order: Order, at: float, *, operation: str, channel: str) -> Order:
    change = orders.pay(order, at, world.magic_words(order))
    entry = Entry(
        id=world.ids.next(),
        order=order.id,
        app=order.app,
        kind="debit",
        fen=order.total_fen,
        at=at,
        operation=operation,
        channel=channel,
    )
    world.book(entry)
    return world.put(change)


def accept(world: World, order: Order, at: float) -> Order | PaymentError:
    """Accept a batch payment, which is made later; accepting it twice changes nothing."""
    if order.paid_at is not None:
        return PaymentError.ALREADY_PAID
    if order.status is not Status.UNPAID:
        return PaymentError.NOT_UNPAID
    if magic.PAYMENT_FAILS in world.magic_words(order):
        return PaymentError.NO_BALANCE
    if order.paying:
        return order
    accepted = replace(
        order,
        paying=True,
        due=(*order.due, Due(at + SETTLE_SECONDS, "pay_settle")),
    )
    return world.put(orders.Change(orders.touched(accepted, at), None))


def settle_batch(world: World, order: Order, at: float) -> Order:
    """Make an accepted batch payment; an order that was closed meanwhile is not paid."""
    if order.status is not Status.UNPAID:
        return world.put(orders.Change(replace(order, paying=False), None))
    return take_money(world, order, at, operation=f"batch-{order.id}", channel="balance")
