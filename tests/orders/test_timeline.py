"""What counts as a change of an order: its values, not how the API shows them."""

from datetime import timedelta
from typing import Any

import msgspec
import pytest
from kit.orders import NOW, TOTAL, a_part, a_request, an_order, paid_order
from msgspec.structs import replace

from tradewind import ids
from tradewind.orders import advance, timeline, wire
from tradewind.orders.model import Cause, Order, OrderStatus
from tradewind.orders.payments.model import Failure, OrderRefund, PaymentStatus, RequestStatus
from tradewind.platforms.model import (
    CloseReason,
    PaymentState,
    PlatformOrderStatus,
    RefundKind,
    RefundState,
    Shipment,
)

LATER = NOW + timedelta(hours=1)
REFUND = OrderRefund(
    ids.new(),
    "R1",
    "900",
    RefundState.REQUESTED,
    RefundKind.REFUND_ONLY,
    1000,
    0,
    "damaged",
    None,
    None,
    NOW,
    NOW,
)
SHIPPED = a_part(
    status=PlatformOrderStatus.SHIPPED,
    payment=PaymentState.PAID,
    shipments=[Shipment("ZTO", "ZT1", NOW, ["line-7"])],
)
# Fields of the API that follow from others, or say when an order was synced.
NO_CHANGE = {"updated_at", "version", "synced_at", "next_sync_at", "stale", "waiting_for"}


def shown(order: Order) -> dict[str, Any]:
    value: dict[str, Any] = msgspec.to_builtins(wire.OrderOut.of(order))
    return value


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (an_order(OrderStatus.CREATING, parts=[]), an_order()),
        (an_order(), an_order(parts=[a_part(total=TOTAL + 200)])),
        (an_order(), an_order(payment_status=PaymentStatus.PENDING_APPROVAL, payment=a_request())),
        (
            an_order(payment=a_request()),
            an_order(payment=a_request(RequestStatus.REJECTED, reason="Too expensive.")),
        ),
        (an_order(), paid_order()),
        (paid_order(), paid_order(PaymentStatus.PARTIALLY_REFUNDED, refunded=100)),
        (paid_order(), replace(paid_order(), parts=[SHIPPED])),
        (paid_order(), replace(paid_order(), refunds=[REFUND])),
        (
            replace(paid_order(), refunds=[REFUND]),
            replace(paid_order(), refunds=[replace(REFUND, state=RefundState.SUCCEEDED)]),
        ),
        (an_order(), an_order(cancel_requested=True, pay_before=LATER)),
        (an_order(), replace(an_order(), dispute=True, paid_outside=True)),
        (
            an_order(),
            replace(an_order(OrderStatus.CANCELLED), close_reason=CloseReason.TIMEOUT),
        ),
        (
            an_order(OrderStatus.CREATING, parts=[]),
            replace(
                an_order(OrderStatus.CREATE_FAILED, parts=[]),
                failure=Failure("out_of_stock", "Not enough in stock."),
            ),
        ),
    ],
)
def test_a_change_has_each_field_that_callers_see_differ(before: Order, after: Order) -> None:
    old, new = shown(before), shown(after)

    assert timeline.changes(before, after) == {
        name: {"from": old[name], "to": value}
        for name, value in new.items()
        if old[name] != value and name not in NO_CHANGE
    }
    assert timeline.changes(before, after)


@pytest.mark.parametrize(
    "same",
    [
        an_order(),
        replace(an_order(), version=9, updated_at=LATER, now=LATER),
        replace(an_order(), synced_at=LATER, next_sync_at=LATER, sync_failures=3, hints=2),
        an_order(parts=[a_part(modified_at=LATER)]),
        replace(an_order(), payment=a_request(RequestStatus.WITHDRAWN)),
    ],
)
def test_what_callers_cannot_see_is_no_change(same: Order) -> None:
    assert timeline.changes(an_order(), same) == {}


def test_the_raw_status_of_a_refund_is_no_change() -> None:
    before = replace(paid_order(), refunds=[REFUND])

    after = replace(paid_order(), refunds=[replace(REFUND, raw_status="waitselleragree")])

    assert timeline.changes(before, after) == {}


def test_how_the_api_shows_a_value_is_no_change(monkeypatch: pytest.MonkeyPatch) -> None:
    """A field of the API that differs each time changes no version, and so no ETag."""
    numbers = iter(range(10))
    of = wire.PlatformOrderOut.of

    def cosmetic(part: Any) -> Any:
        out = of(part)
        out.platform_status = f"{out.platform_status} {next(numbers)}"
        return out

    monkeypatch.setattr(wire.PlatformOrderOut, "of", cosmetic)

    assert shown(an_order()) != shown(an_order())
    assert timeline.changes(an_order(), an_order()) == {}


def test_a_step_that_nobody_sees_keeps_the_version_of_the_step_before_it() -> None:
    order = an_order()
    visible = replace(order, cancel_requested=True)
    invisible = replace(visible, synced_at=LATER)
    assert timeline.changes(visible, invisible) == {}
    steps: list[advance.TakenStep] = []

    cause = Cause("synced")
    end = advance.take_steps(advance.Advance(order, [(visible, cause), (invisible, cause)]), steps)

    assert [step.after.version for step in steps] == [order.version + 1]
    assert (end.version, end.updated_at) == (steps[0].after.version, steps[0].after.updated_at)
    assert end.synced_at == LATER
