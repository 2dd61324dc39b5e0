"""The variants of a product as a table of quantities, and what chosen pieces cost. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tradewind.cart.model import LARGEST_QUANTITY
from tradewind.errors import FieldError, ValidationFailed
from tradewind.platforms.goods import unit_price
from tradewind.platforms.model import PriceRange, Product, Sku

# A table with more columns is too wide for a page; the variants are a list then.
_MOST_COLUMNS = 10
# A form has 200 fields at the most.
MOST_VARIANTS = 190
# The name of the only quantity of a product without variants.
WITHOUT_VARIANT = "-"


@dataclass(frozen=True, slots=True)
class VariantCell:
    """A variant in the table: the name of its field, its label, and what limits its quantity."""

    key: str
    label: str
    price_fen: int | None
    stock: int | None


@dataclass(frozen=True, slots=True)
class VariantRow:
    """A row of the table; a cell of None is a combination that does not exist."""

    label: str
    image_url: str | None
    cells: Sequence[VariantCell | None]


@dataclass(frozen=True, slots=True)
class VariantTable:
    """Variants by two attributes, such as colour and size, or as a list of one column."""

    row_heading: str
    columns: Sequence[str]
    rows: Sequence[VariantRow]
    has_prices: bool
    hidden: int


def variant_table(product: Product) -> VariantTable:
    """The table of a product. Variants that do not fit two attributes are a list."""
    skus = product.skus[:MOST_VARIANTS]
    prices = {sku.price_fen for sku in skus}
    hidden = len(product.skus) - len(skus)
    has_prices = len(prices) > 1
    if not skus:
        cell = VariantCell(WITHOUT_VARIANT, "Quantity", product.offer.price_fen, product.stock)
        row = VariantRow("", product.offer.image_url, [cell])
        return VariantTable("", ["Quantity"], [row], has_prices=False, hidden=0)
    names = _two_attributes(skus)
    if names is None:
        rows = [VariantRow(variant_name(sku), sku.image_url, [_cell(sku)]) for sku in skus]
        heading = _only_attribute(skus) or "Variant"
        return VariantTable(heading, ["Quantity"], rows, has_prices, hidden)
    row_name, column_name = names
    columns = list(dict.fromkeys(sku.attributes[column_name] for sku in skus))
    by_row: dict[str, dict[str, Sku]] = {}
    for sku in skus:
        cells = by_row.setdefault(sku.attributes[row_name], {})
        cells[sku.attributes[column_name]] = sku
    rows = [
        VariantRow(
            label,
            next((sku.image_url for sku in cells.values() if sku.image_url), None),
            [_cell(cells[column]) if column in cells else None for column in columns],
        )
        for label, cells in by_row.items()
    ]
    return VariantTable(row_name, columns, rows, has_prices, hidden)


def variant_name(sku: Sku) -> str:
    return ", ".join(sku.attributes.values()) or "Default"


def _two_attributes(skus: Sequence[Sku]) -> tuple[str, str] | None:
    """The names of the attributes for rows and columns; None if the variants are a list."""
    names = list(skus[0].attributes)
    if len(names) != 2 or any(list(sku.attributes) != names for sku in skus):  # noqa: PLR2004
        return None
    if len({tuple(sku.attributes.values()) for sku in skus}) < len(skus):
        return None
    values = [{sku.attributes[name] for sku in skus} for name in names]
    if len(values[1]) <= _MOST_COLUMNS:
        return names[0], names[1]
    return (names[1], names[0]) if len(values[0]) <= _MOST_COLUMNS else None


def _only_attribute(skus: Sequence[Sku]) -> str | None:
    names = {tuple(sku.attributes) for sku in skus}
    (first, *others) = names
    return first[0] if not others and len(first) == 1 else None


def _cell(sku: Sku) -> VariantCell:
    return VariantCell(sku.id, variant_name(sku), sku.price_fen, sku.stock)


@dataclass(frozen=True, slots=True)
class ChosenPieces:
    """What chosen pieces cost before freight, and how many more reach the next lower price."""

    pieces: int
    amount_fen: int | None
    minimum: int
    next_range: PriceRange | None

    @property
    def missing(self) -> int:
        """How many more pieces the minimum order needs."""
        return max(0, self.minimum - self.pieces)

    @property
    def to_next_price(self) -> int:
        return self.next_range.min_quantity - self.pieces if self.next_range else 0


def chosen_pieces(product: Product, quantities: Mapping[str | None, int]) -> ChosenPieces:
    """The total of quantities by variant. Price ranges count the pieces of all variants."""
    pieces = sum(quantities.values())
    prices = {sku_id: unit_price(product, sku_id, pieces) for sku_id in quantities}
    amounts = [
        None if prices[sku_id] is None else quantity * (prices[sku_id] or 0)
        for sku_id, quantity in quantities.items()
    ]
    known = [amount for amount in amounts if amount is not None]
    ranges = sorted(ranges_that_count(product), key=lambda step: step.min_quantity)
    return ChosenPieces(
        pieces=pieces,
        amount_fen=sum(known) if len(known) == len(amounts) else None,
        minimum=product.offer.min_order_quantity or 1,
        next_range=next((step for step in ranges if step.min_quantity > pieces), None)
        if pieces
        else None,
    )


def ranges_that_count(product: Product) -> Sequence[PriceRange]:
    """The price ranges; none for a product whose variants have prices of their own."""
    has_prices = any(sku.price_fen is not None for sku in product.skus)
    return () if has_prices else product.price_ranges


def read_pieces(typed: Mapping[str, str]) -> dict[str | None, int]:
    """The quantities as they were typed, by variant; ValidationFailed names each wrong field."""
    quantities: dict[str | None, int] = {}
    errors = []
    for key, text in typed.items():
        quantity = read_quantity(text)
        if quantity is None:
            message = f"Enter whole numbers from 1 to {LARGEST_QUANTITY:,}."
            errors.append(FieldError(f"/{key}", message))
        elif quantity:
            quantities[None if key == WITHOUT_VARIANT else key] = quantity
    if errors:
        raise ValidationFailed.several(errors)
    return quantities


def read_quantity(text: str) -> int | None:
    """A quantity as it was typed, 0 if the field is empty; None if it cannot be ordered."""
    typed = text.strip()
    if not typed:
        return 0
    is_number = typed.isascii() and typed.isdecimal() and len(typed) <= len(str(LARGEST_QUANTITY))
    quantity = int(typed) if is_number else -1
    return quantity if 0 <= quantity <= LARGEST_QUANTITY else None
