"""The pure parts: the steps of an order, and sums that add up."""

import ast
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tradewind_simulator import (
    apps,
    basket,
    catalogue,
    create,
    freight,
    magic,
    money,
    orders,
    steps,
    times,
)
from tradewind_simulator.basket import Shop, Wanted
from tradewind_simulator.clock import Clock
from tradewind_simulator.model import Address, Order, RefundStatus, Status
from tradewind_simulator.orders import StepNotPossible
from tradewind_simulator.steps import Details
from tradewind_simulator.world import World

SELLERS, PRODUCTS = catalogue.make(3, 300)
SHOP = Shop({s.id: s for s in SELLERS}, {p.id: p for p in PRODUCTS}, {})
ADDRESS = Address("张三", "15251667788", "浙江省", "杭州市", "滨江区", "网商路699号")
AT = 1_800_000_000.0
REACHED_BY: dict[Status, list[str]] = {
    Status.UNPAID: [],
    Status.PAID: ["pay"],
    Status.SHIPPED: ["pay", "ship"],
    Status.RECEIVED: ["pay", "ship", "receive"],
    Status.SUCCESS: ["pay", "ship", "complete"],
    Status.CANCELLED: ["close_by_buyer"],
    Status.TERMINATED: ["pay", "close_by_seller"],
}
POSSIBLE: dict[Status, set[str]] = {
    Status.UNPAID: {
        "pay", "change_price", "raise_price", "expire", "close_by_seller", "close_by_platform",
        "close_by_buyer", "cancel_settle", "pay_settle",
    },
    Status.PAID: {
        "ship", "partial_ship", "close_by_seller", "close_by_platform", "refund_request",
        "cancel_settle", "pay_settle",
    },
    Status.SHIPPED: {
        "receive", "complete", "close_by_seller", "close_by_platform", "refund_request",
        "cancel_settle", "pay_settle",
    },
    Status.RECEIVED: {
        "complete", "close_by_seller", "close_by_platform", "refund_request", "cancel_settle",
        "pay_settle",
    },
    Status.SUCCESS: {"refund_request", "cancel_settle", "pay_settle"},
    Status.CANCELLED: {"cancel_settle", "pay_settle"},
    Status.TERMINATED: {"cancel_settle", "pay_settle"},
}  # fmt: skip


def a_world() -> World:
    return World(apps=apps.DEFAULT, seed=1, products=12, pay_seconds=43_200, clock=Clock(AT, AT))


WORLD = a_world()


def an_order(*wanted: tuple[int, int]) -> Order:
    lines = [Wanted(900000000001, quantity, sku=sku) for sku, quantity in wanted]
    picked, problems = basket.pick(WORLD.shop(), lines, creating=True)
    assert problems == []
    parts = basket.parts(WORLD.shop(), picked, "浙江省")
    (order,) = create.create(
        WORLD, "sandbox", parts, address=ADDRESS, reference="", remark="", at=AT
    )
    return order


@pytest.mark.parametrize("step", sorted(set(steps.STEPS) - {"build"}))
@pytest.mark.parametrize("status", list(REACHED_BY))
def test_which_step_is_possible_when(status: Status, step: str) -> None:
    order = an_order((90000000000100, 3))
    for before in REACHED_BY[status]:
        order = steps.take(WORLD, order, AT + 60, before, Details())
    assert order.status is status

    if step in POSSIBLE[status]:
        after = steps.take(WORLD, order, AT + 61, step, Details(fen=1_000))
        assert after.changed_at >= order.changed_at
    else:
        with pytest.raises(StepNotPossible):
            steps.take(WORLD, order, AT + 61, step, Details(fen=1_000))
        assert WORLD.orders[order.id] == order


def test_what_is_due_happens_at_its_own_time_and_in_order() -> None:
    world = a_world()
    reported: list[tuple[str, float]] = []
    world.on_news = lambda news: reported.append((news.event, news.at))
    picked, _ = basket.pick(
        world.shop(), [Wanted(900000000001, 1, sku=90000000000100)], creating=True
    )
    (order,) = create.create(
        world, "sandbox", basket.parts(world.shop(), picked, "浙江省"),
        address=ADDRESS, reference="", remark="", at=AT,
    )  # fmt: skip
    steps.take(world, order, AT + 5, "pay", Details())

    steps.settle(world, AT + 30 * 86_400)

    assert [event for event, _ in reported] == ["made", "paid", "sent", "received", "success"]
    moments = [at for _, at in reported]
    assert moments == sorted(moments)
    assert moments[-1] < AT + 10 * 86_400
    assert world.orders[order.id].due == ()


@given(st.integers(-10_000, 10_000), st.lists(st.integers(0, 9_999), min_size=1, max_size=8))
def test_shares_sum_up(total: int, weights: list[int]) -> None:
    parts = money.shares(total, weights)

    assert sum(parts) == total
    assert len(parts) == len(weights)


WANTED = st.lists(
    st.tuples(st.sampled_from(PRODUCTS), st.integers(0, 30), st.integers(1, 400)),
    min_size=1,
    max_size=6,
)


@settings(max_examples=200)
@given(WANTED, st.sampled_from(["浙江省", "新疆维吾尔自治区", "香港特别行政区", "四川省"]))
def test_goods_and_freight_less_discount_is_the_total(
    chosen: list[tuple[Any, int, int]], province: str
) -> None:
    wanted = [
        Wanted(product.id, quantity, sku=product.skus[at % len(product.skus)].id)
        for product, at, quantity in chosen
    ]

    picked, problems = basket.pick(SHOP, wanted, creating=False)
    parts = basket.parts(SHOP, picked, province)

    assert len(picked) + len(problems) == len(wanted)
    assert sum(part.goods_fen for part in parts) == sum(item.amount_fen for item in picked)
    for part in parts:
        shares = basket.line_discounts(part)
        assert part.total_fen == part.goods_fen + part.freight_fen - part.discount_fen > 0
        assert sum(shares) == part.discount_fen
        assert all(0 <= s <= share.amount_fen for s, share in zip(shares, part.picked, strict=True))
        assert {item.product.seller for item in part.picked} == {part.seller.id}


@settings(max_examples=100)
@given(st.integers(1, 50), st.integers(1, 50), st.integers(1, 200_000))
def test_a_changed_price_is_what_is_paid(first: int, second: int, total: int) -> None:
    order = an_order((90000000000100, first), (90000000000101, second))

    changed = orders.change_price(order, AT + 1, total).order

    assert changed.total_fen == total
    assert sum(line.amount_fen for line in changed.lines) + changed.freight_fen == total
    assert changed.freight_fen >= 0
    assert all(line.amount_fen >= 0 for line in changed.lines)


@settings(max_examples=100)
@given(st.lists(st.integers(1, 4_000), min_size=1, max_size=8))
def test_refunds_never_exceed_what_was_paid(wanted: list[int]) -> None:
    order = an_order((90000000000100, 2), (90000000000101, 1))
    for step in ("pay", "ship"):
        order = steps.take(WORLD, order, AT + 1, step, Details())

    for fen in wanted:
        try:
            order = steps.take(WORLD, order, AT + 2, "refund_request", Details(fen=fen))
            order = steps.take(WORLD, order, AT + 3, "refund_agree", Details())
        except StepNotPossible:
            break

    back = sum(e.fen for e in WORLD.ledger if e.order == order.id and e.kind == "refund")
    assert back == order.refunded_fen <= order.paid_fen
    assert (order.refunded_fen == order.paid_fen) == (order.status is Status.TERMINATED)
    assert sum(line.refunded_fen for line in order.lines) == sum(
        r.goods_fen for r in order.refunds if r.status is RefundStatus.DONE
    )


@given(st.floats(1_000_000_000, 2_000_000_000))
def test_times_can_be_read_back(at: float) -> None:
    assert abs(times.read_compact(times.compact(at)) - at) <= 0.001


@pytest.mark.parametrize("text", ["", "yesterday", "2018", "20181399000000000+0800"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        times.read_compact(text)


@pytest.mark.parametrize(
    ("text", "fen"), [("1", 100), ("0.1", 10), ("12.34", 1_234), ("1e1", 1_000)]
)
def test_yuan_become_fen_exactly(text: str, fen: int) -> None:
    assert money.fen_of(text) == fen


@pytest.mark.parametrize("text", ["", "x", "0.001", "NaN", "Infinity"])
def test_what_is_no_amount_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        money.fen_of(text)


def test_far_costs_more() -> None:
    near = freight.cost(magic.SELLER, "浙江省", 2_500, 1)
    far = freight.cost(magic.SELLER, "西藏自治区", 2_500, 1)
    abroad = freight.cost(magic.SELLER, "香港特别行政区", 2_500, 1)

    assert (near, far, abroad) == (900, 1_800, 2_700)
    assert freight.is_province("内蒙古自治区")
    assert not freight.is_province("Bavaria")


def test_the_simulator_knows_nothing_of_the_rest() -> None:
    folder = Path(catalogue.__file__).parent
    allowed = ("tradewind_simulator", "granian", "msgspec", "structlog")
    known = sys.stdlib_module_names
    foreign = set()
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [name.name for name in node.names] if isinstance(node, ast.Import) else []
            for name in names:
                if not name.startswith(allowed) and name.split(".")[0] not in known:
                    foreign.add((path.name, name))

    assert foreign == set()
