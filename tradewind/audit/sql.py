"""The statements of the audit log."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import msgspec

from tradewind.audit.model import Actor, AuditEntry
from tradewind.storage.pool import Database
from tradewind.storage.transaction import Tx


async def insert_entry(
    tx: Tx,
    entry_id: UUID,
    by: Actor,
    action: str,
    account_id: UUID | None,
    subject: str,
    details: str,
) -> None:
    await tx.execute(
        """
        INSERT INTO audit (id, at, action, actor_id, actor, credential, address, request_id,
                           account_id, subject, details)
        VALUES ($1, tradewind_now(), $2, $3, $4, $5, $6, $7, $8, $9, $10)
        """,
        entry_id,
        action,
        by.account_id,
        by.label,
        by.credential,
        by.address,
        by.request_id,
        account_id,
        subject,
        details,
    )


async def list_entries(
    db: Database,
    *,
    account_id: UUID | None,
    actions: Sequence[str] | None,
    after: datetime | None,
    before: datetime | None,
    below: UUID | None,
    limit: int,
    about: str | None = None,
) -> list[AuditEntry]:
    """Entries, newest first, after the last id of the page before.

    `about` is the id of a subject, of a credential or of a request.
    """
    rows = await db.fetch(
        """
        SELECT id, at, action, actor_id, actor, credential, address, request_id, account_id,
               subject, details
          FROM audit
         WHERE ($1::uuid IS NULL OR account_id = $1)
           AND ($2::text[] IS NULL OR action = ANY($2))
           AND ($3::timestamptz IS NULL OR at >= $3)
           AND ($4::timestamptz IS NULL OR at < $4)
           AND ($5::uuid IS NULL OR id < $5)
           AND ($7::text IS NULL OR $7 IN (subject, credential, request_id))
         ORDER BY id DESC
         LIMIT $6
        """,
        account_id,
        actions,
        after,
        before,
        below,
        limit,
        about,
    )
    return [AuditEntry(**{**row, "details": msgspec.json.decode(row["details"])}) for row in rows]
