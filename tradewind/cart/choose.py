"""Chooses lines of a cart and an address by their ids, and groups lines as they can be ordered."""

from collections.abc import Sequence
from uuid import UUID

from tradewind.addresses.get_address import get_address
from tradewind.cart import sql
from tradewind.cart.errors import CartEmpty
from tradewind.cart.groups import group_lines
from tradewind.cart.model import CartGroup, CartLine
from tradewind.errors import FieldError, ResourceNotFound, ValidationFailed
from tradewind.platforms.model import Address
from tradewind.platforms.registry import Platforms
from tradewind.storage.pool import Database
from tradewind.storage.transaction import Tx


async def choose_groups(
    db: Database | Tx,
    platforms: Platforms,
    account_id: UUID,
    line_ids: Sequence[UUID | None] | None,
) -> Sequence[CartGroup]:
    """The groups of these lines, or of all lines if none are named. An id of None is no id."""
    lines = await sql.list_lines(db, account_id)
    if line_ids is not None:
        lines = _chosen(lines, line_ids)
    elif not lines:
        raise CartEmpty
    return group_lines(lines, lambda platform: platforms.marketplace(platform).traits)


async def choose_address(db: Database | Tx, account_id: UUID, address: Address | UUID) -> Address:
    """The address itself, or the one of the address book that has this id."""
    if isinstance(address, Address):
        return address
    try:
        return (await get_address(db, account_id, address)).address
    except ResourceNotFound:
        message = "Your address book has no address with this id."
        raise ValidationFailed("/address_id", message, "not_found") from None


def _chosen(lines: Sequence[CartLine], line_ids: Sequence[UUID | None]) -> Sequence[CartLine]:
    known = {line.id for line in lines}
    missing = [
        FieldError(f"/lines/{index}", "Your cart has no line with this id.", "not_found")
        for index, line_id in enumerate(line_ids)
        if line_id not in known
    ]
    if missing:
        raise ValidationFailed.several(missing)
    return [line for line in lines if line.id in line_ids]
