"""The statements about carts and checkouts."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from uuid import UUID

import asyncpg
import msgspec

from tradewind.cart.model import (
    CartGroup,
    CartLine,
    Checkout,
    CheckoutGroup,
    GroupError,
)
from tradewind.platforms.model import Address, Goods, Line
from tradewind.storage.pool import Database
from tradewind.storage.transaction import Tx

_COLUMNS = "id, platform, product_id, sku_id, quantity, goods, created_at, updated_at"
_GOODS = msgspec.json.Decoder(Goods)
_LINES = msgspec.json.Decoder(list[CartLine])
_ADDRESS = msgspec.json.Decoder(Address)
_ERROR = msgspec.json.Decoder(GroupError)
_CHECKOUT = """
    SELECT id, account_id, fingerprint, address, created_at,
           lease_until > tradewind_now() AS in_progress
      FROM cart_checkout
"""


async def lock_cart(tx: Tx, account_id: UUID) -> None:
    """Let others who change this cart wait until the transaction ends. Orders do not wait."""
    await tx.execute("SELECT 1 FROM account WHERE id = $1 FOR NO KEY UPDATE", account_id)


async def list_lines(db: Database | Tx, account_id: UUID) -> Sequence[CartLine]:
    """Every line of the cart, in the order in which they were added."""
    rows = await db.fetch(
        f"SELECT {_COLUMNS} FROM cart_line WHERE account_id = $1 ORDER BY id",  # noqa: S608
        account_id,
    )
    return [_line(row) for row in rows]


async def count_lines(db: Database, account_id: UUID) -> int:
    count: int = await db.fetchval(
        "SELECT count(*) FROM cart_line WHERE account_id = $1", account_id
    )
    return count


async def save_line(
    tx: Tx,
    account_id: UUID,
    line_id: UUID,
    platform: str,
    line: Line,
) -> CartLine:
    """Add a line, or set the quantity and the goods of the line with its product and SKU."""
    [row] = await tx.fetch(
        f"""
        INSERT INTO cart_line (account_id, {_COLUMNS})
        VALUES ($1, $2, $3, $4, $5, $6, $7, tradewind_now(), tradewind_now())
        ON CONFLICT ON CONSTRAINT cart_line_product DO UPDATE
           SET quantity = excluded.quantity, goods = excluded.goods,
               updated_at = excluded.updated_at
        RETURNING {_COLUMNS}
        """,  # noqa: S608 - our own constant
        account_id,
        line_id,
        platform,
        line.product_id,
        line.sku_id,
        line.quantity,
        _to_json(line.goods),
    )
    return _line(row)


async def set_quantity(
    db: Database, account_id: UUID, line_id: UUID, quantity: int
) -> CartLine | None:
    """Change the quantity of a line; None: the account has no such line."""
    row = await db.fetchrow(
        f"""
        UPDATE cart_line
           SET quantity = $3, updated_at = tradewind_now()
         WHERE account_id = $1 AND id = $2
        RETURNING {_COLUMNS}
        """,  # noqa: S608 - our own constant
        account_id,
        line_id,
        quantity,
    )
    return None if row is None else _line(row)


async def delete_line(db: Database, account_id: UUID, line_id: UUID) -> bool:
    exists = await db.fetchval(
        "DELETE FROM cart_line WHERE account_id = $1 AND id = $2 RETURNING true",
        account_id,
        line_id,
    )
    return exists is not None


async def take_lines(tx: Tx, account_id: UUID, lines: Sequence[CartLine]) -> int:
    """Take lines out of the cart if they have the same quantity as here; return how many had."""
    taken: int = await tx.fetchval(
        """
        WITH taken AS (
            DELETE FROM cart_line AS line
             USING unnest($2::uuid[], $3::integer[]) AS wanted (id, quantity)
             WHERE line.account_id = $1
               AND line.id = wanted.id
               AND line.quantity = wanted.quantity
            RETURNING line.id
        )
        SELECT count(*) FROM taken
        """,
        account_id,
        [line.id for line in lines],
        [line.quantity for line in lines],
    )
    return taken


async def insert_checkout(
    tx: Tx, checkout: Checkout, route: str, key: str, *, lease: timedelta
) -> bool:
    """Store a new checkout with its groups; False: there is one with this key."""
    inserted = await tx.fetchval(
        """
        INSERT INTO cart_checkout (id, account_id, route, key, fingerprint, address, created_at,
                                   lease_until)
        VALUES ($1, $2, $3, $4, $5, $6, tradewind_now(), tradewind_now() + $7::interval)
        ON CONFLICT ON CONSTRAINT cart_checkout_key DO NOTHING
        RETURNING true
        """,
        checkout.id,
        checkout.account_id,
        route,
        key,
        checkout.fingerprint,
        _to_json(checkout.address),
        lease,
    )
    if inserted is None:
        return False
    await tx.execute(
        """
        INSERT INTO cart_checkout_group (checkout_id, account_id, number, lines, expected_fen)
        SELECT $1, $2, number, lines, expected_fen
          FROM unnest($3::integer[], $4::json[], $5::bigint[]) AS part (number, lines, expected_fen)
        """,
        checkout.id,
        checkout.account_id,
        [group.number for group in checkout.groups],
        [_to_json(group.group.lines) for group in checkout.groups],
        [group.expected_fen for group in checkout.groups],
    )
    return True


async def lock_checkout(tx: Tx, account_id: UUID, route: str, key: str) -> Checkout | None:
    """Lock the checkout of a key until the transaction ends."""
    row = await tx.fetchrow(
        f"{_CHECKOUT} WHERE account_id = $1 AND route = $2 AND key = $3 FOR UPDATE",
        account_id,
        route,
        key,
    )
    return None if row is None else await _checkout(tx, row)


async def find_checkout(db: Database | Tx, account_id: UUID, checkout_id: UUID) -> Checkout | None:
    row = await db.fetchrow(
        f"{_CHECKOUT} WHERE account_id = $1 AND id = $2", account_id, checkout_id
    )
    return None if row is None else await _checkout(db, row)


async def find_checkout_id(db: Database, account_id: UUID, route: str, key: str) -> UUID | None:
    checkout_id: UUID | None = await db.fetchval(
        "SELECT id FROM cart_checkout WHERE account_id = $1 AND route = $2 AND key = $3",
        account_id,
        route,
        key,
    )
    return checkout_id


async def lease_checkout(tx: Tx, checkout_id: UUID, *, lease: timedelta) -> None:
    await tx.execute(
        "UPDATE cart_checkout SET lease_until = tradewind_now() + $2::interval WHERE id = $1",
        checkout_id,
        lease,
    )


async def set_order(tx: Tx, checkout_id: UUID, number: int, order_id: UUID) -> None:
    """Record the order that a group became."""
    await tx.execute(
        """
        UPDATE cart_checkout_group
           SET purchase_order_id = $3, error = NULL
         WHERE checkout_id = $1 AND number = $2
        """,
        checkout_id,
        number,
        order_id,
    )


async def end_checkout(db: Database, checkout_id: UUID, errors: Mapping[int, GroupError]) -> None:
    """Give the checkout back, and record why groups were not ordered, by their numbers."""
    await db.execute(
        """
        WITH failed AS (
            UPDATE cart_checkout_group AS part
               SET error = failure.error
              FROM unnest($2::integer[], $3::json[]) AS failure (number, error)
             WHERE part.checkout_id = $1
               AND part.number = failure.number
               AND part.purchase_order_id IS NULL
        )
        UPDATE cart_checkout SET lease_until = tradewind_now() WHERE id = $1
        """,
        checkout_id,
        list(errors),
        [_to_json(error) for error in errors.values()],
    )


async def delete_old_checkouts(db: Database, *, days: int) -> None:
    await db.execute(
        "DELETE FROM cart_checkout WHERE created_at < tradewind_now() - make_interval(days => $1)",
        days,
    )


async def _checkout(db: Database | Tx, row: asyncpg.Record) -> Checkout:
    groups = await db.fetch(
        """
        SELECT number, lines, expected_fen, purchase_order_id, error
          FROM cart_checkout_group
         WHERE checkout_id = $1
         ORDER BY number
        """,
        row["id"],
    )
    return Checkout(
        id=row["id"],
        account_id=row["account_id"],
        fingerprint=row["fingerprint"],
        address=_ADDRESS.decode(row["address"]),
        created_at=row["created_at"],
        in_progress=row["in_progress"],
        groups=[
            CheckoutGroup(
                number=group["number"],
                group=CartGroup(_LINES.decode(group["lines"])),
                expected_fen=group["expected_fen"],
                order_id=group["purchase_order_id"],
                error=None if group["error"] is None else _ERROR.decode(group["error"]),
            )
            for group in groups
        ],
    )


def _line(row: asyncpg.Record) -> CartLine:
    return CartLine(**{**row, "goods": _GOODS.decode(row["goods"])})


def _to_json(value: object) -> str:
    return msgspec.json.encode(value).decode()
