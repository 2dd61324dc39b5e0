"""Magic products: fixed ids with a fixed behaviour, for integrators' tests."""

# ruff: noqa: RUF001, E501 - Chinese titles, one spell a line

from msgspec import Struct

from tradewind_simulator.catalogue import spec
from tradewind_simulator.model import Option, Product, Quote, Seller, Sku, Step

SELLER = Seller(
    id=2_100_000_001,
    name="杭州市沙盒测试有限公司",
    login="沙盒测试店",
    province="浙江省",
    city="杭州市",
    first_kilo_fen=500,
    next_kilo_fen=200,
    free_over_fen=None,
    off_from_fen=None,
    off_fen=0,
    years=1,
    identity="tp_member",
)
OTHER_SELLER = Seller(
    id=2_100_000_002,
    name="广州市沙盒第二测试有限公司",
    login="沙盒第二测试店",
    province="广东省",
    city="广州市",
    first_kilo_fen=800,
    next_kilo_fen=300,
    free_over_fen=None,
    off_from_fen=10_000,
    off_fen=1_000,
    years=1,
    identity="tp_member",
)

PLAIN = ""
PRICE_RISES = "price_rises_at_create"
PAYMENT_FAILS = "payment_fails"
PAYMENT_TIMES_OUT = "payment_times_out_after_debit"
PAYMENT_SEEMS_TO_FAIL = "payment_seems_to_fail_after_debit"
SPLITS = "order_splits"
SELLER_CLOSES = "seller_closes_unpaid"
SELLER_CLOSES_PAID = "seller_closes_after_payment"
PRICE_MODIFIED = "seller_raises_price"
CREATE_TIMES_OUT = "create_times_out_after_creating"
SELLS_OUT = "sells_out_at_create"
SHORT_DEADLINE = "closes_unpaid_soon"
SHIPS_IN_PARTS = "ships_in_two_parts"
REFUND_REFUSED = "refund_is_refused"

RISE_FEN = 200  # a piece, where a price rises
SOON_SECONDS = 30.0  # of world time, until a magic seller acts
SHORT_DEADLINE_SECONDS = 60
SILENT_SECONDS = 30.0  # real time without a response, before the connection is dropped


class _Spell(Struct, frozen=True):
    id: int
    title: str
    title_en: str
    magic: str = ""
    price_fen: int = 1_000
    stock: int = 100_000
    minimum: int = 1
    batch: int = 1
    listed: bool = True
    seller: int = SELLER.id


_SPELLS = (
    _Spell(900000000001, "普通商品", "ordinary: nothing unusual happens"),
    _Spell(900000000002, "缺货商品", "out of stock", stock=0),
    _Spell(900000000003, "下单涨价", "price rises at create", PRICE_RISES),
    _Spell(900000000004, "支付失败", "payment fails", PAYMENT_FAILS),
    _Spell(900000000005, "扣款后超时", "payment times out after debiting", PAYMENT_TIMES_OUT),
    _Spell(900000000006, "扣款后报失败", "payment seems to fail after debiting", PAYMENT_SEEMS_TO_FAIL),
    _Spell(900000000007, "拆单商品", "order splits", SPLITS, minimum=2),
    _Spell(900000000008, "卖家关闭未付款订单", "seller closes the unpaid order", SELLER_CLOSES),
    _Spell(900000000009, "卖家付款后关闭", "seller closes after payment", SELLER_CLOSES_PAID),
    _Spell(900000000010, "卖家改价", "seller raises the price after create", PRICE_MODIFIED),
    _Spell(900000000011, "创建后超时", "create times out after creating", CREATE_TIMES_OUT),
    _Spell(900000000012, "下单瞬间售罄", "sells out between preview and create", SELLS_OUT),
    _Spell(900000000013, "很快关单", "closes unpaid after a minute", SHORT_DEADLINE),
    _Spell(900000000014, "分批发货", "ships in two parts", SHIPS_IN_PARTS),
    _Spell(900000000015, "拒绝退款", "refund is refused", REFUND_REFUSED),
    _Spell(900000000016, "起批一百件", "minimum quantity of 100", minimum=100),
    _Spell(900000000017, "按十件混批", "sold by tens", batch=10),
    _Spell(900000000018, "零价商品", "price is zero", price_fen=0),
    _Spell(900000000019, "已下架商品", "delisted", listed=False),
    _Spell(900000000020, "第二卖家商品", "ordinary, of a second seller", seller=OTHER_SELLER.id),
)  # fmt: skip

_COLOURS = (("红色", "red"), ("蓝色", "blue"))


def products() -> list[Product]:
    """Every magic product; each comes in red and blue at 10.00 yuan, 100 g a piece."""
    return [_product(spell) for spell in _SPELLS]


def _product(spell: _Spell) -> Product:
    skus = tuple(
        Sku(
            spell.id * 100 + at,
            spec(spell.id * 100 + at),
            (Option("颜色", "Colour", *colour),),
            spell.price_fen,
            spell.stock,
            at + 1,
        )
        for at, colour in enumerate(_COLOURS)
    )
    return Product(
        id=spell.id,
        seller=spell.seller,
        category="沙盒",
        category_id=1,
        kind="测试商品",
        kind_en="sandbox item",
        title=f"沙盒测试商品：{spell.title}",
        title_en=f"Sandbox item: {spell.title_en}",
        attributes=(Option("材质", "Material", "魔法", "magic"),),
        skus=skus,
        steps=(Step(spell.minimum, spell.price_fen),),
        quote=Quote.BY_SKU,
        minimum=spell.minimum,
        batch=spell.batch,
        unit="件",
        unit_en="piece",
        grams=100,
        sold=0,
        repurchase=0,
        listed=spell.listed,
        magic=spell.magic,
    )
