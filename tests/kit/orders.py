"""Sample orders as values: an order, its parts on a marketplace, a payment request."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from tradewind.auth.model import Role
from tradewind.orders.model import Order, OrderStatus
from tradewind.orders.payments.model import PaymentRequest, PaymentStatus, PayMode, RequestStatus
from tradewind.orders.person import Person
from tradewind.platforms.model import (
    Address,
    Item,
    Line,
    PaymentState,
    PlatformOrder,
)
from tradewind.platforms.model import PlatformOrderStatus as PlatformStatus

NOW = datetime(2026, 11, 15, 1, 2, 3, 4000, tzinfo=UTC)
BUYER = Person(UUID(int=1), "buyer@test.example", frozenset({Role.BUYER}))
APPROVER = Person(UUID(int=2), "approver@test.example", frozenset({Role.APPROVER}))
PAYMENT_ID = UUID(int=3)
ORDER_ID = UUID(int=4)
TOTAL = 1500


def an_item(product: str = "7", quantity: int = 1) -> Item:
    return Item(f"line-{product}", product, None, quantity, 1000, shipped=False)


def a_part(
    name: str = "900",
    status: PlatformStatus | None = PlatformStatus.PENDING_PAYMENT,
    payment: PaymentState = PaymentState.UNPAID,
    *,
    total: int = TOTAL,
    **more: Any,
) -> PlatformOrder:
    """An order on a platform: 5.00 of its total are freight, nothing is taken off."""
    plain: dict[str, Any] = {
        "reference": None,
        "raw_status": status.value if status else "a word that nobody knows",
        "total_fen": total,
        "goods_fen": total - 500,
        "freight_fen": 500,
        "discount_fen": 0,
        "refunded_fen": 0,
        "items": [an_item()],
        "shipments": [],
        "close_reason": None,
        "pay_before": None,
        "created_at": None,
        "paid_at": None,
        "modified_at": NOW,
    }
    return PlatformOrder(id=name, status=status, payment=payment, **(plain | more))


def a_request(
    status: RequestStatus = RequestStatus.PENDING_APPROVAL,
    mode: PayMode = PayMode.AUTO,
    amount: int = TOTAL,
    **more: Any,
) -> PaymentRequest:
    sums = more.pop("sums", {"900": amount})
    return PaymentRequest(PAYMENT_ID, status, amount, sums, mode, BUYER, NOW, **more)


def an_order(
    status: OrderStatus = OrderStatus.PENDING_PAYMENT,
    payment_status: PaymentStatus = PaymentStatus.UNPAID,
    parts: Sequence[PlatformOrder] | None = None,
    **more: Any,
) -> Order:
    """One of our orders, of one part that waits for payment unless it is told otherwise."""
    known = [a_part()] if parts is None else parts
    plain: dict[str, Any] = {
        "platform_payment_status": PaymentState.UNPAID,
        "platform_status": ", ".join(dict.fromkeys(part.raw_status for part in known)) or None,
        "goods_fen": sum(part.goods_fen for part in known) if known else None,
        "freight_fen": sum(part.freight_fen for part in known) if known else None,
        "discount_fen": 0 if known else None,
        "total_fen": sum(part.total_fen for part in known) if known else None,
        "paid_fen": 0,
        "refunded_fen": 0,
        "order_ids": [part.id for part in known],
        "refunds": [],
        "payment": None,
        "cancel_requested": False,
        "paid_outside": False,
        "pay_before": None,
        "updated_at": NOW,
        "cancel_sent_at": None,
    }
    return Order(
        id=ORDER_ID,
        account_id=BUYER.id,
        platform="sandbox",
        lines=[Line("7", None, 1)],
        address=Address("张三", "15251667788", "浙江省", "杭州市", "滨江区", "网商路699号"),
        remark=None,
        external_id=None,
        metadata={},
        expected_fen=None,
        previewed=True,
        status=status,
        payment_status=payment_status,
        parts=known,
        failure=None,
        dispute=False,
        close_reason=None,
        created_at=NOW,
        version=3,
        next_sync_at=NOW,
        synced_at=NOW,
        sync_failures=0,
        create_sent_at=NOW,
        now=NOW,
        **(plain | more),
    )


def paid_order(
    payment_status: PaymentStatus = PaymentStatus.PAID,
    status: OrderStatus = OrderStatus.PAID,
    refunded: int = 0,
    **more: Any,
) -> Order:
    """An order whose money has arrived, and of which some may have gone back."""
    state = PaymentState(payment_status)
    part = a_part(status=PlatformStatus(status), payment=state, refunded_fen=refunded)
    plain: dict[str, Any] = {
        "platform_payment_status": state,
        "paid_fen": TOTAL,
        "refunded_fen": refunded,
    }
    return an_order(status, payment_status, [part], **(plain | more))
