"""Accounts that tests insert without the API."""

from uuid import UUID

from tradewind import ids
from tradewind.storage.pool import Database


async def insert_account(
    db: Database, account_id: UUID | None = None, *, email: str | None = None
) -> UUID:
    """A buyer, unless there is an account with this id; its id."""
    account_id = account_id or ids.new()
    await db.execute(
        """
        INSERT INTO account (id, email, roles, plan, created_at, updated_at)
        VALUES ($1, $2, '{buyer}', 'pro', tradewind_now(), tradewind_now())
        ON CONFLICT (id) DO NOTHING
        """,
        account_id,
        email or f"{account_id.hex}@test.example",
    )
    return account_id
