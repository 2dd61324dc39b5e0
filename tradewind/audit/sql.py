"""The statements of the audit log."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import msgspec

from tradewind.audit.model import Actor, AuditEntry
from tradewind.storage.pool import Database


def insert_entry(
    entry_id: UUID,
    by: Actor,
    action: str,
    account_id: UUID | None,
    subject: str,
    details: str,
    *,
    after: int,
    only_if: str,
) -> tuple[str, list[object]]:
    """The statement that inserts an entry if a condition in SQL is true, and its arguments.

    The arguments come `after` so many others.
    """
    args: list[object] = [
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
        by.agent,
    ]
    kinds = ["uuid", "text", "uuid", *["text"] * 4, "uuid", "text", "jsonb", "text"]
    numbered = ", ".join(f"${number}::{kind}" for number, kind in enumerate(kinds, after + 1))
    return (
        f"""
        INSERT INTO audit (at, id, action, actor_id, actor, credential, address, request_id,
                           account_id, subject, details, agent)
        SELECT tradewind_now(), {numbered}
         WHERE {only_if}
        """,
        args,
    )


async def list_entries(
    db: Database,
    *,
    account_id: UUID | None = None,
    actions: Sequence[str] | None = None,
    after: datetime | None = None,
    before: datetime | None = None,
    about: str | None = None,
    below: UUID | None = None,
    limit: int,
) -> list[AuditEntry]:
    """Entries, newest first, after the last id of the page before.

    `about` is the id of a subject, of a credential or of a request.
    """
    rows = await db.fetch(
        """
        SELECT id, at, action, actor_id, actor, credential, address, request_id, account_id,
               subject, details, agent
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
