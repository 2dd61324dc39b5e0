"""Prices a basket, finds lines that cannot be bought, and splits it into orders."""

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
    """A line as the buyer requested it; the SKU by its spec or by its number."""

    product: int
    quantity: int
    spec: str = ""
    sku: int = 0


class Picked(Struct, frozen=True):
    """A line that can be bought, with its price."""

    product: Product
    sku: Sku
    quantity: int
    price_fen: int

    @property
    def amount_fen(self) -> int:
        return self.price_fen * self.quantity


class Problem(Struct, frozen=True):
    """A line that cannot be bought, and the error code."""

    wanted: Wanted
    code: str

    @property
    def sentence(self) -> str:
        return _SENTENCES[self.code].format(
            self.wanted.product, self.wanted.spec or self.wanted.sku
        )


class Part(Struct, frozen=True):
    """The lines that become one order, with their costs."""

    seller: Seller
    picked: tuple[Picked, ...]
    goods_fen: int
    freight_fen: int
    discount_fen: int

    @property
    def total_fen(self) -> int:
        return self.goods_fen + self.freight_fen - self.discount_fen


class Shop(Struct, frozen=True):
    """What pricing needs: sellers, products, and the stock that is reserved."""

    sellers: dict[int, Seller]
    products: dict[int, Product]
    taken: dict[int, int]

    def left(self, sku: Sku) -> int:
        return max(0, sku.stock - self.taken.get(sku.id, 0))


def pick(
    shop: Shop, wanted: Sequence[Wanted], *, creating: bool
) -> tuple[list[Picked], list[Problem]]:
    """Price each line or say why it cannot be bought; lines of the same SKU count together."""
    problems: list[Problem] = []
    chosen: list[tuple[Wanted, Product, Sku]] = []
    pieces: dict[int, int] = defaultdict(int)
    of_sku: dict[int, int] = defaultdict(int)
    for line in wanted:
        product = shop.products.get(line.product)
        if product is None or not product.listed:
            problems.append(Problem(line, NO_ONLINE_TRADE))
            continue
        sku = _sku(product, line)
        if sku is None:
            code = BAD_SPEC if line.spec or line.sku else SEVERAL_SELLERS
            problems.append(Problem(line, code))
            continue
        chosen.append((line, product, sku))
        pieces[product.id] += line.quantity
        of_sku[sku.id] += line.quantity
    picked: list[Picked] = []
    for line, product, sku in chosen:
        price = _price(product, sku, pieces[product.id], creating=creating)
        gone = creating and product.magic == magic.SELLS_OUT
        if gone or of_sku[sku.id] > shop.left(sku):
            problems.append(Problem(line, NO_STOCK))
        elif pieces[product.id] < product.minimum:
            problems.append(Problem(line, BELOW_MINIMUM))
        elif pieces[product.id] % product.batch:
            problems.append(Problem(line, MIXED_BATCH))
        elif price == 0:
            problems.append(Problem(line, ZERO_PRICE))
        else:
            picked.append(Picked(product, sku, line.quantity, price))
    return picked, problems


def _sku(product: Product, line: Wanted) -> Sku | None:
    """Find the SKU of a line; only a product without variants needs no spec."""
    if not line.spec and not line.sku:
        return product.skus[0] if len(product.skus) == 1 else None
    for sku in product.skus:
        if (line.spec and sku.spec == line.spec) or (line.sku and sku.id == line.sku):
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
    return {item.product.seller for item in picked}


def parts(shop: Shop, picked: Sequence[Picked], province: str) -> list[Part]:
    """Split a basket by seller; a magic product splits it once more."""
    by_seller: dict[int, list[Picked]] = defaultdict(list)
    for item in picked:
        by_seller[item.product.seller].append(item)
    split_parts: list[Part] = []
    for seller, theirs in by_seller.items():
        split_parts += [_part(shop.sellers[seller], half, province) for half in _halves(theirs)]
    return split_parts


def _halves(picked: list[Picked]) -> list[list[Picked]]:
    if not any(item.product.magic == magic.SPLITS for item in picked):
        return [picked]
    if len(picked) > 1:
        return [picked[:1], picked[1:]]
    item = picked[0]
    less = item.quantity // 2
    if less == 0:
        return [picked]
    return [
        [Picked(item.product, item.sku, item.quantity - less, item.price_fen)],
        [Picked(item.product, item.sku, less, item.price_fen)],
    ]


def _part(seller: Seller, picked: list[Picked], province: str) -> Part:
    goods = sum(item.amount_fen for item in picked)
    grams = sum(item.product.grams * item.quantity for item in picked)
    off = seller.off_from_fen is not None and goods >= seller.off_from_fen
    return Part(
        seller=seller,
        picked=tuple(picked),
        goods_fen=goods,
        freight_fen=freight.cost(seller, province, grams, goods),
        discount_fen=seller.off_fen if off else 0,
    )


def line_discounts(part: Part) -> list[int]:
    """Share the discount of a part between its lines."""
    return money.shares(part.discount_fen, [item.amount_fen for item in part.picked])
