"""The statements about saved addresses."""

from collections.abc import Sequence
from dataclasses import astuple, fields
from uuid import UUID

import asyncpg

from tradewind.addresses.model import SavedAddress
from tradewind.platforms.model import Address
from tradewind.storage.pool import Database
from tradewind.storage.transaction import Tx

_COLUMNS = """
    id, account_id, label, name, phone, province, city, district, detail, postal_code, is_default,
    created_at, updated_at
"""


async def lock_book(tx: Tx, account_id: UUID) -> int:
    """The number of addresses of an account; others who change its address book wait for us.

    The lock is one that lets orders of the account be placed meanwhile.
    """
    await tx.execute("SELECT 1 FROM account WHERE id = $1 FOR NO KEY UPDATE", account_id)
    count: int = await tx.fetchval(
        "SELECT count(*) FROM saved_address WHERE account_id = $1", account_id
    )
    return count


async def insert_address(
    tx: Tx,
    address_id: UUID,
    account_id: UUID,
    label: str,
    address: Address,
    is_default: bool,
) -> SavedAddress | None:
    """Insert an address; None if the id is taken."""
    row = await tx.fetchrow(
        f"""
        INSERT INTO saved_address ({_COLUMNS})
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, tradewind_now(), tradewind_now())
        ON CONFLICT (id) DO NOTHING
        RETURNING {_COLUMNS}
        """,  # noqa: S608 - our own constant
        address_id,
        account_id,
        label,
        *astuple(address),
        is_default,
    )
    return None if row is None else _saved_address(row)


async def find_address(
    db: Database | Tx, account_id: UUID, address_id: UUID
) -> SavedAddress | None:
    row = await db.fetchrow(
        f"SELECT {_COLUMNS} FROM saved_address WHERE account_id = $1 AND id = $2",  # noqa: S608
        account_id,
        address_id,
    )
    return None if row is None else _saved_address(row)


async def find_default(db: Database | Tx, account_id: UUID) -> SavedAddress | None:
    """The default address of the account; None if it has no address."""
    row = await db.fetchrow(
        f"SELECT {_COLUMNS} FROM saved_address WHERE account_id = $1 AND is_default",  # noqa: S608
        account_id,
    )
    return None if row is None else _saved_address(row)


async def list_addresses(
    db: Database, account_id: UUID, *, below: UUID | None, limit: int
) -> Sequence[SavedAddress]:
    """Addresses of the account, newest first."""
    rows = await db.fetch(
        f"""
        SELECT {_COLUMNS}
          FROM saved_address
         WHERE account_id = $1 AND ($2::uuid IS NULL OR id < $2)
         ORDER BY id DESC
         LIMIT $3
        """,  # noqa: S608 - our own constant
        account_id,
        below,
        limit,
    )
    return [_saved_address(row) for row in rows]


async def update_address(
    tx: Tx, account_id: UUID, address_id: UUID, label: str, address: Address, *, is_default: bool
) -> SavedAddress:
    [row] = await tx.fetch(
        f"""
        UPDATE saved_address
           SET label = $3, name = $4, phone = $5, province = $6, city = $7, district = $8,
               detail = $9, postal_code = $10, is_default = $11, updated_at = tradewind_now()
         WHERE account_id = $1 AND id = $2
        RETURNING {_COLUMNS}
        """,  # noqa: S608 - our own constant
        account_id,
        address_id,
        label,
        *astuple(address),
        is_default,
    )
    return _saved_address(row)


async def clear_default(tx: Tx, account_id: UUID) -> None:
    """Let no address be the default, so that another can become it."""
    await tx.execute(
        """
        UPDATE saved_address
           SET is_default = false, updated_at = tradewind_now()
         WHERE account_id = $1 AND is_default
        """,
        account_id,
    )


async def delete_address(tx: Tx, account_id: UUID, address_id: UUID) -> bool:
    """Delete an address; if it was the default, the newest of the others becomes the default."""
    was_default: bool | None = await tx.fetchval(
        "DELETE FROM saved_address WHERE account_id = $1 AND id = $2 RETURNING is_default",
        account_id,
        address_id,
    )
    if was_default:
        await tx.execute(
            """
            UPDATE saved_address
               SET is_default = true, updated_at = tradewind_now()
             WHERE id = (SELECT id FROM saved_address
                          WHERE account_id = $1 ORDER BY id DESC LIMIT 1)
            """,
            account_id,
        )
    return was_default is not None


def _saved_address(row: asyncpg.Record) -> SavedAddress:
    columns = dict(row)
    address = Address(**{field.name: columns.pop(field.name) for field in fields(Address)})
    return SavedAddress(**columns, address=address)
