"""Generates sellers and products; the same seed gives the same catalogue everywhere."""

import hashlib
import random
from collections.abc import Sequence

from tradewind_simulator import vocabulary
from tradewind_simulator.model import Option, Product, Quote, Seller, Sku, Step
from tradewind_simulator.vocabulary import Category, Kind, Pair

_FIRST_PRODUCT = 610_000_000_000
_FIRST_SELLER = 2_200_000_000
_SELLERS_EACH = 12
_IDENTITIES = ("super_factory", "powerful_merchants", "tp_member")


def make(seed: int, count: int) -> tuple[list[Seller], list[Product]]:
    """About `count` products, spread evenly over the kinds of all categories."""
    chance = random.Random(seed)  # noqa: S311 - a catalogue, not a secret
    sellers: list[Seller] = []
    products: list[Product] = []
    kinds = sum(len(category.kinds) for category in vocabulary.CATEGORIES)
    each = max(1, -(-count // kinds))
    for category in vocabulary.CATEGORIES:
        shops = [_seller(chance, category, len(sellers) + i) for i in range(_SELLERS_EACH)]
        sellers += shops
        for kind in category.kinds:
            for _ in range(each):
                number = _FIRST_PRODUCT + len(products) * 7_919 + chance.randrange(7_919)
                products.append(_product(chance, category, kind, chance.choice(shops), number))
    return sellers, products


def _seller(chance: random.Random, category: Category, index: int) -> Seller:
    province, city = chance.choice(vocabulary.CITIES)
    shop = chance.choice(vocabulary.SHOPS) + chance.choice(vocabulary.SHOPS)[:1]
    first = chance.randrange(300, 1_000, 50)
    reduces = chance.random() < 0.35  # noqa: PLR2004 - about a third
    return Seller(
        id=_FIRST_SELLER + index * 1_009 + chance.randrange(1_009),
        name=f"{city}{shop}{category.trade}有限公司",
        login=f"{shop}{category.trade}{index}",
        province=province,
        city=city,
        first_kilo_fen=first,
        next_kilo_fen=chance.randrange(100, 500, 50),
        free_over_fen=chance.choice([None, None, 29_900, 59_900]),
        off_from_fen=20_000 if reduces else None,
        off_fen=chance.choice([500, 1_000, 1_500]) if reduces else 0,
        years=chance.randrange(1, 16),
        identity=chance.choice(_IDENTITIES),
    )


def _product(
    chance: random.Random, category: Category, kind: Kind, seller: Seller, number: int
) -> Product:
    materials, features = vocabulary.FITTING.get(kind.name, (category.materials, category.features))
    words = {
        "season": chance.choice(vocabulary.SEASONS),
        "style": chance.choice(category.styles),
        "audience": chance.choice(category.audiences),
        "feature": chance.choice(features),
        "material": chance.choice(materials),
        "ending": chance.choice(vocabulary.ENDINGS),
    }
    price = _price(chance, kind)
    quote = chance.choices(list(Quote), weights=[1, 4, 5])[0]
    minimum = chance.choices([1, 2, 3, 5, 10], weights=[6, 3, 2, 1, 1])[0]
    batch = 10 if minimum == 10 and chance.random() < 0.5 else 1  # noqa: PLR2004
    sold = int(10 ** chance.uniform(0.5, 4.6))
    steps = _steps(price, minimum, single=quote is Quote.BY_SKU)
    return Product(
        id=number,
        seller=seller.id,
        category=category.name,
        category_id=category.id,
        kind=kind.name,
        kind_en=kind.name_en,
        title=_title(words, kind),
        title_en=_title_en(words, kind),
        attributes=_attributes(words, category),
        skus=_skus(chance, category, quote, price, number),
        steps=steps,
        quote=quote,
        minimum=minimum,
        batch=batch,
        unit=category.unit[0],
        unit_en=category.unit[1],
        grams=int(kind.grams * chance.uniform(0.8, 1.3)),
        sold=sold,
        repurchase=chance.randrange(3, 68),
    )


def _price(chance: random.Random, kind: Kind) -> int:
    """Cheap ones are more frequent, and prices like to end on .80, .50 or .00."""
    spread = chance.random() ** 1.6
    fen = int((kind.low + (kind.high - kind.low) * spread) * 100)
    return max(100, fen // 100 * 100 - chance.choice([20, 50, 0, 10]))


def _steps(price: int, minimum: int, *, single: bool) -> tuple[Step, ...]:
    if single:
        return (Step(minimum, price),)
    starts = (minimum, minimum * 20 if minimum > 1 else 30, minimum * 100 if minimum > 1 else 200)
    return tuple(
        Step(start, price * percent // 100)
        for start, percent in zip(starts, (100, 94, 88), strict=True)
    )


def _title(words: dict[str, Pair], kind: Kind) -> str:
    head = "".join(words[w][0] for w in ("season", "style", "feature", "material", "audience"))
    return f"{head}{kind.name} {words['ending'][0]}"


def _title_en(words: dict[str, Pair], kind: Kind) -> str:
    order = ("season", "style", "feature", "material", "audience")
    head = " ".join(words[w][1] for w in order)
    text = f"{head} {kind.name_en}, {words['ending'][1]}"
    return text[0].upper() + text[1:]


def _attributes(words: dict[str, Pair], category: Category) -> tuple[Option, ...]:
    named: Sequence[tuple[str, str, Pair]] = (
        ("材质", "Material", words["material"]),
        ("风格", "Style", words["style"]),
        ("适用对象", "For", words["audience"]),
        ("功能", "Feature", words["feature"]),
        ("产品类别", "Department", (category.name, category.name_en)),
    )
    return tuple(Option(name, name_en, *value) for name, name_en, value in named)


def _skus(
    chance: random.Random, category: Category, quote: Quote, price: int, number: int
) -> tuple[Sku, ...]:
    if quote is Quote.BY_QUANTITY_NO_SKU:
        return (Sku(number * 100, "", (), price, _stock(chance), 0),)
    colours = chance.sample(vocabulary.COLOURS, chance.randrange(2, 6))
    sizes = category.sizes[: chance.randrange(2, len(category.sizes) + 1)] if category.sizes else ()
    skus: list[Sku] = []
    for picture, colour in enumerate(colours, start=1):
        for at, size in enumerate(sizes or ("",)):
            options: tuple[Option, ...] = (Option("颜色", "Colour", *colour),)
            if size:
                options += (Option("尺码", "Size", size, size),)
            extra = at * price * 4 // 100 if quote is Quote.BY_SKU else 0
            sku = number * 100 + len(skus)
            skus.append(Sku(sku, spec(sku), options, price + extra, _stock(chance), picture))
    return tuple(skus)


def spec(sku: int) -> str:
    """A spec id: 32 hex digits, as the platform has them."""
    return hashlib.md5(str(sku).encode(), usedforsecurity=False).hexdigest()


def _stock(chance: random.Random) -> int:
    some = (0, 12, 60, 300, 900, 2_400, 9_999, 20_000)
    return chance.choices(some, weights=(1, 1, 2, 4, 6, 6, 4, 2))[0]
