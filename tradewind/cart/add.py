"""Adds a product to the cart, with its goods as the marketplace shows them now."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from tradewind import ids
from tradewind.cart import sql
from tradewind.cart.errors import CartFull
from tradewind.cart.model import LARGEST_QUANTITY, MOST_LINES, CartLine
from tradewind.errors import FieldError, ResourceNotFound, ValidationFailed
from tradewind.orders.idempotency import Idempotency
from tradewind.platforms.goods import goods_of
from tradewind.platforms.model import Line, Product
from tradewind.platforms.registry import Platforms
from tradewind.products.detail import read_product
from tradewind.storage.pool import Database
from tradewind.storage.transaction import Tx, transaction

_LANG = "en"


@dataclass(frozen=True, slots=True)
class AddedLine:
    """A line that something was added to; a new one was not in the cart before."""

    line: CartLine
    is_new: bool


async def add_to_cart(
    db: Database,
    platforms: Platforms,
    account_id: UUID,
    platform: str,
    product_id: str,
    quantities: Mapping[str | None, int],
    idempotency: Idempotency[Sequence[AddedLine]],
) -> Sequence[AddedLine]:
    """Add pieces of a product, by the ids of its variants; None: the product has no variants.

    A product and variant that is in the cart already gets more pieces, and the goods of now.
    """
    await idempotency.check(db)
    try:
        detail = await read_product(platforms, platform, product_id, _LANG)
    except ResourceNotFound:
        message = "The marketplace has no product with this id."
        raise ValidationFailed("/product_id", message, "not_found") from None
    wrong = list(_wrong_variants(detail.product, quantities))
    if wrong:
        raise ValidationFailed.several(wrong)
    quantities = _by_variant(detail.product, quantities)
    async with transaction(db) as tx:
        await idempotency.claim(tx)
        await sql.lock_cart(tx, account_id)
        lines = await sql.list_lines(tx, account_id)
        added = await _add(tx, account_id, lines, detail.platform, detail.product, quantities)
        idempotency.store(tx, added)
    return added


async def _add(
    tx: Tx,
    account_id: UUID,
    lines: Sequence[CartLine],
    platform: str,
    product: Product,
    quantities: Mapping[str | None, int],
) -> Sequence[AddedLine]:
    product_id = product.offer.id
    existing = {
        line.sku_id: line
        for line in lines
        if (line.platform, line.product_id) == (platform, product_id)
    }
    totals = {
        sku_id: quantity + (existing[sku_id].quantity if sku_id in existing else 0)
        for sku_id, quantity in quantities.items()
    }
    if any(total > LARGEST_QUANTITY for total in totals.values()):
        message = f"With what is in the cart, must be at most {LARGEST_QUANTITY:,}."
        raise ValidationFailed("/quantity", message)
    if len(lines) + len(totals.keys() - existing.keys()) > MOST_LINES:
        raise CartFull(MOST_LINES)
    pieces = sum({**{sku: line.quantity for sku, line in existing.items()}, **totals}.values())
    added = []
    for sku_id, total in totals.items():
        line = Line(product_id, sku_id, total, goods_of(product, sku_id, pieces))
        line_id = existing[sku_id].id if sku_id in existing else ids.new()
        saved = await sql.save_line(tx, account_id, line_id, platform, line)
        added.append(AddedLine(saved, sku_id not in existing))
    return added


def _by_variant(product: Product, quantities: Mapping[str | None, int]) -> Mapping[str | None, int]:
    """The quantities by variant: without a variant's id, the only variant of the product is meant.

    So a product and variant has one line, whether the variant is named or not.
    """
    only = product.skus[0].id if len(product.skus) == 1 else None
    totals: dict[str | None, int] = {}
    for sku_id, quantity in quantities.items():
        totals[sku_id or only] = totals.get(sku_id or only, 0) + quantity
    return totals


def _wrong_variants(product: Product, quantities: Mapping[str | None, int]) -> Iterator[FieldError]:
    """The variants that this product does not have."""
    sku_ids = {sku.id for sku in product.skus}
    for sku_id in quantities:
        if sku_id is None and len(sku_ids) > 1:
            message = "Is required: the product has variants. Its `skus` list them."
            yield FieldError("/sku_id", message, "missing")
        elif sku_id is not None and sku_id not in sku_ids:
            yield FieldError("/sku_id", "The product has no variant with this id.", "not_found")
