"""A cancellation without an answer is repeated until the marketplace gives a definite one."""

from datetime import timedelta

import pytest
from kit.store import Store


@pytest.mark.parametrize("mode", ["http500", "doubled", "drop"])
def test_a_cancel_of_which_nobody_knows_whether_it_came_true_is_asked_for_again(
    store: Store, mode: str
) -> None:
    order = store.order()
    # Answered in time it would be refused as too early, or not done at all.
    store.market.fault("cancel", mode, count=1)

    asked = store.call("POST", f"/v1/orders/{order['id']}/cancel")

    assert (asked.status_code, asked.json()["cancel_requested"]) == (202, True)
    store.market.clock(advance_seconds=20)
    store.api.move_clock(timedelta(seconds=20))
    after = store.until(order["id"], lambda one: one["status"] == "cancelled")
    assert (after["payment_status"], after["cancel_requested"]) == ("cancelled", False)


def test_each_part_of_a_split_order_is_asked_for_though_one_is_cancelled_already(
    store: Store,
) -> None:
    store.market.fault("preview", "slow", count=1, seconds=2.5)  # it would show two sellers
    order = store.order("900000000007", 2)
    first, second = (part["order_id"] for part in order["platform_orders"])
    store.market.clock(advance_seconds=20)
    store.market.advance(first, "close_by_buyer")

    store.call("POST", f"/v1/orders/{order['id']}/cancel")

    store.until(order["id"], lambda one: one["status"] == "cancelled")
    assert store.market.control(f"orders/{second}", "GET")["status"] == "cancelled"
