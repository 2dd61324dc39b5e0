"""Chooses lines of a cart by their ids, and groups them as they can be ordered."""

from collections.abc import Sequence
from uuid import UUID

from tradewind.cart import sql
from tradewind.cart.errors import CartEmpty
from tradewind.cart.groups import group_lines
from tradewind.cart.model import CartGroup, CartLine
from tradewind.errors import FieldError, ValidationFailed
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
