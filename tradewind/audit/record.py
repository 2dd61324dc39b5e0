"""Records an act in the audit log, in the transaction of the act itself."""

from typing import Any
from uuid import UUID

from tradewind import ids
from tradewind.audit import sql
from tradewind.audit.model import Actor
from tradewind.storage.transaction import Tx
from tradewind.web.answer import encode


async def record(
    tx: Tx, by: Actor, action: str, *, account_id: UUID | None, subject: str, **details: Any
) -> None:
    """Write down that `by` did `action` to `subject`; `account_id` is whom it concerns."""
    await sql.insert_entry(tx, ids.new(), by, action, account_id, subject, encode(details).decode())
