"""Goods that are slow or unreadable: the order is placed without them, and gets them later."""

import asyncio
from dataclasses import dataclass, field
from typing import cast

import pytest
from kit.orders import a_part
from kit.platform import ADDRESS, UNKEYED, a_buyer, current

from tradewind.orders import advance, submit
from tradewind.orders.goods import GoodsReading
from tradewind.orders.lease import Lease
from tradewind.orders.model import NewOrder, Order
from tradewind.platforms.contract import Capability, Connector, Traits
from tradewind.platforms.failures import PlatformFailure, Reason, Rejected, Unavailable
from tradewind.platforms.model import (
    Line,
    Offer,
    OrderRequest,
    Placed,
    PlatformOrder,
    Product,
)
from tradewind.platforms.product_cache import ProductCache
from tradewind.storage.pool import Database

_TRAITS = Traits("sandbox", "Fake", frozenset(Capability), 20, False, 20)


def a_product(product_id: str) -> Product:
    offer = Offer(product_id, f"title {product_id}", price_fen=1000, seller_name="晨曦")
    return Product(offer, ["https://x.example/1.jpg"], "<p>long</p>", (), (), None, {"a": "b"})


@dataclass
class Shop:
    """A connector whose details come when a test lets them."""

    traits: Traits = _TRAITS
    failure: PlatformFailure | RuntimeError | None = None
    ready: asyncio.Event = field(default_factory=asyncio.Event)
    reads: list[str] = field(default_factory=list)
    # Runs while the order is being created.
    meanwhile: asyncio.Event | None = None

    @property
    def connector(self) -> Connector:
        return cast("Connector", self)

    async def detail(self, product_id: str, _lang: str) -> Product:
        self.reads.append(product_id)
        await self.ready.wait()
        if self.failure is not None:
            raise self.failure
        return a_product(product_id)

    async def create(self, _request: OrderRequest) -> Placed:
        self.ready.set()
        await asyncio.sleep(0.05)
        return Placed(["P1"], None)

    async def read_many(self, _order_ids: list[str]) -> list[PlatformOrder]:
        return [a_part("P1")]


async def accepted(db: Database, lines: list[Line]) -> tuple[Order, Lease]:
    by, lease = await a_buyer(db), Lease()
    wanted = NewOrder("sandbox", lines, ADDRESS, None, None, None, {})
    at = await UNKEYED.check(db)
    return await advance.accept(db, by, wanted, at, lease, UNKEYED, previewed=True), lease


async def test_goods_that_come_during_the_creation_are_stored_with_it(db: Database) -> None:
    shop = Shop()
    order, lease = await accepted(db, [Line("7", None, 2), Line("8", None, 1)])
    goods = GoodsReading(ProductCache(db), shop.connector, order.lines)
    await goods.wait(grace=0.01, until=1)
    assert goods.fill(order.lines) is order.lines  # nothing is known yet

    created = await submit.send(db, shop.connector, order, lease, None, goods)

    assert created is not None
    assert created.version == 2
    for lines in (created.lines, (await current(db, order)).lines):
        assert [line.goods and line.goods.title for line in lines] == ["title 7", "title 8"]
        assert [line.quantity for line in lines] == [2, 1]


async def test_goods_that_a_line_has_stay_as_they_are(db: Database) -> None:
    shop = Shop()
    shop.ready.set()
    cache = ProductCache(db)
    first = GoodsReading(cache, shop.connector, [Line("7", None, 2)])
    await first.wait(grace=1, until=1)
    lines = first.fill([Line("7", None, 2)])

    again = GoodsReading(cache, shop.connector, lines)
    await again.wait(grace=1, until=1)

    assert again.fill(lines) is lines
    assert shop.reads == ["7"]


@pytest.mark.parametrize(
    "failure",
    [
        Unavailable("sandbox", "busy", "Too many calls."),
        Rejected("sandbox", "404", "None.", reason=Reason.NOT_FOUND),
        RuntimeError("a defect"),
    ],
)
async def test_a_product_that_cannot_be_read_fails_nothing(
    db: Database, failure: PlatformFailure | RuntimeError
) -> None:
    shop = Shop(failure=failure)
    order, lease = await accepted(db, [Line("7", None, 2)])
    goods = GoodsReading(ProductCache(db), shop.connector, order.lines)

    created = await submit.send(db, shop.connector, order, lease, None, goods)

    assert created is not None
    assert created.order_ids == ["P1"]
    assert [line.goods for line in (await current(db, order)).lines] == [None]


async def test_many_readers_share_a_call_and_all_processes_the_result(db: Database) -> None:
    shop, cache = Shop(), ProductCache(db)
    readings = [
        GoodsReading(cache, shop.connector, [Line("7", None, number)]) for number in range(1, 21)
    ]
    await asyncio.sleep(0.2)
    shop.ready.set()
    for reading in readings:
        await reading.wait(grace=1, until=2)

    elsewhere = GoodsReading(ProductCache(db), shop.connector, [Line("7", None, 1)])
    await elsewhere.wait(grace=1, until=1)

    assert shop.reads == ["7"]
    for reading in (*readings, elsewhere):
        (line,) = reading.fill([Line("7", None, 1)])
        assert line.goods is not None
        assert (line.goods.title, line.goods.unit_price_fen) == ("title 7", 1000)


async def test_an_order_waits_a_moment_and_never_past_the_preview(db: Database) -> None:
    reading = GoodsReading(ProductCache(db), Shop().connector, [Line("7", None, 1)])
    loop = asyncio.get_running_loop()

    began = loop.time()
    await reading.wait(grace=0.1, until=10)
    assert 0.09 < loop.time() - began < 5
    began = loop.time()
    await reading.wait(grace=30, until=0.05)
    assert loop.time() - began < 5


async def test_a_marketplace_without_details_is_not_asked(db: Database) -> None:
    traits = Traits("sandbox", "Fake", frozenset(Capability) - {Capability.DETAIL}, 20, False, 20)
    shop = Shop(traits=traits)
    shop.ready.set()
    reading = GoodsReading(ProductCache(db), shop.connector, [Line("7", None, 1)])
    await reading.wait(grace=1, until=1)

    assert shop.reads == []


async def test_an_order_of_many_products_reads_the_first_ones(db: Database) -> None:
    shop = Shop()
    shop.ready.set()
    lines = [Line(str(number), None, 1) for number in range(200)]
    reading = GoodsReading(ProductCache(db), shop.connector, lines)
    await reading.wait(grace=3, until=3)

    assert sorted(shop.reads, key=int) == [str(number) for number in range(40)]
