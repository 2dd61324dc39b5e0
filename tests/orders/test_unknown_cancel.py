"""A cancellation without an answer is repeated until the marketplace gives a definite one."""

from datetime import timedelta

import pytest
from kit.system import System


@pytest.mark.parametrize("mode", ["http500", "doubled", "drop"])
def test_a_cancel_of_which_nobody_knows_whether_it_came_true_is_asked_for_again(
    system: System, mode: str
) -> None:
    order = system.order()
    # Answered in time it would be refused as too early, or not done at all.
    system.market.fault("cancel", mode, count=1)

    asked = system.call("POST", f"/v1/orders/{order['id']}/cancel")

    assert (asked.status_code, asked.json()["cancel_requested"]) == (202, True)
    system.market.clock(advance_seconds=20)
    system.api.move_clock(timedelta(seconds=20))
    after = system.until(order["id"], lambda order: order["status"] == "cancelled")
    assert (after["payment_status"], after["cancel_requested"]) == ("cancelled", False)


def test_each_part_of_a_split_order_is_asked_for_though_one_is_cancelled_already(
    system: System,
) -> None:
    system.market.fault("preview", "slow", count=1, seconds=2.5)  # it would show two sellers
    order = system.order("900000000007", 2)
    first, second = (part["order_id"] for part in order["platform_orders"])
    system.market.clock(advance_seconds=20)
    system.market.advance(first, "close_by_buyer")

    system.call("POST", f"/v1/orders/{order['id']}/cancel")

    system.until(order["id"], lambda order: order["status"] == "cancelled")
    assert system.market.control(f"orders/{second}", "GET")["status"] == "cancelled"
