"""Creates orders from a basket: prices them, reserves stock, sets deadlines."""

from collections.abc import Sequence

from tradewind_simulator import basket, magic, orders
from tradewind_simulator.basket import Part
from tradewind_simulator.model import Address, Dialect, Due, Line, Order, Status
from tradewind_simulator.world import World

BUILD_SECONDS = 2.0  # of world time, that the Taobao dialect shows an order as being made


def create(
    world: World,
    app: str,
    parts: Sequence[Part],
    *,
    address: Address,
    reference: str,
    remark: str,
    at: float,
) -> list[Order]:
    """Create an order for each part; whether the reference is new is not checked here."""
    return [_one(world, app, part, address, reference, remark, at) for part in parts]


def _one(
    world: World, app: str, part: Part, address: Address, reference: str, remark: str, at: float
) -> Order:
    magic_words = {picked.product.magic for picked in part.picked}
    building = world.apps[app].dialect is Dialect.TAOBAO
    seconds = (
        magic.SHORT_DEADLINE_SECONDS if magic.SHORT_DEADLINE in magic_words else world.pay_seconds
    )
    due = [Due(at + seconds, "expire")]
    if building:
        due.append(Due(at + BUILD_SECONDS, "build"))
    if magic.SELLER_CLOSES in magic_words:
        due.append(Due(at + magic.SOON_SECONDS, "close_by_seller"))
    if magic.PRICE_MODIFIED in magic_words:
        due.append(Due(at + magic.SOON_SECONDS, "raise_price"))
    order = Order(
        id=world.ids.next(),
        app=app,
        seller=part.seller.id,
        reference=reference,
        status=Status.BUILDING if building else Status.UNPAID,
        lines=_lines(world, part),
        goods_fen=part.goods_fen,
        freight_fen=part.freight_fen,
        discount_fen=part.discount_fen,
        address=address,
        remark=remark,
        created_at=at,
        changed_at=at,
        pay_seconds=seconds,
        due=tuple(due),
    )
    return world.put(orders.Change(order, None if building else orders.Event.MADE))


def _lines(world: World, part: Part) -> tuple[Line, ...]:
    return tuple(
        Line(
            id=world.ids.next(),
            product=picked.product.id,
            sku=picked.sku.id,
            spec=picked.sku.spec,
            title=picked.product.title,
            options=picked.sku.options,
            unit=picked.product.unit,
            picture=picked.sku.picture,
            quantity=picked.quantity,
            price_fen=picked.price_fen,
            discount_fen=share,
        )
        for picked, share in zip(part.picked, basket.line_discounts(part), strict=True)
    )
