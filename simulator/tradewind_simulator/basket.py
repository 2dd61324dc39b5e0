"""What a basket costs, what of it cannot be had, and how many orders it becomes."""

# ruff: noqa: RUF001 - Chinese sentences have Chinese commas

from collections import defaultdict
from collections.abc import Iterable, Sequence

from msgspec import Struct

from tradewind_simulator import freight, magic, money
from tradewind_simulator.model import Product, Quote, Seller, Sku

NO_ONLINE_TRADE = "500_001"
SEVERAL_SELLERS = "500_002"
BAD_SPEC = "500_003"
NO_STOCK = "500_004"
BELOW_MINIMUM = "500_005"
MIXED_BATCH = "500_006"
NO_CONSIGN_RELATION = "500_007"
ZERO_PRICE = "500_008"

_SENTENCES = {
    NO_ONLINE_TRADE: "商品[{0}]不支持在线交易，无法下单",
    SEVERAL_SELLERS: "商品[{0}]不属于同一个卖家，或者未指定specId",
    BAD_SPEC: "商品[{0}]不属于同一个卖家，或者规格[{1}]不属于该商品",
    NO_STOCK: "商品[{0}_{1}]库存不足，请核对库存后下单",
    BELOW_MINIMUM: "商品[{0}]购买数量不满足起批量限制",
    MIXED_BATCH: "商品[{0}]购买数量或价格不满足混批限制",
    NO_CONSIGN_RELATION: "与供应商的代销关系不存在，无法通过saleproxy渠道下单",
    ZERO_PRICE: "商品SKU[{0}_{1}]价格为0，无法下单，请核对后重新提交",
}


class Wanted(Struct, frozen=True):
    """One line as the buyer asked for it; the SKU by its spec or by its number."""

    product: int
    quantity: int
    spec: str = ""
    sku: int = 0


class Picked(Struct, frozen=True):
    """One line as it can be had."""

    product: Product
    sku: Sku
    quantity: int
    price_fen: int

    @property
    def amount_fen(self) -> int:
        return self.price_fen * self.quantity


class Problem(Struct, frozen=True):
    """Why a line cannot be had."""

    wanted: Wanted
    code: str

    @property
    def sentence(self) -> str:
        return _SENTENCES[self.code].format(
            self.wanted.product, self.wanted.spec or self.wanted.sku
        )


class Part(Struct, frozen=True):
    """What becomes one order."""

    seller: Seller
    picked: tuple[Picked, ...]
    goods_fen: int
    freight_fen: int
    discount_fen: int

    @property
    def total_fen(self) -> int:
        return self.goods_fen + self.freight_fen - self.discount_fen


class Shop(Struct, frozen=True):
    """What the pricing needs to know of the world."""

    sellers: dict[int, Seller]
    products: dict[int, Product]
    taken: dict[int, int]

    def left(self, sku: Sku) -> int:
        return max(0, sku.stock - self.taken.get(sku.id, 0))


def pick(
    shop: Shop, wanted: Sequence[Wanted], *, creating: bool
) -> tuple[list[Picked], list[Problem]]:
    """Each line with its price, or why it cannot be had; lines of one SKU count together."""
    problems: list[Problem] = []
    chosen: list[tuple[Wanted, Product, Sku]] = []
    pieces: dict[int, int] = defaultdict(int)
    of_sku: dict[int, int] = defaultdict(int)
    for one in wanted:
        product = shop.products.get(one.product)
        if product is None or not product.listed:
            problems.append(Problem(one, NO_ONLINE_TRADE))
            continue
        sku = _sku(product, one)
        if sku is None:
            code = BAD_SPEC if one.spec or one.sku else SEVERAL_SELLERS
            problems.append(Problem(one, code))
            continue
        chosen.append((one, product, sku))
        pieces[product.id] += one.quantity
        of_sku[sku.id] += one.quantity
    picked: list[Picked] = []
    for one, product, sku in chosen:
        price = _price(product, sku, pieces[product.id], creating=creating)
        gone = creating and product.magic == magic.SELLS_OUT
        if gone or of_sku[sku.id] > shop.left(sku):
            problems.append(Problem(one, NO_STOCK))
        elif pieces[product.id] < product.minimum:
            problems.append(Problem(one, BELOW_MINIMUM))
        elif pieces[product.id] % product.batch:
            problems.append(Problem(one, MIXED_BATCH))
        elif price == 0:
            problems.append(Problem(one, ZERO_PRICE))
        else:
            picked.append(Picked(product, sku, one.quantity, price))
    return picked, problems


def _sku(product: Product, one: Wanted) -> Sku | None:
    """A product without choices needs no spec; one with choices does."""
    if not one.spec and not one.sku:
        return product.skus[0] if len(product.skus) == 1 else None
    for sku in product.skus:
        if (one.spec and sku.spec == one.spec) or (one.sku and sku.id == one.sku):
            return sku
    return None


def _price(product: Product, sku: Sku, pieces: int, *, creating: bool) -> int:
    if product.quote is Quote.BY_SKU:
        price = sku.price_fen
    else:
        price = product.steps[0].price_fen
        for step in product.steps:
            if pieces >= step.quantity:
                price = step.price_fen
    if creating and product.magic == magic.PRICE_RISES:
        price += magic.RISE_FEN
    return price


def sellers_of(picked: Iterable[Picked]) -> set[int]:
    return {one.product.seller for one in picked}


def parts(shop: Shop, picked: Sequence[Picked], province: str) -> list[Part]:
    """By seller; and what is magic that way becomes two orders, line by line or in halves."""
    by_seller: dict[int, list[Picked]] = defaultdict(list)
    for one in picked:
        by_seller[one.product.seller].append(one)
    made: list[Part] = []
    for seller, theirs in by_seller.items():
        made += [_part(shop.sellers[seller], half, province) for half in _halves(theirs)]
    return made


def _halves(picked: list[Picked]) -> list[list[Picked]]:
    if not any(one.product.magic == magic.SPLITS for one in picked):
        return [picked]
    if len(picked) > 1:
        return [picked[:1], picked[1:]]
    one = picked[0]
    less = one.quantity // 2
    if less == 0:
        return [picked]
    return [
        [Picked(one.product, one.sku, one.quantity - less, one.price_fen)],
        [Picked(one.product, one.sku, less, one.price_fen)],
    ]


def _part(seller: Seller, picked: list[Picked], province: str) -> Part:
    goods = sum(one.amount_fen for one in picked)
    grams = sum(one.product.grams * one.quantity for one in picked)
    off = seller.off_from_fen is not None and goods >= seller.off_from_fen
    return Part(
        seller=seller,
        picked=tuple(picked),
        goods_fen=goods,
        freight_fen=freight.cost(seller, province, grams, goods),
        discount_fen=seller.off_fen if off else 0,
    )


def line_discounts(part: Part) -> list[int]:
    """The discount of a part, shared out over its lines."""
    return money.shares(part.discount_fen, [one.amount_fen for one in part.picked])
